import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NotificationVerifier, type JwkSet, type VerifiedNotification } from 'nestjs-a2a/client';
import { trimmed, type Print } from './demo.client.js';

/** The webhook of a client that believes signed notifications alone. */
export class Webhook {
  private readonly arrived: VerifiedNotification[] = [];
  private notify: () => void = () => undefined;

  private constructor(
    private readonly server: Server,
    /** Where the agent is to send notifications. */
    readonly url: string,
  ) {}

  /**
   * @param keys those of the agent
   * @param token what the agent was given to show
   */
  static async open(keys: JwkSet, token: string, print: Print): Promise<Webhook> {
    const verifier = new NotificationVerifier({ keys, token, isExpected: () => true });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const webhook = new Webhook(server, `http://127.0.0.1:${port}/notifications`);
    server.on('request', (request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        try {
          const notification = await verifier.verify({ headers: request.headers, body: Buffer.concat(chunks) });
          print(`   ⇠ ${trimmed(notification.event)}`);
          webhook.arrived.push(notification);
          response.writeHead(204).end();
        } catch (error) {
          print(`   ⇠ refused: ${String(error)}`);
          response.writeHead(401).end();
        }
        webhook.notify();
      })();
    });
    return webhook;
  }

  /** Waits until a task has ended, and gives what was told of it. */
  async untilEnd(taskId: string): Promise<readonly VerifiedNotification['event'][]> {
    for (;;) {
      const events = this.arrived.filter((each) => each.taskId === taskId).map(({ event }) => event);
      const last = events.at(-1);
      if (last && 'statusUpdate' in last && last.statusUpdate.status.state === 'TASK_STATE_COMPLETED') return events;
      await new Promise<void>((resolve) => (this.notify = resolve));
    }
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
