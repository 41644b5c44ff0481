/** The algorithms by which a card can be verified: all of them have a key that may be public. */
export type CardAlgorithm =
  'ES256' | 'ES384' | 'ES512' | 'EdDSA' | 'Ed25519' | 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512';

/** The algorithms that are allowed when nothing else is said. */
export const DEFAULT_CARD_ALGORITHMS: readonly CardAlgorithm[] = ['ES256', 'ES384', 'ES512', 'EdDSA'];

interface KeyKind {
  readonly kty: string;
  readonly crv?: string;
}

const RSA: KeyKind = { kty: 'RSA' };
const ED25519: KeyKind = { kty: 'OKP', crv: 'Ed25519' };

const KEY_KINDS: Readonly<Record<CardAlgorithm, KeyKind>> = {
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  EdDSA: ED25519,
  Ed25519: ED25519,
  RS256: RSA,
  RS384: RSA,
  RS512: RSA,
  PS256: RSA,
  PS384: RSA,
  PS512: RSA,
};

/** Tells whether an algorithm is one by which cards can be verified; `none` and those with a shared secret are not. */
export function isCardAlgorithm(alg: string): alg is CardAlgorithm {
  return Object.hasOwn(KEY_KINDS, alg);
}

/** Tells whether a key is of the kind that an algorithm takes, and says of itself nothing else. */
export function fitsKey(
  alg: CardAlgorithm,
  key: { readonly kty?: unknown; readonly crv?: unknown; readonly alg?: unknown },
): boolean {
  const kind = KEY_KINDS[alg];
  return key.kty === kind.kty && key.crv === kind.crv && (key.alg === undefined || fullName(key.alg) === fullName(alg));
}

/** Ed25519 has two names (RFC 9864). */
function fullName(alg: unknown): unknown {
  return alg === 'EdDSA' ? 'Ed25519' : alg;
}
