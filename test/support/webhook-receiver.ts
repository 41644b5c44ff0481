import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { until } from './until.js';

/** A notification as it arrived. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- notifications are looked into freely
  readonly body: any;
}

/** Answers a notification. @default 200 */
export type Answering = (received: Received, response: ServerResponse, index: number) => void | Promise<void>;

/** A webhook on a free port of the loopback address. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** How many connections were made. */
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** `http://127.0.0.1:PORT/hook` */
    readonly url: string,
  ) {}

  static async start(answering?: Answering): Promise<WebhookReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const receiver = new WebhookReceiver(server, `http://127.0.0.1:${port}/hook`);
    server.on('connection', (socket) => {
      receiver.connections++;
      receiver.sockets.add(socket);
      socket.on('close', () => receiver.sockets.delete(socket));
    });
    server.on('request', (request, response) => void receiver.take(request, response, answering));
    return receiver;
  }

  /** How many connections are open. */
  get open(): number {
    return this.sockets.size;
  }

  /** The states that arrived, in order; `artifact` for an artifact, `task:STATE` for a whole task. */
  get story(): string[] {
    return this.received.map(({ body }) => {
      if (body.statusUpdate) return String(body.statusUpdate.status.state).replace('TASK_STATE_', '');
      if (body.artifactUpdate) return 'artifact';
      return `task:${String(body.task?.status.state).replace('TASK_STATE_', '')}`;
    });
  }

  /** Waits until so many notifications have arrived. */
  async count(atLeast: number): Promise<readonly Received[]> {
    await until(() => this.received.length >= atLeast, `${atLeast} notifications`);
    return this.received;
  }

  /** Waits until a task has arrived in a state. */
  async state(state: string): Promise<void> {
    await until(
      () => this.story.some((step) => step === state || step === `task:${state}`),
      `A notification of ${state}`,
    );
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: IncomingMessage, response: ServerResponse, answering?: Answering): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const { method = '', url = '', headers } = request;
    const received: Received = { method, url, headers, text, body: text === '' ? undefined : JSON.parse(text) };
    const index = this.received.push(received) - 1;
    if (answering) await answering(received, response, index);
    else response.end();
  }
}
