import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { AgentCardSignature, JsonObject, JsonValue } from '#protocol';
import { forge, pinned, SIGNED_CARD } from '../../../test/support/signed-cards.js';
import { jwkOf, keyPair } from '../../../test/support/signing-keys.js';
import type { JwksFetch } from './jwks-fetch.js';
import type { TrustedJwk } from './jwk-set.js';
import { AgentCardVerificationError } from './verification-error.js';
import { verifyAgentCard, type VerifyAgentCardOptions } from './verify-agent-card.js';

const JKU = 'https://keys.example/jwks.json';
const { privateKey, publicKey } = keyPair('ES256');
const stranger = keyPair('ES256');
const header = { alg: 'ES256', kid: 'k', typ: 'JOSE' };
const good = forge(SIGNED_CARD, header, privateKey);
const remote = forge(SIGNED_CARD, { ...header, jku: JKU }, privateKey);
const trust = { keys: { keys: [pinned(publicKey, { kid: 'k' })] } };

const verify = (signatures: readonly unknown[], options: VerifyAgentCardOptions = trust) =>
  verifyAgentCard({ ...SIGNED_CARD, signatures: signatures as AgentCardSignature[] }, options);

async function refusal(...args: Parameters<typeof verify>): Promise<AgentCardVerificationError> {
  const error: unknown = await verify(...args).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AgentCardVerificationError);
  return error as AgentCardVerificationError;
}

/** A fetch of key sets that answers with these keys and writes down what it was asked. */
function keysAt(...keys: unknown[]): VerifyAgentCardOptions & { readonly asked: string[] } {
  const asked: string[] = [];
  const fetchJwks: JwksFetch = async (url) => {
    asked.push(url.href);
    return { keys };
  };
  return { asked, fetchJwks, jwksHosts: ['keys.example'] };
}

