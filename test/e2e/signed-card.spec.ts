import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentCard as PeerCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { afterEach, describe, expect, it } from '@jest/globals';
import { importJWK, type JWK } from 'jose';
import { A2AConfigurationError, httpBearer, type AgentCard, type SigningOptions } from 'nestjs-a2a';
import { verifyAgentCard, type JwkSet } from 'nestjs-a2a/client';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { PINNED, PUBLIC, read } from '../support/card.js';
import { jwkOf, keyPair, pemOf } from '../support/signing-keys.js';
import { EchoSkill } from '../support/wire-skills.js';

const JWKS_PATH = '/.well-known/jwks.json';

const ecKey = () => jwkOf(keyPair('ES256').privateKey);

describe.each(ADAPTERS)('the signed card on %s', (adapter) => {
  let agent: Agent | undefined;
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
  });
  const start = async (signing: SigningOptions | undefined, options: AgentSetup['options'] = {}) => {
    const withSigning = signing && { signing };
    agent = await startAgent({ adapter, skills: [EchoSkill], options: { card: PINNED, ...withSigning, ...options } });
    return agent;
  };
  const cardOf = async ({ url }: Agent) => (await read(url)).body as AgentCard;
  const keysOf = async ({ url }: Agent) => (await read(url, {}, JWKS_PATH)).body as JwkSet & { keys: JWK[] };

  it('verifies with the keys that the agent publishes, here and with the official client (CARD-09, CARD-10b, CARD-11)', async () => {
    const started = await start({ keys: [ecKey(), pemOf(keyPair('EdDSA').privateKey)] });
    const [card, keys] = [await cardOf(started), await keysOf(started)];
    expect(card.signatures).toHaveLength(2);
    for (const [index, key] of keys.keys.entries()) {
      const { kid, alg = '' } = key as { readonly kid?: string; readonly alg?: string };
      const one = { ...card, signatures: [card.signatures![index]!] };
      expect(await verifyAgentCard(one, { keys })).toMatchObject({ kid, alg, source: 'pinned' });
      const peer = PeerCard.fromJSON(one);
      await verifyAgentCardSignature(async (asked) => {
        expect(asked).toBe(kid);
        return (await importJWK(key, alg)) as never;
      })(peer);
    }
  });

  it('leads to its keys by jku, below the URL that is configured (CARD-09)', async () => {
    const started = await start({ keys: [ecKey()] });
    const card = await cardOf(started);
    const header = JSON.parse(Buffer.from(card.signatures![0]!.protected, 'base64url').toString()) as JWK;
    expect(header).toEqual({ alg: 'ES256', typ: 'JOSE', kid: expect.any(String), jku: PUBLIC + JWKS_PATH });
    const verified = await verifyAgentCard(card, {
      jwksHosts: [new URL(PUBLIC).host],
      fetchJwks: async ({ pathname }) => (await read(started.url, {}, pathname)).body,
    });
    expect(verified).toMatchObject({ source: 'jku', jku: PUBLIC + JWKS_PATH });
  });

  it('publishes public keys alone, at the root of the domain, to be cached (CARD-11)', async () => {
    const key = ecKey();
    agent = await startAgent({
      adapter,
      skills: [EchoSkill],
      options: { card: PINNED, signing: { keys: [key] } },
      configure: (app) => void app.setGlobalPrefix('api'),
    });
    const { status, headers, text, body } = await read(agent.url, {}, JWKS_PATH);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/jwk-set+json');
    expect(headers['cache-control']).toMatch(/^public, max-age=\d+$/u);
    expect(body).toEqual({
      keys: [{ kty: 'EC', crv: 'P-256', x: key.x, y: key.y, kid: expect.any(String), alg: 'ES256', use: 'sig' }],
    });
    expect(text).not.toContain(String(key['d']));
    const again = await read(agent.url, { 'if-none-match': headers['etag'] }, JWKS_PATH);
    expect(again.status).toBe(304);
  });

  it('is there without signatures, and without keys, when nothing is configured (CARD-11)', async () => {
    const started = await start(undefined);
    expect(await cardOf(started)).not.toHaveProperty('signatures');
    expect((await read(started.url, {}, JWKS_PATH)).status).toBe(404);
  });

  it('stays the same for all who ask, though signatures of equal cards differ (CARD-06, CARD-10b)', async () => {
    const started = await start({ keys: [ecKey()] });
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => read(started.url)));
    for (const other of others)
      expect([other.text, other.headers['etag']]).toEqual([first!.text, first!.headers['etag']]);
  });

  it('has one tag on all replicas, though each signs for itself, and another one for another card or key (CARD-06, B-101)', async () => {
    const key = ecKey();
    const tagOf = async (keys: (typeof key)[], card: typeof PINNED = PINNED) => {
      const started = await startAgent({ adapter, skills: [EchoSkill], options: { card, signing: { keys } } });
      const { text, headers } = await read(started.url);
      const again = await read(started.url, { 'if-none-match': `"x", ${headers['etag']}` });
      expect(again.status).toBe(304);
      await started.close();
      return { text, tag: headers['etag'] };
    };
    const [one, two] = [await tagOf([key]), await tagOf([key])];
    expect(one.tag).toMatch(/^W\/"[\w-]{43}"$/u);
    expect(two.tag).toBe(one.tag);
    expect(two.text).not.toBe(one.text);
    expect((await tagOf([ecKey()])).tag).not.toBe(one.tag);
    expect((await tagOf([key], { ...PINNED, description: 'Another.' } as never)).tag).not.toBe(one.tag);
  });

  it('names its keys below `card.url`, else at the first interface of HTTP, and never at a host that a request names (CARD-09)', async () => {
    const interfaces = [
      { url: 'grpc.example.com:443', protocolBinding: 'GRPC' },
      { url: 'https://gate.example.com/agents/7/a2a' },
    ];
    const { url: _url, ...card } = PINNED;
    const jkuOf = async (options: object) => {
      const started = await startAgent({
        adapter,
        skills: [EchoSkill],
        options: { card: { ...card, ...options }, signing: { keys: [ecKey()] } },
      });
      const [signature] = (await cardOf(started)).signatures!;
      await started.close();
      return (JSON.parse(Buffer.from(signature!.protected, 'base64url').toString()) as { jku?: string }).jku;
    };
    expect(await jkuOf({ interfaces })).toBe(`https://gate.example.com${JWKS_PATH}`);
    expect(await jkuOf({ interfaces, url: PUBLIC })).toBe(PUBLIC + JWKS_PATH);
    expect(await jkuOf({ interfaces: interfaces.slice(0, 1) })).toBeUndefined();
  });

  it('is signed for the URL that a function gives, and anew for another one (CARD-08b)', async () => {
    let base = 'https://one.example.com';
    const started = await start({ keys: [ecKey()] }, { card: { ...PINNED, url: async () => base } });
    const keys = await keysOf(started);
    for (base of ['https://one.example.com', 'https://two.example.com/below']) {
      const card = await cardOf(started);
      expect(card.supportedInterfaces[0]?.url).toBe(`${base}/a2a`);
      await verifyAgentCard(card, { keys });
    }
  });

  it('is signed as a hook made it for one request', async () => {
    const forRequest = (card: AgentCard) => ({ ...card, description: 'Ünïque.' });
    const started = await start({ keys: [ecKey()] }, { card: { ...PINNED, forRequest } });
    const card = await cardOf(started);
    expect((await verifyAgentCard(card, { keys: await keysOf(started) })).card.description).toBe('Ünïque.');
  });

  it('verifies when it demands a token for which no scopes are named (CARD-04, CARD-09)', async () => {
    const started = await start({ keys: [ecKey()] }, { card: { ...PINNED, security: { bearer: httpBearer('JWT') } } });
    const { card } = await verifyAgentCard(await cardOf(started), { keys: await keysOf(started) });
    expect(card.securityRequirements).toHaveLength(1);
  });

  it('fails the check when one word of it was changed on the way (CARD-14)', async () => {
    const started = await start({ keys: [ecKey()] });
    const card = { ...(await cardOf(started)), description: 'Another.' };
    await expect(verifyAgentCard(card, { keys: await keysOf(started) })).rejects.toMatchObject({
      code: 'bad_signature',
    });
  });
});

