import { JsonSyntaxError } from './json-syntax-error.js';

// A byte order mark is kept, so that the JSON reader refuses it (RFC 8259 §8.1).
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes the bytes of a JSON text.
 *
 * @throws {JsonSyntaxError} When they are not well-formed UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new JsonSyntaxError('Not well-formed UTF-8', 0);
  }
}
