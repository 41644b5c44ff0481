import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue, Part } from 'nestjs-a2a';
import { rpc, userMessage, type RpcCall } from './rpc.js';
import { until } from './until.js';

/** A Message as it came over the wire. What may be absent is not marked: a test says what it expects. */
export interface WireMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: string;
  readonly parts: readonly JsonObject[];
  readonly metadata: JsonObject;
}

/** A Task as it came over the wire. What may be absent is not marked: a test says what it expects. */
export interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly timestamp: string; readonly message: WireMessage };
  readonly history: readonly WireMessage[];
  readonly artifacts: readonly { readonly artifactId: string; readonly parts: readonly JsonObject[] }[];
  readonly metadata: JsonObject;
}

/** The results of all operations in one: a test knows which it asked for. */
export interface WireResult extends WireTask {
  readonly task: WireTask;
  readonly message: WireMessage;
  readonly tasks: readonly WireTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** A JSON-RPC error as it came over the wire. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly JsonObject[];
}

/** An answer to a call. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The whole body. */
  readonly text: string;
  readonly id: unknown;
  readonly result: WireResult;
  readonly error: WireError;
}

/** What a message may differ in. */
export interface SendOptions {
  readonly message?: JsonObject;
  readonly configuration?: JsonObject;
  readonly metadata?: JsonObject;
}

/** Who calls, beside the user. */
export interface Identity {
  readonly tenant?: string;
  /** Separated by spaces. */
  readonly scopes?: string;
}

/** A user of an agent. */
export class Caller {
  constructor(
    private readonly url: string,
    private readonly call: RpcCall = {},
  ) {}

  get user(): string {
    return this.call.user ?? 'alice';
  }

  /** The same user with another credential. */
  with({ tenant, scopes }: Identity): Caller {
    const headers = {
      ...(tenant !== undefined && { 'x-tenant': tenant }),
      ...(scopes !== undefined && { 'x-scopes': scopes }),
    };
    return new Caller(this.url, { user: this.user, headers });
  }

  /** The same user at another address. */
  at(url: string): Caller {
    return new Caller(url, this.call);
  }

  async invoke(method: string, params?: unknown): Promise<Answer> {
    const answer = await rpc(this.url, method, params, this.call);
    const { id, result, error } = answer.body as Pick<Answer, 'id' | 'result' | 'error'>;
    return { status: answer.status, headers: answer.headers, text: answer.text, id, result, error };
  }

  send(content: string | readonly Part[], options: SendOptions = {}): Promise<Answer> {
    const { message = {}, ...rest } = options;
    return this.invoke('SendMessage', { message: userMessage(content, message), ...rest });
  }

  /** Sends a message and gives the task that came of it. */
  async task(content: string | readonly Part[], options: SendOptions = {}): Promise<WireTask> {
    const { result, text } = await this.send(content, options);
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- an error has no result
    if (!result?.task) throw new Error(`No task came of it: ${text}`);
    return result.task;
  }

  /** Starts a task and does not wait for its end. */
  start(content: string, options: SendOptions = {}): Promise<WireTask> {
    const configuration = { ...options.configuration, returnImmediately: true };
    return this.task(content, { ...options, configuration });
  }

  /** Sends a message to a task. */
  follow(taskId: string, content: string | readonly Part[], options: SendOptions = {}): Promise<Answer> {
    return this.send(content, { ...options, message: { ...options.message, taskId } });
  }

  async get(id: string, params: JsonObject = {}): Promise<WireTask> {
    return (await this.invoke('GetTask', { id, ...params })).result;
  }

  async list(params: { readonly [key: string]: JsonValue } = {}): Promise<WireResult> {
    return (await this.invoke('ListTasks', params)).result;
  }

  cancel(id: string): Promise<Answer> {
    return this.invoke('CancelTask', { id });
  }

  /** Asks for a task until it is as wanted. */
  async taskWhen(id: string, isDone: (task: WireTask) => boolean): Promise<WireTask> {
    let task = await this.get(id);
    await until(async () => isDone((task = await this.get(id))), `The task ${id}`);
    return task;
  }
}

/** A user that no other test has heard of. */
export function newcomer(url: string, identity: Identity = {}): Caller {
  return new Caller(url, { user: `user-${randomUUID()}` }).with(identity);
}

/** The text of the parts of a message or an artifact. */
export function textOf({ parts }: { readonly parts: readonly JsonObject[] }): string {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('');
}

/** The names of the fields that an error finds wrong. */
export function fieldsOf({ data }: WireError): string[] {
  const violations = data.flatMap(({ fieldViolations }) => fieldViolations as unknown as { readonly field: string }[]);
  return violations.map(({ field }) => field);
}
