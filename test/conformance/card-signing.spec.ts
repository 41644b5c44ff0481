import { generateAgentCardSignature, verifyAgentCardSignature, type AgentCard as PeerCard } from '@a2a-js/sdk';
import { createHmac, createPublicKey, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { AgentCardVerificationError, verifyAgentCard, type VerifyAgentCardOptions } from '#client';
import { canonicalAgentCard, encode, type AgentCard, type JsonObject } from '#protocol';
import { signCard } from '../../src/signing/card-signer.js';
import { loadSigningKeys } from '../../src/signing/load-signing-keys.js';
import { forge, pinned, SIGNED_CARD } from '../support/signed-cards.js';
import { jwkOf, keyPair, pemOf, SIGNING_ALGORITHMS } from '../support/signing-keys.js';

const JKU = 'https://keys.a.example/jwks.json';

/** What a client gets: the JSON of the card, read. */
const received = (card: AgentCard): JsonObject => JSON.parse(JSON.stringify(encode('AgentCard', card))) as JsonObject;

async function signed(...keys: { key: KeyObject; kid: string }[]): Promise<JsonObject> {
  return received(await signCard(await loadSigningKeys({ keys }), SIGNED_CARD, JKU));
}

/** Verifies by RFC 7515 with nothing but node:crypto: r||s for ECDSA, the payload put back in. */
function verifiesByItself(card: JsonObject, index: number, key: KeyObject): boolean {
  const { protected: header, signature } = (card['signatures'] as { protected: string; signature: string }[])[index]!;
  const input = Buffer.from(`${header}.${Buffer.from(canonicalAgentCard(card)).toString('base64url')}`);
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string };
  const bytes = Buffer.from(signature, 'base64url');
  if (alg === 'EdDSA') return verify(null, input, key, bytes);
  return verify(`sha${alg.slice(2)}`, input, { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

const peerVerifies = (card: JsonObject, keys: Record<string, KeyObject>): Promise<void> =>
  verifyAgentCardSignature(async (kid) => keys[kid]!)(card as unknown as PeerCard);

/** The code with which the card is refused. */
async function refusalOf(card: AgentCard | JsonObject, options: VerifyAgentCardOptions): Promise<string> {
  const error: unknown = await verifyAgentCard(card, options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AgentCardVerificationError);
  return (error as AgentCardVerificationError).code;
}

const neverFetch = (): never => {
  throw new Error('Nothing may be fetched');
};

describe('§8.4.2 the signature of a card', () => {
  it.each(SIGNING_ALGORITHMS)(
    'by %s is good for node:crypto, the SDK and our client (CARD-09, CARD-10b, B-99)',
    async (alg) => {
      const { privateKey, publicKey } = keyPair(alg);
      const card = await signed({ key: privateKey, kid: 'k' });
      const [signature] = card['signatures'] as { protected: string; signature: string }[];
      expect(JSON.parse(Buffer.from(signature!.protected, 'base64url').toString())).toEqual({
        alg,
        kid: 'k',
        typ: 'JOSE',
        jku: JKU,
      });
      expect(Object.keys(signature!)).toEqual(['protected', 'signature']);
      expect(verifiesByItself(card, 0, publicKey)).toBe(true);
      await peerVerifies(card, { k: publicKey });
      const verified = await verifyAgentCard(card, { keys: { keys: [pinned(publicKey, { kid: 'k' })] } });
      expect(verified).toMatchObject({ kid: 'k', alg, source: 'pinned', index: 0 });
    },
  );

  it('is there once for each key, and each is good by itself (CARD-10b)', async () => {
    const [one, two] = [keyPair('ES256'), keyPair('EdDSA')];
    const card = await signed({ key: one.privateKey, kid: 'new' }, { key: two.privateKey, kid: 'old' });
    expect(card['signatures']).toHaveLength(2);
    expect(verifiesByItself(card, 0, one.publicKey)).toBe(true);
    expect(verifiesByItself(card, 1, two.publicKey)).toBe(true);
    for (const [index, [kid, { publicKey }]] of [['new', one] as const, ['old', two] as const].entries()) {
      const keys = { keys: [pinned(publicKey, { kid })] };
      expect(await verifyAgentCard(card, { keys })).toMatchObject({ kid, index });
      const alone = { ...card, signatures: [(card['signatures'] as JsonObject[])[index]!] };
      expect(await verifyAgentCard(alone, { keys })).toMatchObject({ kid, index: 0 });
      await peerVerifies(alone, { [kid]: publicKey });
    }
  });

  it('covers the card as it is sent, unset capabilities too, and replaces those that were there (B-99)', async () => {
    const { privateKey, publicKey } = keyPair('ES256');
    const keys = await loadSigningKeys({ keys: [{ key: privateKey, kid: 'k' }] });
    const once = await signCard(keys, SIGNED_CARD);
    expect(once.capabilities).toMatchObject({ streaming: false, pushNotifications: false });
    const twice = await signCard(keys, once);
    expect(twice.signatures).toHaveLength(1);
    const { card } = await verifyAgentCard(received(twice), { keys: { keys: [pinned(publicKey, { kid: 'k' })] } });
    expect(card).toEqual(encode('AgentCard', SIGNED_CARD));
  });

  it('is not there without keys (CARD-11)', async () => {
    const card = await signCard(await loadSigningKeys(undefined), { ...SIGNED_CARD, signatures: [] }, JKU);
    expect(card).not.toHaveProperty('signatures');
  });

  it('comes with a key set that verifies it and holds nothing private (CARD-11)', async () => {
    const keys = await loadSigningKeys({ keys: SIGNING_ALGORITHMS.map((alg) => pemOf(keyPair(alg).privateKey)) });
    const set = JSON.parse(JSON.stringify(keys.jwks())) as ReturnType<typeof keys.jwks>;
    const members = new Set(set.keys.flatMap((key) => Object.keys(key)));
    expect([...members].sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const card = received(await signCard(keys, SIGNED_CARD, JKU));
    const options = { jwksHosts: ['keys.a.example'], fetchJwks: async () => set };
    expect(await verifyAgentCard(card, options)).toMatchObject({ source: 'jku', jku: JKU, kid: set.keys[0]!.kid });
    for (const [index, jwk] of set.keys.entries()) {
      expect(verifiesByItself(card, index, createPublicKey({ key: { ...jwk }, format: 'jwk' }))).toBe(true);
    }
  });
});

describe('§8.4.3 the verification of a card', () => {
  const { privateKey, publicKey } = keyPair('ES256');
  const trust = { keys: { keys: [pinned(publicKey, { kid: 'k' })] }, fetchJwks: neverFetch };
  const header = { alg: 'ES256', kid: 'k', typ: 'JOSE' };

  it.each(SIGNING_ALGORITHMS)('takes what the SDK signed with %s (CARD-14, CONF-36)', async (alg) => {
    const pair = keyPair(alg);
    const sign = generateAgentCardSignature(pair.privateKey, { alg, kid: 'peer', typ: 'JOSE' });
    const card = JSON.parse(
      JSON.stringify(await sign(encode('AgentCard', SIGNED_CARD) as unknown as PeerCard)),
    ) as JsonObject;
    const keys = { keys: [pinned(pair.publicKey, { kid: 'peer' })] };
    expect(await verifyAgentCard(card, { keys })).toMatchObject({ kid: 'peer', alg, source: 'pinned' });
  });

  it('gives back what is signed, without fields that the schema does not know (CARD-14, §5.7)', async () => {
    const card = { ...(await signed({ key: privateKey, kid: 'k' })), vendor: { trust: 'me' } };
    const { card: verified } = await verifyAgentCard(card, trust);
    expect(verified).toEqual(encode('AgentCard', SIGNED_CARD));
    expect(verified).not.toHaveProperty('vendor');
    await peerVerifies(card, { k: publicKey });
  });

  it('knows a pinned key without kid by its thumbprint (CARD-10a)', async () => {
    const keys = await loadSigningKeys({ keys: [privateKey] });
    const card = received(await signCard(keys, SIGNED_CARD));
    expect(await verifyAgentCard(card, { keys: { keys: [pinned(publicKey)] } })).toMatchObject({
      kid: keys.jwks().keys[0]!.kid,
    });
  });

  it('fails when one byte of the card, the header or the signature is another (CARD-14)', async () => {
    const card = await signed({ key: privateKey, kid: 'k' });
    const text = JSON.stringify(card);
    for (const [from, to] of [
      ['Answers.', 'Answers!'],
      ['"streaming":false', '"streaming":true'],
      ['"pushNotifications":false,', ''],
      ['"list":["read"]', '"list":["reae"]'],
      ['"z":[1,false]', '"z":[1,true]'],
      ['😀', '😁'],
    ] as const) {
      expect(text).toContain(from);
      expect(await refusalOf(JSON.parse(text.replace(from, to)) as JsonObject, trust)).toBe('bad_signature');
    }
    const [good] = card['signatures'] as { protected: string; signature: string }[];
    const bytes = Buffer.from(good!.signature, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      const signatures = [{ ...good!, signature: changed.toString('base64url') }];
      expect(await refusalOf({ ...card, signatures }, trust)).toBe('bad_signature');
    }
    const moved = Buffer.from(JSON.stringify({ ...header, jku: 'https://keys.b.example/' })).toString('base64url');
    expect(await refusalOf({ ...card, signatures: [{ ...good!, protected: moved }] }, trust)).toBe('bad_signature');
  });

  describe('refuses (S-07)', () => {
    const attacker = keyPair('ES256');

    it('a card whose signatures were taken off', async () => {
      const { signatures: _signatures, ...card } = await signed({ key: privateKey, kid: 'k' });
      expect(await refusalOf(card, trust)).toBe('unsigned');
      expect(await refusalOf({ ...card, signatures: [] }, trust)).toBe('unsigned');
    });

    it.each([
      'https://attacker.example/jwks.json',
      'http://keys.a.example/jwks.json',
      'https://keys.a.example:8443/jwks.json',
      'https://keys.a.example.attacker.example/jwks.json',
      'https://keys.a.example@attacker.example/jwks.json',
      'https://user:pass@keys.a.example/jwks.json',
      'https://a.example/jwks.json',
      'https://127.0.0.1/jwks.json',
      'file:///etc/passwd',
      '/jwks.json',
    ])('a signer that brings its own jku, which is never fetched: %s', async (jku) => {
      const signatures = [forge(SIGNED_CARD, { ...header, kid: 'evil', jku }, attacker.privateKey)];
      const options = { ...trust, jwksHosts: ['keys.a.example'] };
      expect(await refusalOf({ ...SIGNED_CARD, signatures }, options)).toBe('untrusted_key');
    });

    it('a signer that brings its own key in the header', async () => {
      const jwk = jwkOf(attacker.publicKey);
      const signatures = [
        forge(SIGNED_CARD, { ...header, kid: 'evil', jwk }, attacker.privateKey),
        forge(SIGNED_CARD, { ...header, jwk }, attacker.privateKey),
      ];
      expect(await refusalOf({ ...SIGNED_CARD, signatures: [signatures[0]!] }, trust)).toBe('untrusted_key');
      expect(await refusalOf({ ...SIGNED_CARD, signatures: [signatures[1]!] }, trust)).toBe('bad_signature');
    });

    it.each(['none', 'None', ''])('the algorithm %j', async (alg) => {
      const unsigned = { ...forge(SIGNED_CARD, { ...header, alg }, attacker.privateKey) };
      expect(await refusalOf({ ...SIGNED_CARD, signatures: [unsigned] }, trust)).toBe('algorithm_not_allowed');
      // Without a signature it is none in the first place.
      expect(await refusalOf({ ...SIGNED_CARD, signatures: [{ ...unsigned, signature: '' }] }, trust)).toBe(
        'malformed',
      );
    });

    it.each(['RSA', 'EC'] as const)('a public %s key used as the secret of HS256', async (kind) => {
      const key = kind === 'EC' ? publicKey : generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
      const keys = { keys: [pinned(key, { kid: 'k' })] };
      for (const secret of [key.export({ format: 'pem', type: 'spki' }), JSON.stringify(jwkOf(key))]) {
        const hmac = (input: Buffer): Buffer => createHmac('sha256', secret).update(input).digest();
        const signatures = [forge(SIGNED_CARD, { ...header, alg: 'HS256' }, hmac)];
        expect(await refusalOf({ ...SIGNED_CARD, signatures }, { keys })).toBe('algorithm_not_allowed');
        const algorithms = ['HS256'] as unknown as ['ES256'];
        await expect(verifyAgentCard({ ...SIGNED_CARD, signatures }, { keys, algorithms })).rejects.toThrow(TypeError);
      }
    });

    it('an algorithm that does not fit the trusted key', async () => {
      const signatures = [forge(SIGNED_CARD, { ...header, alg: 'ES384' }, attacker.privateKey)];
      expect(await refusalOf({ ...SIGNED_CARD, signatures }, trust)).toBe('algorithm_not_allowed');
    });

    it('another key of the same kid, at a trusted host too', async () => {
      const jku = 'https://keys.a.example/jwks.json';
      const signatures = [forge(SIGNED_CARD, { ...header, jku }, attacker.privateKey)];
      const options = { ...trust, jwksHosts: ['keys.a.example'] };
      expect(await refusalOf({ ...SIGNED_CARD, signatures }, options)).toBe('bad_signature');
    });

    it('a signature over another canonical form', async () => {
      const card = encode('AgentCard', { ...SIGNED_CARD, description: '' });
      const { signatures: _none, ...content } = card;
      const withoutEmpty = canonicalAgentCard(card).replace('"description":"",', '');
      for (const payload of [JSON.stringify(content), withoutEmpty, `${canonicalAgentCard(card)}\n`]) {
        const signatures = [forge(SIGNED_CARD, header, privateKey, payload)];
        expect(await refusalOf({ ...card, signatures } as unknown as JsonObject, trust)).toBe('bad_signature');
      }
      const good = [forge(SIGNED_CARD, header, privateKey, canonicalAgentCard(card))];
      await expect(
        verifyAgentCard({ ...card, signatures: good } as unknown as JsonObject, trust),
      ).resolves.toBeDefined();
    });

    it('a signature of another card', async () => {
      const other = await signed({ key: privateKey, kid: 'k' });
      const card = { ...received({ ...SIGNED_CARD, name: 'Another' }), signatures: other['signatures']! };
      expect(await refusalOf(card, trust)).toBe('bad_signature');
    });

    it('every card when nobody is trusted', async () => {
      expect(await refusalOf(await signed({ key: privateKey, kid: 'k' }), {})).toBe('untrusted_key');
    });
  });
});
