import { createPrivateKey, KeyObject, type JsonWebKeyInput } from 'node:crypto';
import { types } from 'node:util';
import { SIGNING_KINDS } from './signing-algorithm.js';
import { signingKeyError } from './signing-key.error.js';
import type { PrivateJwk, SigningKeyMaterial } from './signing.options.js';

/** A private key, with what its JWK says of it. */
export interface ParsedKey {
  readonly key: KeyObject;
  readonly jwk?: PrivateJwk;
}

/**
 * Makes private keys of what the host gave: one, but for the text of a JWK set.
 *
 * @param label names the key in errors
 * @throws {A2AConfigurationError} when it is no private key of a kind that we sign with
 */
export function parseKeys(material: SigningKeyMaterial, label: string): readonly ParsedKey[] {
  if (typeof material === 'string') return parseText(material.trim(), label);
  if (types.isKeyObject(material)) return [{ key: privateOnly(material, label) }];
  if (types.isCryptoKey(material)) {
    if (!material.usages.includes('sign') && material.type === 'private') {
      throw signingKeyError(label, `may not be used to sign. Import it with the usage 'sign'.`);
    }
    return [{ key: privateOnly(KeyObject.from(material), label) }];
  }
  return [parseJwk(material, label)];
}

function parseText(text: string, label: string): readonly ParsedKey[] {
  if (!text.startsWith('{')) return [{ key: parsePem(text, label) }];
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw signingKeyError(label, 'is malformed JSON. Give a JWK or a JWK set.');
  }
  const keys: unknown = (json as { readonly keys?: unknown }).keys;
  if (keys === undefined) return [parseJwk(json, label)];
  if (!Array.isArray(keys) || keys.length === 0) throw signingKeyError(label, 'is a JWK set without keys.');
  return keys.map((jwk: unknown, index) => parseJwk(jwk, `${label}, key ${index + 1} of its set,`));
}

function parsePem(text: string, label: string): KeyObject {
  if (/-----BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----/u.test(text)) throw withoutPrivatePart(label);
  if (/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/u.test(text)) {
    throw signingKeyError(label, 'is encrypted. Decrypt it first, and give the KeyObject.');
  }
  return attempt(label, 'is no private key in PEM. Give one in PKCS#8 ("BEGIN PRIVATE KEY").', () =>
    createPrivateKey(text),
  );
}

function parseJwk(value: unknown, label: string): ParsedKey {
  if (typeof value !== 'object' || value === null) {
    throw signingKeyError(
      label,
      `is ${value === null ? 'null' : 'no key'}. Give ${SIGNING_KINDS}, or take it off the list.`,
    );
  }
  const jwk = value as PrivateJwk;
  if (typeof jwk.kty !== 'string') throw signingKeyError(label, 'is no JWK: it has no "kty".');
  if (jwk.kty !== 'EC' && jwk.kty !== 'OKP')
    throw wrongKind(label, jwk.kty === 'RSA' ? 'an RSA key' : 'of another kind');
  if (jwk.d === undefined) throw withoutPrivatePart(label);
  if (jwk.use !== undefined && jwk.use !== 'sig')
    throw signingKeyError(label, 'is not for signatures: its "use" is not "sig".');
  if (Array.isArray(jwk.key_ops) && !jwk.key_ops.includes('sign')) {
    throw signingKeyError(label, 'is not for signing: its "key_ops" have no "sign".');
  }
  const { kty, crv, x, y, d } = jwk;
  const input = { key: { kty, crv, x, y, d }, format: 'jwk' } as JsonWebKeyInput;
  const problem =
    'is no valid JWK: a member is missing or malformed, or its point is not on its curve. Export it again.';
  return { key: attempt(label, problem, () => createPrivateKey(input)), jwk };
}

function privateOnly(key: KeyObject, label: string): KeyObject {
  if (key.type === 'secret') throw wrongKind(label, 'a secret that others would need to verify');
  if (key.type === 'public') throw withoutPrivatePart(label);
  return key;
}

function attempt(label: string, problem: string, parse: () => KeyObject): KeyObject {
  try {
    return parse();
  } catch {
    throw signingKeyError(label, problem);
  }
}

function withoutPrivatePart(label: string): Error {
  return signingKeyError(label, 'has no private part. Give the private key; the public one is published for you.');
}

function wrongKind(label: string, kind: string): Error {
  return signingKeyError(label, `is ${kind}. Give ${SIGNING_KINDS}.`);
}