describe('The keys of a signed card', () => {
  const boot = async (signing: SigningOptions, card: object = PINNED) => {
    const agent = await startAgent({ skills: [EchoSkill], options: { card: card as typeof PINNED, signing } });
    await agent.close();
  };

  it('demand a URL that no request can choose (CARD-08b)', async () => {
    const { url: _url, ...card } = PINNED;
    await expect(boot({ keys: [ecKey()] }, card)).rejects.toThrow(A2AConfigurationError);
    await expect(boot({ keys: [ecKey()] }, card)).rejects.toThrow(/Set `card\.url`/u);
    const interfaces = [{ url: 'https://gate.example.com/agents/a2a' }];
    await boot({ keys: [ecKey()] }, { ...card, interfaces });
  });

  it('fail the boot of a card that has no canonical form (CARD-09)', async () => {
    await expect(boot({ keys: [ecKey()] }, { ...PINNED, description: 'half \ud800' })).rejects.toThrow(
      /cannot be served/u,
    );
  });

  it('come from files, factories and options, and fail the boot when they cannot be used (CARD-08a)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-a2a-keys-'));
    const file = join(folder, 'key.pem');
    writeFileSync(file, pemOf(keyPair('ES384').privateKey));
    await boot({ keys: [{ file }] });
    await boot({ keys: async () => [{ key: ecKey(), kid: 'new' }, { file }] });
    rmSync(folder, { recursive: true });
    await expect(boot({ keys: [{ file }] })).rejects.toThrow(/key\.pem/u);
    await expect(boot({ keys: [] })).rejects.toThrow(A2AConfigurationError);
    await expect(boot({ keys: [ecKey(), null as never] })).rejects.toThrow(/Signing key 2/u);
    const same = ecKey();
    await expect(boot({ keys: [same, same] })).rejects.toThrow(/kid of another/u);
  });
});
