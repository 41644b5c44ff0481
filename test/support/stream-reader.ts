import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { applyUpdate, type Task } from 'nestjs-a2a';
import type { WireError, WireResult, WireTask } from './caller.js';
import { userMessage } from './rpc.js';

/** A chunk of a stream that appends to, or replaces, an artifact. */
interface WireArtifactUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: WireResult['artifacts'][number];
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/** The results of a stream in one: a test knows which it waits for. */
export interface WireStreamResult extends Pick<WireResult, 'task' | 'message'> {
  readonly statusUpdate: Pick<WireResult, 'contextId' | 'status'> & { readonly taskId: string };
  readonly artifactUpdate: WireArtifactUpdate;
}

/** One event of a stream. */
export interface Frame {
  /** The `id:` field; `undefined` when there is none. */
  readonly id: string | undefined;
  /** The `data:` field as it came. */
  readonly data: string;
  /** The id of the JSON-RPC response, and what it holds. */
  readonly body: { readonly jsonrpc: string; readonly id: unknown };
  /** Absent when there is an error. A test says which it expects. */
  readonly result: WireStreamResult;
  readonly error: WireError;
}

/** Who opens a stream, and how. */
export interface StreamCall {
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON text of the request's id. @default 1 */
  readonly id?: string;
}

/**
 * An open stream, read as it comes.
 *
 * Nothing is taken from the socket while {@link pause}d, so that the server meets its backpressure.
 */
export class StreamReader {
  readonly frames: Frame[] = [];
  /** How many comments have come. */
  comments = 0;
  /** How the stream ended: as the server meant it, cut off, or not yet. */
  end: 'clean' | 'cut' | undefined;
  /** All that has come, as text. */
  text = '';
  private pending = '';
  private readonly watchers = new Set<() => void>();

  constructor(
    private readonly request: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    response.setEncoding('utf8');
    response
      .on('data', (text: string) => {
        this.take(text);
      })
      .on('end', () => {
        this.close('clean');
      })
      .on('close', () => {
        this.close('cut');
      })
      // Told by the close that follows.
      .on('error', () => undefined);
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  header(name: string): string | undefined {
    const value = this.response.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** The body of an answer that is no stream. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  get body(): any {
    return JSON.parse(this.text);
  }

  /** The states that were shown, in order. */
  get states(): string[] {
    return this.frames.flatMap(({ result }) => {
      const { task, statusUpdate } = (result as Partial<WireStreamResult> | undefined) ?? {};
      const status = task?.status ?? statusUpdate?.status;
      return status ? [status.state.replace('TASK_STATE_', '')] : [];
    });
  }

  /** The versions that were shown, in order. */
  get ids(): number[] {
    return this.frames.map(({ id }) => Number(id));
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  /** Leaves without a word. */
  destroy(): void {
    this.request.destroy();
  }

  /** Waits until so many frames have come. */
  async whenFrames(count: number): Promise<readonly Frame[]> {
    await this.when(() => this.frames.length >= count, `${count} frames`);
    return this.frames;
  }

  /** Waits until the server has ended the stream, and gives how. */
  async whenEnded(): Promise<'clean' | 'cut'> {
    await this.when(() => this.end !== undefined, 'the end');
    return this.end!;
  }

  /** Waits for something that only changes when more of the stream comes. */
  async when(condition: () => boolean, what = 'the condition'): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.watchers.delete(look);
        reject(
          new Error(
            `A stream was waited on for ${what}. It has ${this.end ?? 'no'} end and said: ${this.text.slice(-2_000)}`,
          ),
        );
      }, 10_000);
      const look = (): void => {
        const isMet = condition();
        if (!isMet && this.end === undefined) return;
        clearTimeout(timer);
        this.watchers.delete(look);
        if (isMet) resolve();
        else reject(new Error(`A stream ended (${this.end}) before ${what}, and said: ${this.text.slice(-2_000)}`));
      };
      this.watchers.add(look);
    });
  }

  private take(text: string): void {
    if (this.text.length < 1_000_000) this.text += text;
    this.pending += text;
    if (this.header('content-type') === 'text/event-stream') this.parse();
    this.notify();
  }

  private parse(): void {
    const blocks = this.pending.split('\n\n');
    this.pending = blocks.pop()!;
    for (const block of blocks) {
      const lines = block.split('\n');
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
      const id = lines.find((line) => line.startsWith('id: '))?.slice(4);
      this.comments += lines.filter((line) => line.startsWith(':')).length;
      if (data.length === 0) continue;
      // One event is one line of data (STRM-02a).
      if (data.length > 1) throw new Error(`An event of ${data.length} lines: ${block}`);
      const body = JSON.parse(data[0]!) as Frame['body'] & Pick<Frame, 'result' | 'error'>;
      this.frames.push({ id, data: data[0]!, body, result: body.result, error: body.error });
    }
  }

  private close(how: 'clean' | 'cut'): void {
    this.end ??= how;
    this.notify();
  }

  private notify(): void {
    for (const look of [...this.watchers]) look();
  }
}

/** Calls a method, and gives its answer as soon as the head of it has come. */
export function openStream(url: string, method: string, params: unknown, call: StreamCall = {}): Promise<StreamReader> {
  const { user = 'alice', headers = {}, id = '1' } = call;
  const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
  const all = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-user': user, ...headers };
  return new Promise((resolve, reject) => {
    const call = request(`${url}/a2a`, { method: 'POST', agent: false, headers: all });
    call.on('error', reject).on('response', (response) => {
      resolve(new StreamReader(call, response));
    });
    call.end(body);
  });
}

/** A user of an agent who streams. */
export class Streamer {
  constructor(
    private readonly url: string,
    private readonly call: StreamCall,
  ) {}

  /** Sends a message and streams what becomes of it. */
  send(
    text: string,
    message: Parameters<typeof userMessage>[1] = {},
    options: StreamCall & { readonly configuration?: object } = {},
  ): Promise<StreamReader> {
    const { configuration, ...call } = options;
    const params = { message: userMessage(text, message), ...(configuration && { configuration }) };
    return openStream(this.url, 'SendStreamingMessage', params, { ...this.call, ...call });
  }

  subscribe(id: string, call: StreamCall = {}): Promise<StreamReader> {
    return openStream(this.url, 'SubscribeToTask', { id }, { ...this.call, ...call });
  }
}

/** What a client has that applies the events of a stream, in order, to the task that it began with. */
export function fold(frames: readonly Frame[]): WireTask {
  let task: Task | undefined;
  for (const { result } of structuredClone(frames)) {
    const { artifactUpdate, statusUpdate } = result as Partial<WireStreamResult>;
    if (artifactUpdate)
      applyUpdate(task!, { kind: 'artifact', append: false, lastChunk: false, ...artifactUpdate } as never, 200);
    else if (statusUpdate) applyUpdate(task!, { kind: 'status', ...statusUpdate } as never, 200);
    else task = result.task as unknown as Task;
  }
  return task as unknown as WireTask;
}
