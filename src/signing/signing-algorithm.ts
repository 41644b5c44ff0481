import type { KeyObject } from 'node:crypto';

/** The algorithms that this package signs with. `EdDSA` is Ed25519. */
export type SigningAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'EdDSA';

/** Which keys there are to choose from, for error messages. */
export const SIGNING_KINDS = 'an EC key on P-256, P-384 or P-521, or an Ed25519 key';

const ALGORITHM_OF_CURVE: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** The one algorithm that a key is for; undefined when it is for none of ours. */
export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm | undefined {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  // Of the curves, one that the runtime knows and we do not has no entry.
  return asymmetricKeyType === 'ec' ? ALGORITHM_OF_CURVE[asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
}

/** The hash that an algorithm signs, by the name that `node:crypto` has for it; Ed25519 does its own. */
export function hashOf(algorithm: SigningAlgorithm): string | null {
  return algorithm === 'EdDSA' ? null : `sha${algorithm.slice(2)}`;
}
