import type { KeyObject } from 'node:crypto';
import { FlattenedSign, SignJWT, type JWTPayload } from 'jose';
import { A2AConfigurationError } from '../context/configuration.error.js';
import type { SigningAlgorithm } from './signing-algorithm.js';

/** A public key as it is published: these members and no others. Ed25519 has no `y`. */
export interface PublicJwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y?: string;
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly use: 'sig';
}

/** A private key that passed all checks. */
export interface LoadedKey {
  readonly key: KeyObject;
  readonly alg: SigningAlgorithm;
  readonly kid: string;
  readonly publicJwk: PublicJwk;
}

/** Members of the protected header beside `alg` and `kid`, which are the key's. */
export interface SignatureHeader {
  /** Where the key set is published. */
  readonly jku?: string;
  /** @default 'JOSE', of a JWT 'JWT' */
  readonly typ?: string;
}

/** A signature of RFC 7515 whose payload is somewhere else. Both are base64url. */
export interface DetachedSignature {
  readonly protected: string;
  readonly signature: string;
}

/**
 * The keys that the agent signs with, as {@link loadSigningKeys} checked them.
 *
 * - Private parts do not leave it, in no form.
 * - Signatures and published keys stand in the order in which the keys were given.
 *
 * @see RFC 7515 JSON Web Signature; A2A v1.0 §8.4.2 Signature Format
 */
export class SigningKeys {
  readonly #keys: readonly LoadedKey[];

  constructor(keys: readonly LoadedKey[]) {
    this.#keys = keys;
  }

  /** Whether the agent signs nothing. */
  get isEmpty(): boolean {
    return this.#keys.length === 0;
  }

  /** The public keys, as a JWK set to serve as `application/jwk-set+json`. */
  jwks(): { keys: PublicJwk[] } {
    return { keys: this.#keys.map(({ publicJwk }) => ({ ...publicJwk })) };
  }

  /**
   * Signs a payload with each key.
   *
   * @param payload bytes, or text that is signed as UTF-8
   */
  async sign(payload: Uint8Array | string, header: SignatureHeader = {}): Promise<DetachedSignature[]> {
    const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;
    return Promise.all(
      this.#keys.map(async ({ key, alg, kid }) => {
        const jws = await new FlattenedSign(bytes).setProtectedHeader({ typ: 'JOSE', ...header, alg, kid }).sign(key);
        return { protected: jws.protected ?? '', signature: jws.signature };
      }),
    );
  }

  /**
   * Makes a JWT, signed with the first key, in the compact form. It adds no claims.
   *
   * @throws {A2AConfigurationError} when there is no key
   */
  async signJwt(claims: JWTPayload, header: SignatureHeader = {}): Promise<string> {
    const [first] = this.#keys;
    if (first === undefined) throw new A2AConfigurationError('There is no key to sign with. Set signing.keys.');
    const { key, alg, kid } = first;
    return new SignJWT(claims).setProtectedHeader({ typ: 'JWT', ...header, alg, kid }).sign(key);
  }
}
