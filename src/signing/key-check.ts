import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { ParsedKey } from './key-parser.js';
import { algorithmOf, hashOf, SIGNING_KINDS, type SigningAlgorithm } from './signing-algorithm.js';
import { signingKeyError } from './signing-key.error.js';
import type { LoadedKey } from './signing.keys.js';
import type { SigningKeyNames } from './signing.options.js';

/**
 * Finds out what a key signs with and is called, and that its two parts belong together.
 *
 * @param label names the key in errors
 * @throws {A2AConfigurationError} when it is not to be signed with
 */
export async function checkKey({ key, jwk }: ParsedKey, names: SigningKeyNames, label: string): Promise<LoadedKey> {
  const alg = algorithmOf(key);
  if (alg === undefined) {
    const kind = key.asymmetricKeyType === 'rsa' ? 'an RSA key' : 'a key of another kind or curve';
    throw signingKeyError(label, `is ${kind}. Give ${SIGNING_KINDS}.`);
  }
  const wanted: string = names.alg ?? jwk?.alg ?? alg;
  if (wanted !== alg && !(wanted === 'Ed25519' && alg === 'EdDSA')) {
    throw signingKeyError(label, `is for ${alg}, but its "alg" is another. Correct the "alg", or leave it out.`);
  }
  // By way of its bytes: Node 20 locks a key while it writes it as a JWK, and waits for itself when it collects the job
  // that made the key meanwhile.
  const bytes = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const publicKey = createPublicKey({ key: bytes, format: 'der', type: 'spki' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' }) as { kty: string; crv: string; x: string; y?: string };
  if ((jwk && (jwk.x !== x || jwk.y !== y)) || !isPair(key, publicKey, alg)) {
    throw signingKeyError(label, 'has a private and a public part that do not belong together. Export it again.');
  }
  const point = { kty, crv, x, ...(y !== undefined && { y }) };
  const kid: unknown = names.kid ?? jwk?.kid ?? (await calculateJwkThumbprint(point));
  if (typeof kid !== 'string' || kid === '') throw signingKeyError(label, 'has a kid that is no text, or empty.');
  return { key, alg, kid, publicJwk: { ...point, kid, alg, use: 'sig' } };
}

/** A JWK may name any point of the curve as its public one: only a signature shows whether it is the right one. */
function isPair(privateKey: KeyObject, publicKey: KeyObject, alg: SigningAlgorithm): boolean {
  const probe = Buffer.from('a2a');
  try {
    return verify(hashOf(alg), probe, publicKey, sign(hashOf(alg), probe, privateKey));
  } catch {
    return false;
  }
}
