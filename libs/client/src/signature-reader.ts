import { decodeUtf8, readStrictJson, type JsonObject, type JsonValue } from '#protocol';
import { AgentCardVerificationError } from './verification-error.js';

/** A signature of a card, taken apart. Nothing in it is trusted yet. */
export interface CardSignature {
  /** As it stands in the card, and as it is signed. */
  readonly protected: string;
  readonly signature: string;
  readonly alg: string;
  readonly kid: string;
  readonly jku?: string;
}

/**
 * Takes a signature apart, strictly.
 *
 * - Only what the signature covers counts. The unprotected header is not read, but for what it must not hold: a name that
 *   the protected one has, or `crit`.
 * - Header parameters that bring a key along (`jwk`, `x5c`, `x5u`) are not looked at.
 *
 * @throws {AgentCardVerificationError} `malformed`
 * @see A2A v1.0 §8.4.2 Signature Format; RFC 7515 §5.2, §7.2.1
 */
export function readSignature(entry: JsonValue): CardSignature {
  if (!isObject(entry)) throw malformed('is no object');
  const { protected: encoded, signature, header: unprotected = null } = entry;
  if (typeof encoded !== 'string' || typeof signature !== 'string') throw malformed('lacks "protected" or "signature"');
  if (signature === '' || !isBase64Url(signature)) throw malformed('has a "signature" that is not base64url');
  const header = readHeader(encoded);
  checkUnprotected(unprotected, header);
  const { alg, kid, jku = null, typ = 'JOSE' } = header;
  if (typeof alg !== 'string' || typeof kid !== 'string' || kid === '') throw malformed('has no "alg" or no "kid"');
  if (typeof typ !== 'string' || typ.toUpperCase() !== 'JOSE') throw malformed('has a "typ" that is not JOSE');
  // We know no extensions of JWS, and must not pass over one that is critical.
  if ('crit' in header || 'b64' in header) throw malformed('asks for an extension of JWS');
  if (jku !== null && typeof jku !== 'string') throw malformed('has a "jku" that is no text');
  return { protected: encoded, signature, alg, kid, ...(jku !== null && { jku }) };
}

function readHeader(encoded: string): JsonObject {
  if (!isBase64Url(encoded)) throw malformed('has a protected header that is not base64url');
  try {
    const { value, duplicates } = readStrictJson(decodeUtf8(Buffer.from(encoded, 'base64url')));
    if (isObject(value) && duplicates.length === 0) return value;
  } catch {
    // What is wrong with it matters to nobody.
  }
  throw malformed('has a protected header that is no JSON object, or repeats a name');
}

function checkUnprotected(unprotected: JsonValue, header: JsonObject): void {
  if (unprotected === null) return;
  if (!isObject(unprotected)) throw malformed('has a "header" that is no object');
  if (Object.keys(unprotected).some((name) => name === 'crit' || Object.hasOwn(header, name))) {
    throw malformed('has a "header" that repeats the protected one');
  }
}

/** Tells whether a text is base64url in its one spelling: no padding, no spare bits. */
function isBase64Url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(problem: string): AgentCardVerificationError {
  return new AgentCardVerificationError('malformed', `The signature ${problem}.`);
}
