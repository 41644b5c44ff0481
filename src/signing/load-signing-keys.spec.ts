import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calculateJwkThumbprint } from 'jose';
import { jwkOf, keyPair, pemOf, SIGNING_ALGORITHMS } from '../../test/support/signing-keys.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { loadSigningKeys } from './load-signing-keys.js';
import type { SigningKey, SigningKeySource } from './signing.options.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signing-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** The published keys of a source. */
const published = async (keys: SigningKeySource) => (await loadSigningKeys({ keys })).jwks().keys;

/** The error of a boot with these keys. */
async function refusal(...keys: unknown[]): Promise<Error> {
  const error: unknown = await loadSigningKeys({ keys: keys as SigningKey[] }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(A2AConfigurationError);
  return error as Error;
}

describe('loading signing keys', () => {
  it.each(SIGNING_ALGORITHMS)('takes an %s key in every form (CARD-08a)', async (alg) => {
    const { privateKey } = keyPair(alg);
    const jwk = jwkOf(privateKey);
    const forms: SigningKey[] = [
      jwk,
      pemOf(privateKey),
      JSON.stringify(jwk),
      privateKey,
      { key: jwk, alg },
      { file: fileOf(`${alg}.pem`, pemOf(privateKey)) },
      { file: fileOf(`${alg}.json`, JSON.stringify(jwk)), alg },
      { file: fileOf(`${alg}.jwks`, JSON.stringify({ keys: [jwk] })) },
    ];
    const { kty, crv, x, y } = jwk;
    const kid = await calculateJwkThumbprint({ kty, crv: crv!, x: x!, ...(y !== undefined && { y }) });
    for (const form of forms) {
      expect(await published([form])).toEqual([{ kty, crv, x, ...(y !== undefined && { y }), kid, alg, use: 'sig' }]);
    }
  });

  it('takes a key of Web Crypto that may sign, and no other (CARD-08a)', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
    const { privateKey, publicKey } = await webcrypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
    expect(await published([privateKey])).toMatchObject([{ crv: 'P-256', alg: 'ES256' }]);
    expect((await refusal(publicKey)).message).toMatch(/^Signing key 1 has no private part/);
    const ecdh = await webcrypto.subtle.generateKey({ ...algorithm, name: 'ECDH' }, true, ['deriveKey']);
    expect((await refusal(ecdh.privateKey)).message).toMatch(/^Signing key 1 may not be used to sign/);
  });

  it('takes them from a factory, at once or later', async () => {
    const { privateKey } = keyPair('ES256');
    expect(await published(() => [privateKey])).toHaveLength(1);
    expect(await published(() => Promise.resolve([privateKey]))).toHaveLength(1);
  });

  it('keeps their order, over the sets in files too (CARD-10b)', async () => {
    const set = [jwkOf(keyPair('ES256').privateKey), jwkOf(keyPair('EdDSA').privateKey)];
    const file = fileOf(
      'set.json',
      JSON.stringify({ keys: set.map((jwk, index) => ({ ...jwk, kid: `set-${index}` })) }),
    );
    const keys = await published([
      { key: keyPair('ES512').privateKey, kid: 'first' },
      { file },
      keyPair('ES384').privateKey,
    ]);
    expect(keys.map(({ kid, alg }) => [kid, alg])).toEqual([
      ['first', 'ES512'],
      ['set-0', 'ES256'],
      ['set-1', 'EdDSA'],
      [expect.any(String), 'ES384'],
    ]);
  });

  it('names a key as the option says, else as its JWK says (CARD-10a)', async () => {
    const jwk = { ...jwkOf(keyPair('ES256').privateKey), kid: 'own' };
    expect(await published([jwk])).toMatchObject([{ kid: 'own' }]);
    expect(await published([{ key: jwk, kid: 'given' }])).toMatchObject([{ kid: 'given' }]);
  });

  it('publishes no member but those of a public key (CARD-11)', async () => {
    const jwk = { ...jwkOf(keyPair('EdDSA').privateKey), key_ops: ['sign'], ext: true, secret: 'x' };
    expect(Object.keys((await published([jwk]))[0]!).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });

  it('writes EdDSA for a JWK that says Ed25519', async () => {
    expect(await published([{ ...jwkOf(keyPair('EdDSA').privateKey), alg: 'Ed25519' }])).toMatchObject([
      { alg: 'EdDSA' },
    ]);
  });

  it('has none without options (CARD-11)', async () => {
    const keys = await loadSigningKeys(undefined);
    expect(keys.isEmpty).toBe(true);
    expect(keys.jwks()).toEqual({ keys: [] });
    expect((await loadSigningKeys({ keys: [keyPair('ES256').privateKey] })).isEmpty).toBe(false);
  });
});

describe('a signing key that is refused at boot (CARD-08a)', () => {
  const { privateKey, publicKey } = keyPair('ES256');
  const jwk = jwkOf(privateKey);
  const other = jwkOf(keyPair('ES256').privateKey);
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ed25519 = jwkOf(keyPair('EdDSA').privateKey);
  const encrypted = privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' });

  it.each<[string, unknown, RegExp]>([
    ['an RSA KeyObject', rsa.privateKey, /is an RSA key\. Give an EC key on P-256/],
    ['an RSA PEM', pemOf(rsa.privateKey), /is an RSA key/],
    ['an RSA JWK', jwkOf(rsa.privateKey), /is an RSA key/],
    ['a secret', { kty: 'oct', k: 'c2VjcmV0' }, /is of another kind/],
    [
      'an EC key on another curve',
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
      /another kind or curve/,
    ],
    ['an X25519 key', jwkOf(generateKeyPairSync('x25519').privateKey), /another kind or curve/],
    ['an Ed448 key', pemOf(generateKeyPairSync('ed448').privateKey), /another kind or curve/],
    ['null', null, /is null\. .* take it off the list/],
    ['undefined', undefined, /is no key/],
    ['a number', 5, /is no key/],
    ['an empty object', {}, /has no "kty"/],
    ['a null key with a kid', { key: null, kid: 'a' }, /is no JWK/],
    ['a public JWK', jwkOf(publicKey), /has no private part/],
    ['a public KeyObject', publicKey, /has no private part/],
    ['a public PEM', publicKey.export({ format: 'pem', type: 'spki' }), /has no private part/],
    ['an encrypted PEM', encrypted, /is encrypted/],
    ['a malformed PEM', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', /is no private key in PEM/],
    ['an empty text', '', /is no private key in PEM/],
    ['malformed JSON', '{"kty":', /is malformed JSON/],
    ['a set without keys', '{"keys":[]}', /is a JWK set without keys/],
    ['a set with null', '{"keys":[null]}', /key 1 of its set, is null/],
    ['a point off the curve', { ...jwk, y: jwk.x }, /not on its curve/],
    ['a JWK without a coordinate', { ...jwk, y: undefined }, /is no valid JWK/],
    ['a curve that does not fit its point', { ...jwk, crv: 'P-384' }, /is no valid JWK/],
    ['the public part of another key', { ...jwk, x: other.x, y: other.y }, /do not belong together/],
    [
      'the public part of another Ed25519 key',
      { ...ed25519, x: jwkOf(keyPair('EdDSA').privateKey).x },
      /do not belong together/,
    ],
    ['an empty private part', { ...jwk, d: '' }, /do not belong together/],
    ['an alg that does not fit the curve', { ...jwk, alg: 'ES384' }, /is for ES256, but its "alg" is another/],
    ['an alg option that does not fit', { key: privateKey, alg: 'EdDSA' }, /is for ES256, but its "alg" is another/],
    ['a key for encryption', { ...jwk, use: 'enc' }, /"use" is not "sig"/],
    ['a key for other operations', { ...jwk, key_ops: ['verify'] }, /"key_ops" have no "sign"/],
    ['an empty kid', { key: privateKey, kid: '' }, /has a kid that is no text, or empty/],
  ])('is %s', async (_what, key, problem) => {
    const { message } = await refusal(keyPair('ES384').privateKey, key);
    expect(message).toMatch(/^Signing key 2/);
    expect(message).toMatch(problem);
  });

  it('is one that has the kid of another, in a set too', async () => {
    expect((await refusal({ key: privateKey, kid: 'a' }, { ...other, kid: 'a' })).message).toMatch(
      /^Signing key 2 has the kid of another: Signing key 1\./,
    );
    expect((await refusal(privateKey, jwk)).message).toMatch(/has the kid of another/);
    const keys = [jwk, other].map((each) => ({ ...each, kid: 'a' }));
    expect((await refusal(JSON.stringify({ keys }))).message).toMatch(
      /key 2 of its set, has the kid of another: .* key 1/,
    );
    expect((await refusal({ key: JSON.stringify({ keys: [jwk, other] }), kid: 'a' })).message).toMatch(/several keys/);
  });

  it('is named by its file', async () => {
    const file = fileOf('rsa.pem', pemOf(rsa.privateKey));
    expect((await refusal({ file })).message).toContain(`Signing key 1 (${file}) is an RSA key`);
    const missing = join(folder, 'missing.pem');
    expect((await refusal({ file: missing })).message).toMatch(`Signing key 1 (${missing}) cannot be read (ENOENT)`);
  });

  it.each<[unknown, RegExp]>([
    [[], /signing\.keys is empty/],
    [null, /signing\.keys is no list/],
    ['pem', /signing\.keys is no list/],
    [() => [], /signing\.keys is empty/],
    [() => Promise.resolve(undefined), /signing\.keys is no list/],
  ])('or a list that has none: %p', async (keys, problem) => {
    await expect(loadSigningKeys({ keys: keys as SigningKeySource })).rejects.toThrow(problem);
  });

  it('shows nothing of itself in the error', async () => {
    for (const key of [
      { ...jwk, y: jwk.x },
      { ...jwk, d: 5 },
      `{"kty":"EC","d":"${jwk.d!}",`,
      { ...jwk, alg: 'none' },
    ]) {
      const error = await refusal(key);
      expect(error.cause).toBeUndefined();
      expect(`${error.message}${String(error.stack)}`).not.toContain(jwk.d!);
    }
  });
});
