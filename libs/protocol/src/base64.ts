import type { RawPart } from './model.js';

const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;
const URL_SAFE = /^[A-Za-z0-9_-]*={0,2}$/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Reads base64 as ProtoJSON does: the standard or the URL-safe alphabet, with or without padding.
 *
 * Strict beyond that: no white space, no mixed alphabets, no partial padding, and no bits set that carry no byte, so
 * that each byte string has one reading.
 *
 * @returns The same bytes in the standard alphabet with padding; undefined when the text is not base64.
 */
export function normalizeBase64(text: string): string | undefined {
  const standard = STANDARD.test(text) ? text : URL_SAFE.test(text) ? toStandard(text) : undefined;
  if (standard === undefined) return undefined;
  const digits = standard.endsWith('=') ? standard.slice(0, standard.indexOf('=')) : standard;
  const padding = (4 - (digits.length % 4)) % 4;
  if (padding === 3 || spareBits(digits, padding) !== 0) return undefined;
  if (standard.length === digits.length + padding) return standard;
  return standard === digits ? digits + '='.repeat(padding) : undefined;
}

/**
 * Decodes the bytes of a raw part.
 *
 * @returns A new array that shares no memory with another.
 */
export function rawBytes(part: RawPart): Uint8Array {
  return new Uint8Array(Buffer.from(part.raw, 'base64'));
}

function toStandard(urlSafe: string): string {
  return urlSafe.replaceAll('-', '+').replaceAll('_', '/');
}

/** The bits of the last digit that belong to no byte. */
function spareBits(digits: string, padding: number): number {
  if (padding === 0) return 0;
  const last = ALPHABET.indexOf(digits.charAt(digits.length - 1));
  return last & (padding === 2 ? 0b1111 : 0b11);
}
