import { randomUUID } from 'node:crypto';
import { PROTOCOL_VERSION, type Message, type SendMessageConfiguration, type Task } from 'nestjs-a2a';
import type { StreamResponse } from 'nestjs-a2a/protocol';

/** Told one line. */
export type Print = (line: string) => void;

/** What a message of the demonstration says beside what every message does. */
export type MessageContent = Pick<Message, 'parts'> & Partial<Message>;

/** A JSON-RPC answer, and the HTTP status it came with. */
interface Answer {
  readonly status: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** As much of a question or an answer as is worth reading. */
const MAX_LENGTH = 600;

/** Ids are told apart by their beginning. */
const UUID = /([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu;

/** The little that talking with an agent takes: JSON, over HTTP. Prints what it sends and what it gets. */
export class DemoClient {
  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly print: Print,
  ) {}

  /** Reads a document that is open to all. */
  async get<T>(path: string): Promise<T> {
    this.print(`   → GET ${path}`);
    const response = await fetch(this.url + path);
    return this.printed(response.status, JSON.parse(await response.text())) as T;
  }

  /**
   * Sends a message of the user.
   *
   * @param configuration such as whether to go on before the task has settled, or where to be notified
   */
  async send(content: MessageContent, configuration: SendMessageConfiguration = {}): Promise<Task> {
    const params = { message: userMessage(content), configuration: { historyLength: 0, ...configuration } };
    return (await this.call<{ task: Task }>('SendMessage', params)).task;
  }

  /** @throws {Error} when the agent refuses the call */
  async call<T>(method: string, params: object): Promise<T> {
    const { result, error } = await this.rpc(method, params);
    if (error) throw new Error(`${method} was refused: ${error.message}`);
    return result as T;
  }

  /** Makes a call that the agent is to refuse. */
  async refused(method: string, params: object): Promise<{ readonly status: number; readonly code: number }> {
    const { status, error } = await this.rpc(method, params);
    if (!error) throw new Error(`${method} was not refused.`);
    return { status, code: error.code };
  }

  /** Sends a message of the user and gives what becomes of it, event by event. */
  async *stream(content: MessageContent): AsyncGenerator<StreamResponse> {
    const response = await this.post('SendStreamingMessage', { message: userMessage(content) });
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString('utf8');
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = event.split('\n').find((line) => line.startsWith('data: '));
        if (data === undefined) continue;
        const { result } = JSON.parse(data.slice('data: '.length)) as { result: StreamResponse };
        this.print(`   ← ${trimmed(result)}`);
        yield result;
      }
    }
  }

  private async rpc(method: string, params: object): Promise<Answer> {
    const response = await this.post(method, params);
    const { result, error } = JSON.parse(await response.text()) as Omit<Answer, 'status'>;
    this.printed(response.status, error ?? result);
    return { status: response.status, result, ...(error && { error }) };
  }

  private post(method: string, params: object): Promise<Response> {
    this.print(`   → ${method} ${trimmed(params)}`);
    return fetch(`${this.url}/a2a`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.token}`,
        'Content-Type': 'application/json',
        'A2A-Version': PROTOCOL_VERSION,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params }),
    });
  }

  private printed(status: number, body: unknown): unknown {
    this.print(`   ← ${status} ${trimmed(body)}`);
    return body;
  }
}

export function userMessage(content: MessageContent): Message {
  return { messageId: randomUUID(), role: 'ROLE_USER', ...content };
}

/** Writes a value as far as it is worth reading. */
export function trimmed(value: unknown): string {
  const json = JSON.stringify(value).replace(UUID, '$1…');
  return json.length > MAX_LENGTH ? `${json.slice(0, MAX_LENGTH)} … (${json.length} characters)` : json;
}
