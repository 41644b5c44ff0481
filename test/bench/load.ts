import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

/** An answer to a JSON-RPC call, as far as benchmarks look at it. */
export interface BenchAnswer {
  readonly result?: {
    readonly task?: {
      readonly status: { readonly state: string };
      readonly artifacts?: readonly { readonly parts: readonly { readonly data?: unknown }[] }[];
    };
  };
  readonly error?: { readonly message: string };
}

/** Sends messages over a bounded number of connections that are kept open. */
export class Load {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    connections: number,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  close(): void {
    this.agent.destroy();
  }

  /** Sends one message to a skill and waits for its task. */
  async send(skill: string, part: object, configuration?: object): Promise<BenchAnswer> {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [part], metadata: { skill } };
    const params = { message, configuration };
    const answer = await this.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }));
    if (answer.result?.task?.status.state !== 'TASK_STATE_COMPLETED') {
      throw new Error(`Not completed: ${JSON.stringify(answer).slice(0, 300)}`);
    }
    return answer;
  }

  private post(body: string): Promise<BenchAnswer> {
    return new Promise((resolve, reject) => {
      const call = request(
        this.url,
        {
          method: 'POST',
          agent: this.agent,
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'a2a-version': '1.0',
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as BenchAnswer);
          });
          response.on('error', reject);
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  }
}

/** The median of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** Prints a line of a report. */
export function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
