import type { KeyObject, webcrypto } from 'node:crypto';
import type { SigningAlgorithm } from './signing-algorithm.js';

/** A private key as a JSON Web Key (RFC 7517), EC or OKP. Its `kid` and `alg` are used when there are any. */
export interface PrivateJwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly d?: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
  readonly key_ops?: readonly string[];
}

/** A private key: a JWK, the text of a PEM (PKCS#8) or of a JWK, or a key of `node:crypto` or Web Crypto. */
export type SigningKeyMaterial = PrivateJwk | string | KeyObject | webcrypto.CryptoKey;

/** What a key is called and used for. */
export interface SigningKeyNames {
  /** @default the key's own `kid`, else its RFC 7638 SHA-256 thumbprint */
  readonly kid?: string;
  /** It has to fit the key. @default the one algorithm that fits */
  readonly alg?: SigningAlgorithm;
}

/** A key to sign with. A file holds a PEM, a JWK or a JWK set. */
export type SigningKey =
  | SigningKeyMaterial
  | (SigningKeyNames & { readonly key: SigningKeyMaterial })
  | (SigningKeyNames & { readonly file: string });

/** Keys, or a factory that fetches them at boot, from a vault for example. */
export type SigningKeySource = readonly SigningKey[] | (() => readonly SigningKey[] | Promise<readonly SigningKey[]>);

/**
 * What the agent signs with: its card, once for each key, and its notifications, with the first one.
 *
 * @example
 * signing: { keys: [{ file: '/run/secrets/a2a-2026.pem' }, { file: '/run/secrets/a2a-2025.pem' }] }
 */
export interface SigningOptions {
  /**
   * ES256, ES384, ES512 and EdDSA (Ed25519) keys, the one that is preferred first. To rotate, add the new key
   * behind the others, move it to the front when all replicas have it, and take the old one away when nobody needs it.
   */
  readonly keys: SigningKeySource;
}
