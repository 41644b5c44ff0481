import { scrub } from './scrub.js';

/** The way from the top of a JSON value to a place in it: keys and indexes. */
export type JsonPath = readonly (string | number)[];

const MAX_KEY = 64;
const MAX_PATH = 256;

/**
 * Writes a path as `message.parts[0].text`.
 *
 * The keys may be a client's: each is scrubbed and shown up to 64 characters, the whole up to 256.
 */
export function formatPath(path: JsonPath): string {
  let text = '';
  for (const step of path) {
    text += typeof step === 'number' ? `[${String(step)}]` : `${text === '' ? '' : '.'}${scrub(step, MAX_KEY)}`;
    if (text.length > MAX_PATH) return scrub(text, MAX_PATH);
  }
  return text;
}
