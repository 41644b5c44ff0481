import { AGENT_CARD_PATH } from 'nestjs-a2a';
import { bodyless, exchangeRaw, type HttpAnswer, type HttpCall } from './http-client.js';

/** The base URL that agents under test are configured with. */
export const PUBLIC = 'https://agent.example.com';

/** The card's options that cannot be left out, and a URL. */
export const PINNED = { name: 'Agent', description: 'An agent.', url: PUBLIC } as const;

/** Asks for a document as somebody unknown does. */
export function read(
  url: string,
  headers: NonNullable<HttpCall['headers']> = {},
  path = AGENT_CARD_PATH,
  method = 'GET',
): Promise<HttpAnswer> {
  return bodyless(url, method, {
    path,
    headers: { 'x-user': undefined, 'content-type': undefined, 'a2a-version': undefined, ...headers },
  });
}

/** The URLs of the interfaces on a card. */
export function urlsOf({ body }: Pick<HttpAnswer, 'body'>): string[] {
  return (body as { supportedInterfaces: { url: string }[] }).supportedInterfaces.map(({ url }) => url);
}

/** Sends a GET with a target and headers exactly as given, and gives head and body of the answer. */
export async function readRaw(
  url: string,
  target: string,
  headers: readonly string[],
  version = '1.1',
): Promise<{ readonly head: string; readonly body: string }> {
  const lines = [`GET ${target} HTTP/${version}`, ...headers, 'Connection: close', '', ''];
  const [head = '', body = ''] = (await exchangeRaw(url, lines.join('\r\n'))).split(/\r\n\r\n(.*)/su);
  return { head, body };
}
