import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';

/** The algorithms that cards are signed with here. */
export const SIGNING_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA'] as const;

const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;

/** A new pair of keys for an algorithm. */
export function keyPair(alg: (typeof SIGNING_ALGORITHMS)[number]): { privateKey: KeyObject; publicKey: KeyObject } {
  return alg === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: CURVES[alg] });
}

/** A JWK as tests look into it. */
export type TestJwk = JsonWebKey & { kty: string; kid?: string; alg?: string; use?: string; key_ops?: string[] };

export function jwkOf(key: KeyObject): TestJwk {
  // By way of its bytes: Node 20 may lock itself up when it writes a key as a JWK while it collects the job that made it.
  const copy =
    key.type === 'private'
      ? createPrivateKey({ key: key.export({ format: 'der', type: 'pkcs8' }), format: 'der', type: 'pkcs8' })
      : createPublicKey({ key: key.export({ format: 'der', type: 'spki' }), format: 'der', type: 'spki' });
  return copy.export({ format: 'jwk' }) as TestJwk;
}

export function pemOf(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}