describe('a signature that is not as the specification has it (CARD-14, S-07)', () => {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const withHeader = (text: string): AgentCardSignature => forge(SIGNED_CARD, text, privateKey);

  it.each<[string, unknown]>([
    ['is null', null],
    ['is a text', 'e30.AA'],
    ['lacks its protected header', { signature: good.signature }],
    ['lacks the signature', { protected: good.protected }],
    ['has a signature that is no text', { ...good, signature: 5 }],
    ['has an empty signature', { ...good, signature: '' }],
    ['has a padded signature', { ...good, signature: `${good.signature}==` }],
    ['has a signature in the other alphabet', { ...good, signature: `+/${good.signature.slice(2)}` }],
    ['has white space in its signature', { ...good, signature: `${good.signature}\n` }],
    ['has a padded header', { ...good, protected: `${good.protected}=` }],
    ['has a header that is no JSON', { ...good, protected: encode('{') }],
    ['has a header that is a list', withHeader('[]')],
    ['has a header that is no UTF-8', { ...good, protected: Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url') }],
    ['names its algorithm twice', withHeader('{"alg":"none","alg":"ES256","kid":"k"}')],
    ['names its key twice', withHeader(String.raw`{"alg":"ES256","kid":"a","k\u0069d":"k"}`)],
    ['has no algorithm', withHeader('{"kid":"k"}')],
    ['has no kid', withHeader('{"alg":"ES256"}')],
    ['has an empty kid', withHeader('{"alg":"ES256","kid":""}')],
    ['has an algorithm that is a list', withHeader('{"alg":["ES256"],"kid":"k"}')],
    ['is a JWT', withHeader('{"alg":"ES256","kid":"k","typ":"JWT"}')],
    ['has a critical header', withHeader('{"alg":"ES256","kid":"k","crit":["exp"],"exp":1}')],
    ['has an empty list of critical headers', withHeader('{"alg":"ES256","kid":"k","crit":[]}')],
    ['has a payload that is not encoded', withHeader('{"alg":"ES256","kid":"k","b64":false}')],
    ['has a jku that is no text', withHeader('{"alg":"ES256","kid":"k","jku":{}}')],
    ['has an unprotected header that is no object', { ...good, header: 'x' }],
    ['has an unprotected algorithm beside the protected one', { ...good, header: { alg: 'none' } }],
    ['has an unprotected kid beside the protected one', { ...good, header: { kid: 'k' } }],
    ['has a critical unprotected header', { ...good, header: { crit: [] } }],
  ])('is refused: it %s', async (_what, signature) => {
    const error = await refusal([signature]);
    expect([error.code, error.failures.length]).toEqual(['malformed', 1]);
  });

  it('takes alg, kid and jku from the protected header alone', async () => {
    const bare = forge(SIGNED_CARD, { alg: 'ES256' }, privateKey);
    expect((await refusal([{ ...bare, header: { kid: 'k' } }])).code).toBe('malformed');
    const keys = keysAt(pinned(publicKey, { kid: 'k' }));
    expect((await refusal([{ ...good, header: { jku: JKU } }], keys)).code).toBe('untrusted_key');
    expect(keys.asked).toEqual([]);
    expect(await verify([{ ...good, header: { note: 1 } }])).toMatchObject({ kid: 'k' });
  });

  it('may leave typ out', async () => {
    expect(await verify([forge(SIGNED_CARD, { alg: 'ES256', kid: 'k' }, privateKey)])).toMatchObject({ kid: 'k' });
  });
});

describe('a card that is no card (CARD-14)', () => {
  it.each<[string, JsonValue]>([
    ['null', null],
    ['a list', []],
    ['without capabilities', { ...(SIGNED_CARD as unknown as JsonObject), capabilities: null }],
    ['with a lone surrogate', { ...(SIGNED_CARD as unknown as JsonObject), name: '\ud800' }],
    ['with signatures that are no list', { ...(SIGNED_CARD as unknown as JsonObject), signatures: {} }],
  ])('is malformed: %s', async (_what, card) => {
    await expect(verifyAgentCard(card as JsonObject, trust)).rejects.toMatchObject({ code: 'malformed' });
  });

  it('is one with more than sixteen signatures', async () => {
    const bad = forge(SIGNED_CARD, header, stranger.privateKey);
    expect(await verify([...Array.from({ length: 15 }, () => bad), good])).toMatchObject({ index: 15 });
    expect((await refusal([...Array.from({ length: 16 }, () => bad), good])).code).toBe('malformed');
  });
});

describe('a card with several signatures (CARD-14)', () => {
  it('is verified when one is good, and the result says which', async () => {
    const bad = forge(SIGNED_CARD, header, stranger.privateKey);
    const unknown = forge(SIGNED_CARD, { ...header, kid: 'other' }, stranger.privateKey);
    expect(await verify([null, unknown, bad, good])).toMatchObject({
      index: 3,
      kid: 'k',
      alg: 'ES256',
      source: 'pinned',
    });
  });

  it('is refused with the code of the one that came furthest, and says what is wrong with each', async () => {
    const bad = forge(SIGNED_CARD, header, stranger.privateKey);
    const unknown = forge(SIGNED_CARD, { ...header, kid: 'other' }, stranger.privateKey);
    const none = forge(SIGNED_CARD, { ...header, alg: 'none' }, privateKey);
    const error = await refusal([unknown, null, bad, none]);
    expect(error.code).toBe('bad_signature');
    expect(error.failures.map(({ index, code }) => [index, code])).toEqual([
      [0, 'untrusted_key'],
      [1, 'malformed'],
      [2, 'bad_signature'],
      [3, 'algorithm_not_allowed'],
    ]);
    expect((await refusal([none, unknown])).code).toBe('untrusted_key');
  });

  it('fetches nothing when a pinned key is enough', async () => {
    const keys = keysAt();
    const unknown = forge(SIGNED_CARD, { ...header, kid: 'other', jku: JKU }, stranger.privateKey);
    expect(await verify([unknown, good], { ...keys, ...trust })).toMatchObject({ index: 1, source: 'pinned' });
    expect(keys.asked).toEqual([]);
  });
});

describe('the key set of a trusted host (CARD-14, S-07)', () => {
  it('is read once for all signatures, and gives the key', async () => {
    const keys = keysAt(
      null,
      5,
      { kty: 5 },
      pinned(stranger.publicKey, { kid: 'other' }),
      pinned(publicKey, { kid: 'k' }),
    );
    const bad = forge(SIGNED_CARD, { ...header, kid: 'other', jku: `${JKU}#x` }, privateKey);
    const verified = await verify([bad, remote], keys);
    expect(verified).toMatchObject({ index: 1, kid: 'k', alg: 'ES256', source: 'jku', jku: JKU });
    expect(keys.asked).toEqual([JKU]);
  });

  it.each([['KEYS.example'], ['keys.example:443']])('is that of the host however it is written: %s', async (host) => {
    const keys = keysAt(pinned(publicKey, { kid: 'k' }));
    expect(await verify([remote], { ...keys, jwksHosts: [host] })).toMatchObject({ source: 'jku' });
  });

  it('counts with its port', async () => {
    const keys = keysAt(pinned(publicKey, { kid: 'k' }));
    const elsewhere = forge(SIGNED_CARD, { ...header, jku: 'https://keys.example:8443/' }, privateKey);
    expect((await refusal([elsewhere], keys)).code).toBe('untrusted_key');
    expect(await verify([elsewhere], { ...keys, jwksHosts: ['keys.example:8443'] })).toMatchObject({ source: 'jku' });
  });

  it.each(['https://keys.example', 'keys.example/', 'keys.example/jwks', '', 'user@keys.example', '*'])(
    'cannot be trusted by an entry that is no host: %j',
    async (host) => {
      const promise = verify([remote], { jwksHosts: [host], fetchJwks: keysAt().fetchJwks! });
      if (host === '*') await expect(promise).rejects.toMatchObject({ code: 'untrusted_key' });
      else await expect(promise).rejects.toThrow(TypeError);
    },
  );

  it('gives no key when it has none of the kid', async () => {
    expect((await refusal([remote], keysAt(pinned(publicKey, { kid: 'other' })))).code).toBe('untrusted_key');
    expect((await refusal([remote], keysAt())).code).toBe('untrusted_key');
  });

  it.each<[string, JwksFetch]>([
    ['fails', () => Promise.reject(new Error('down'))],
    [
      'throws',
      () => {
        throw new Error('refused');
      },
    ],
    ['answers null', async () => null],
    ['answers a list', async () => []],
    ['answers keys that are no list', async () => ({ keys: {} })],
  ])('is unavailable when the fetch %s', async (_what, fetchJwks) => {
    expect((await refusal([remote], { ...keysAt(), fetchJwks })).code).toBe('key_unavailable');
  });

  it('is given up when the caller gives up, or the time is over', async () => {
    const waiting: JwksFetch = (_url, signal) =>
      new Promise((_resolve, reject) => {
        const fail = (): void => {
          reject(new Error('aborted'));
        };
        if (signal.aborted) fail();
        else signal.addEventListener('abort', fail);
      });
    const options = { ...keysAt(), fetchJwks: waiting };
    expect((await refusal([remote], { ...options, signal: AbortSignal.abort() })).code).toBe('key_unavailable');
    expect((await refusal([remote], { ...options, fetchTimeoutMs: 1 })).code).toBe('key_unavailable');
  });
});

describe('a trusted key (CARD-14, S-07)', () => {
  const withKey = (more: Record<string, unknown>): VerifyAgentCardOptions => ({
    ...keysAt(pinned(publicKey, { kid: 'k' })),
    keys: { keys: [pinned(publicKey, { kid: 'k', ...more })] },
  });

  it.each([{ use: 'enc' }, { key_ops: ['sign'] }, { exp: 1 }, { revoked: { revoked_at: 1 } }])(
    'is not used when it says %j, and no key from elsewhere takes its place (§8.4.3)',
    async (more) => {
      expect((await refusal([remote], withKey(more))).code).toBe('untrusted_key');
    },
  );

  it.each([{ use: 'sig' }, { key_ops: ['verify'] }, { exp: 1e11 }, { alg: 'ES256' }])(
    'is used when it says %j',
    async (more) => {
      expect(await verify([remote], withKey(more))).toMatchObject({ source: 'pinned' });
    },
  );

  it.each([{ alg: 'ES384' }, { crv: 'P-384' }, { kty: 'oct', k: 'AA' }, { kty: 'RSA' }])(
    'is not used for an algorithm that it is not for: %j',
    async (more) => {
      expect((await refusal([good], withKey(more))).code).toBe('algorithm_not_allowed');
    },
  );

  it('makes no signature good when it is malformed', async () => {
    expect((await refusal([good], withKey({ y: jwkOf(publicKey).x }))).code).toBe('bad_signature');
    expect((await refusal([good], withKey({ x: 5 }))).code).toBe('bad_signature');
  });

  it('is used by its public members alone', async () => {
    expect(await verify([good], withKey({ d: 'AAAA', oth: [] }))).toMatchObject({ kid: 'k' });
  });

  it('may share its kid with another', async () => {
    const keys: TrustedJwk[] = [stranger.publicKey, keyPair('EdDSA').publicKey, publicKey].map((key) =>
      pinned(key, { kid: 'k' }),
    );
    expect(await verify([good], { keys: { keys } })).toMatchObject({ kid: 'k' });
  });

  it('is used with other algorithms only when they are allowed', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const signature = forge(SIGNED_CARD, { ...header, alg: 'RS256' }, (input) => sign('sha256', input, rsa.privateKey));
    const keys = { keys: [pinned(rsa.publicKey, { kid: 'k' })] };
    expect((await refusal([signature], { keys })).code).toBe('algorithm_not_allowed');
    expect(await verify([signature], { keys, algorithms: ['RS256'] })).toMatchObject({ alg: 'RS256' });
    expect((await refusal([good], { ...trust, algorithms: ['EdDSA'] })).code).toBe('algorithm_not_allowed');
  });
});
