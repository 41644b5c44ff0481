import { compactVerify, decodeProtectedHeader } from 'jose';
import { decodeUtf8, NOTIFICATION_JWT_TYPE, readStrictJson } from '#protocol';
import { DEFAULT_CARD_ALGORITHMS, fitsKey, type CardAlgorithm } from '../card-algorithm.js';
import { importPublicKey, keysNamed, mayVerify, type JwkSet, type TrustedJwk } from '../jwk-set.js';
import type { CachedKeySet } from './cached-key-set.js';
import { NotificationRefusedError } from './notification-refused-error.js';

/** What a good signature says. */
export interface SignedClaims {
  /** Epoch milliseconds, of whole seconds. */
  readonly issuedAt: number;
  readonly jti: string;
  readonly taskId: string;
  /** The SHA-256 of the body, as base64url. */
  readonly bodyHash: string;
}

/** What stores have to hold for each notification is bounded by this, in characters. */
const MAX_JTI_LENGTH = 256;

/**
 * Verifies the signatures of notifications.
 *
 * - A signature cannot choose whom it is trusted by: its `kid` selects among trusted keys, and its `jku` is not looked at.
 * - Its `alg` must be ES256, ES384, ES512 or EdDSA, and fit the key; its `typ` must be that of notifications, so that no
 *   other token of the same key is taken for one.
 * - Pinned keys decide alone about the `kid`s that they have.
 *
 * @see RFC 8725 JSON Web Token Best Current Practices
 */
export class SignatureVerifier {
  constructor(
    private readonly pinned: JwkSet | undefined,
    private readonly fetched: CachedKeySet | undefined,
  ) {}

  /** @throws {NotificationRefusedError} `signature` */
  async verify(jwt: string): Promise<SignedClaims> {
    const { alg, kid } = readHeader(jwt);
    const keys = (await this.keysOf(kid)).filter((key) => mayVerify(key) && fitsKey(alg, key));
    for (const key of keys) {
      const payload = await payloadOf(jwt, key, alg);
      if (payload !== undefined) return readClaims(payload);
    }
    throw refusal('The signature is not that of a trusted key.');
  }

  private async keysOf(kid: string): Promise<readonly TrustedJwk[]> {
    const pinned = await keysNamed(this.pinned?.keys ?? [], kid);
    if (pinned.length > 0 || this.fetched === undefined) return pinned;
    try {
      return await this.fetched.named(kid);
    } catch (cause) {
      throw refusal('The key set cannot be read.', { cause });
    }
  }
}

function readHeader(jwt: string): { readonly alg: CardAlgorithm; readonly kid: string } {
  const { alg, kid, typ } = headerOf(jwt);
  if (typ !== NOTIFICATION_JWT_TYPE) throw refusal('The signature is of another type.');
  const known = DEFAULT_CARD_ALGORITHMS.find((each) => each === alg);
  if (known === undefined) throw refusal('The "alg" of the signature is not allowed.');
  if (typeof kid !== 'string' || kid === '') throw refusal('The signature has no "kid".');
  return { alg: known, kid };
}

function headerOf(jwt: string): Readonly<Record<string, unknown>> {
  try {
    return { ...decodeProtectedHeader(jwt) };
  } catch {
    throw refusal('The signature is no JWT.');
  }
}

async function payloadOf(jwt: string, key: TrustedJwk, alg: CardAlgorithm): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(jwt, await importPublicKey(key, alg), { algorithms: [alg] })).payload;
  } catch {
    // A key that cannot be read makes no signature good either.
    return undefined;
  }
}

function readClaims(payload: Uint8Array): SignedClaims {
  const { iat, jti, task_id: taskId, body_sha256: bodyHash } = claimsOf(payload);
  const isComplete =
    typeof iat === 'number' &&
    typeof jti === 'string' &&
    jti !== '' &&
    jti.length <= MAX_JTI_LENGTH &&
    typeof taskId === 'string' &&
    typeof bodyHash === 'string';
  if (!isComplete) throw refusal('The signature lacks claims.');
  return { issuedAt: iat * 1_000, jti, taskId, bodyHash };
}

function claimsOf(payload: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return { ...(readStrictJson(decodeUtf8(payload)).value as object) };
  } catch {
    throw refusal('The signature has no claims.');
  }
}

function refusal(message: string, options?: ErrorOptions): NotificationRefusedError {
  return new NotificationRefusedError('signature', message, options);
}
