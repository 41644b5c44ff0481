import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { compactVerify, decodeJwt, decodeProtectedHeader, flattenedVerify } from 'jose';
import { jwkOf, keyPair, SIGNING_ALGORITHMS } from '../../test/support/signing-keys.js';
import { loadSigningKeys } from './load-signing-keys.js';

describe('the signing keys', () => {
  const pairs = SIGNING_ALGORITHMS.map((alg) => ({ alg, ...keyPair(alg) }));
  const load = () =>
    loadSigningKeys({ keys: pairs.map(({ alg, privateKey }) => ({ key: privateKey, kid: `k-${alg}` })) });

  it('sign with each key in order, under a header of their own (CARD-09, CARD-10b)', async () => {
    const signatures = await (await load()).sign('päyload', { jku: 'https://a.example/jwks' });
    expect(signatures.map((signature) => decodeProtectedHeader(signature))).toEqual(
      pairs.map(({ alg }) => ({ alg, kid: `k-${alg}`, typ: 'JOSE', jku: 'https://a.example/jwks' })),
    );
    for (const [index, { publicKey }] of pairs.entries()) {
      const jws = { ...signatures[index]!, payload: Buffer.from('päyload').toString('base64url') };
      await expect(flattenedVerify(jws, publicKey)).resolves.toBeDefined();
    }
  });

  it('let no header name another algorithm or key', async () => {
    const header = { alg: 'none', kid: 'other' } as object;
    const [signature] = await (await load()).sign(new Uint8Array([1]), header);
    expect(decodeProtectedHeader(signature!)).toEqual({ alg: 'ES256', kid: 'k-ES256', typ: 'JOSE' });
  });

  it('make JWTs with the first key', async () => {
    const jwt = await (await load()).signJwt({ iss: 'a', n: 1 }, { jku: 'https://a.example/jwks' });
    expect(decodeProtectedHeader(jwt)).toEqual({
      alg: 'ES256',
      kid: 'k-ES256',
      typ: 'JWT',
      jku: 'https://a.example/jwks',
    });
    expect(decodeJwt(jwt)).toEqual({ iss: 'a', n: 1 });
    await expect(compactVerify(jwt, pairs[0]!.publicKey)).resolves.toBeDefined();
  });

  it('make no JWT when there are none', async () => {
    const none = await loadSigningKeys(undefined);
    expect(await none.sign('x')).toEqual([]);
    await expect(none.signJwt({})).rejects.toThrow('Set signing.keys');
  });

  it('show no private part, however one looks at them (CARD-11)', async () => {
    const keys = await load();
    const shown = JSON.stringify([keys, keys.jwks()]) + inspect(keys, { depth: 9, showHidden: true });
    for (const { privateKey } of pairs) expect(shown).not.toContain(jwkOf(privateKey).d);
    expect(keys.jwks().keys.every((key) => !('d' in key))).toBe(true);
  });
});
