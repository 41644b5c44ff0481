import { Agent as KeepAlive, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';

/** An answer, read to its end. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

/** What a request differs in from a good call of alice. */
export interface HttpCall {
  readonly method?: string;
  readonly path?: string;
  /** `undefined` takes a default header away. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly agent?: KeepAlive;
}

/** A request under way, whose body is for the test to write. */
export interface OpenRequest {
  readonly request: ClientRequest;
  /** Settles when the answer has been read to its end, whatever becomes of the request. */
  readonly answer: Promise<HttpAnswer>;
}

const DEFAULTS = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-user': 'alice' };

/** Sends the head of a request, and leaves its body to the test. */
export function openRequest(url: string, call: HttpCall = {}): OpenRequest {
  const { method = 'POST', path = '/a2a', headers = {}, agent } = call;
  const all: HttpCall['headers'] = { ...DEFAULTS, ...headers };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const request = httpRequest(url + path, {
    method,
    headers: Object.fromEntries(given) as Record<string, string | string[]>,
    ...(agent && { agent }),
  });
  const answer = new Promise<HttpAnswer>((resolve, reject) => {
    // A server that has refused a body may reset the connection on the rest of it: the answer is what counts.
    request.on('error', reject).on('response', (response) => {
      readAnswer(response).then(resolve, reject);
    });
  });
  // A test that never looks at the answer is not failed by it.
  answer.catch(() => {});
  return { request, answer };
}

/** Posts a body as it is. */
export function postBytes(url: string, body: string | Uint8Array, call: HttpCall = {}): Promise<HttpAnswer> {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const { request, answer } = openRequest(url, { ...call, headers: { ...length, ...call.headers } });
  request.end(body);
  return answer;
}

/** Sends a request without a body. */
export function bodyless(url: string, method: string, call: HttpCall = {}): Promise<HttpAnswer> {
  const { request, answer } = openRequest(url, { ...call, method });
  request.end();
  return answer;
}

/** Writes bytes to a fresh connection, and gives all that came back until the server closed it. */
export function exchangeRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('error', reject)
      .on('close', () => {
        resolve(Buffer.concat(chunks).toString('utf8'));
      });
  });
}

/** A pool of connections that are used again. */
export function keepAlive(connections: number): KeepAlive {
  return new KeepAlive({ keepAlive: true, maxSockets: connections });
}

async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
  return { status: response.statusCode ?? 0, headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
