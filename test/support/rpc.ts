import { randomUUID } from 'node:crypto';
import type { JsonObject, Part } from 'nestjs-a2a';

/** A JSON-RPC answer as it came over HTTP. */
export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

/** What a test's call differs in. */
export interface RpcCall {
  readonly user?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly id?: unknown;
}

/** Posts a body as it is. */
export async function post(url: string, body: string | Uint8Array, call: RpcCall = {}): Promise<RpcAnswer> {
  const { user = 'alice', path = '/a2a', headers = {} } = call;
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(user !== null && { 'x-user': user }),
      ...headers,
    },
    body: body as string,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

/** Calls a method. */
export function rpc(url: string, method: string, params?: unknown, call: RpcCall = {}): Promise<RpcAnswer> {
  const { id = 1 } = call;
  return post(url, JSON.stringify({ jsonrpc: '2.0', id, method, params }), call);
}

/** A message of the user, of text or parts. */
export function userMessage(content: string | readonly Part[], fields: JsonObject = {}): JsonObject {
  const parts = typeof content === 'string' ? [{ text: content }] : content;
  return { messageId: randomUUID(), role: 'ROLE_USER', parts: structuredClone(parts) as never, ...fields };
}

/** Sends a message and gives the task that came of it. */
export async function send(
  url: string,
  content: string | readonly Part[],
  options: { readonly message?: JsonObject; readonly configuration?: JsonObject; readonly call?: RpcCall } = {},
): Promise<RpcAnswer> {
  const { message = {}, configuration, call } = options;
  return rpc(url, 'SendMessage', { message: userMessage(content, message), configuration }, call);
}

/** Asks for a task until it is as wanted. */
export async function taskWhen(
  url: string,
  id: string,
  isDone: (task: RpcAnswer['body']) => boolean,
  call: RpcCall = {},
): Promise<RpcAnswer['body']> {
  for (let attempt = 0; attempt < 2_000; attempt++) {
    const { body } = await rpc(url, 'GetTask', { id }, call);
    if (body.result && isDone(body.result)) return body.result;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`Task ${id} did not become as wanted.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
