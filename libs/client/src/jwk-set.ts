import { calculateJwkThumbprint, importJWK, type CryptoKey, type JWK } from 'jose';

/** A set of public keys (RFC 7517 §5). Private members are not used. */
export interface JwkSet {
  readonly keys: readonly TrustedJwk[];
}

/** A public key; without a `kid` it is known by its RFC 7638 SHA-256 thumbprint. */
export interface TrustedJwk {
  readonly kty: string;
  readonly kid?: string;
  readonly [member: string]: unknown;
}

/** The keys of a set that are known by a name. */
export async function keysNamed(keys: readonly TrustedJwk[], kid: string): Promise<readonly TrustedJwk[]> {
  const names = await Promise.all(keys.map(nameOf));
  return keys.filter((_key, index) => names[index] === kid);
}

/**
 * Tells whether a key may verify signatures. `exp` and `revoked` are what OpenID Federation says of keys; A2A v1.0 §8.4.3
 * forbids such keys.
 */
export function mayVerify({ use, key_ops: operations, exp, revoked }: TrustedJwk): boolean {
  if (use !== undefined && use !== 'sig') return false;
  if (Array.isArray(operations) && !operations.includes('verify')) return false;
  return revoked === undefined && !(typeof exp === 'number' && exp * 1_000 <= Date.now());
}

/**
 * Makes a key to verify with. Only the public members are read: a set that holds private ones by mistake is used all the same.
 *
 * @throws When the key is malformed; of no class of ours.
 */
export async function importPublicKey(jwk: TrustedJwk, alg: string): Promise<CryptoKey | Uint8Array> {
  const { kty, crv, x, y, n, e } = jwk as JWK & TrustedJwk;
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, member]) => member !== undefined);
  return importJWK(Object.fromEntries(members) as JWK, alg);
}

/**
 * The keys of a set as it was fetched; what is no key in it is passed over.
 *
 * @throws {TypeError} When it is no set.
 */
export function keysOf(set: unknown): readonly TrustedJwk[] {
  const { keys } = set as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new TypeError('There is no JWK set');
  return keys.filter(isJwk);
}

function isJwk(value: unknown): value is TrustedJwk {
  return typeof value === 'object' && value !== null && typeof (value as { kty?: unknown }).kty === 'string';
}

async function nameOf(key: TrustedJwk): Promise<string | undefined> {
  // A key that is malformed has no thumbprint, and so no name.
  return key.kid ?? (await calculateJwkThumbprint(key as JWK).catch(() => undefined));
}
