import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AGENT_CARD_PATH, type AgentCard, type CardOptions, type SkillDefinition } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { PINNED, read } from '../support/card.js';
import { exchangeRaw, postBytes } from '../support/http-client.js';
import { ManualClock } from '../support/manual-clock.js';
import { EchoSkill } from '../support/wire-skills.js';

const NOON = Date.parse('2026-03-01T12:00:00.700Z');
const NOON_DATE = 'Sun, 01 Mar 2026 12:00:00 GMT';

/** An application of that many skills, and a count of how often its card's options were read. */
function countedOptions(skills: number) {
  let built = 0;
  const card: CardOptions = {
    ...PINNED,
    get provider() {
      built += 1;
      return { organization: 'Example', url: 'https://example.com' };
    },
  };
  const definitions = Array.from({ length: skills }, (_, index): SkillDefinition => ({
    id: `skill-${index}`,
    description: 'Does what the other ones do.',
    scopes: ['a', 'b'],
    handler: () => 'done',
  }));
  return { options: { card, skills: definitions }, built: () => built };
}

describe.each(ADAPTERS)('the card on %s, asked for again,', (adapter) => {
  let agent: Agent | undefined;
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
  });
  const start = async (setup: Omit<AgentSetup, 'adapter'> = {}) => {
    agent = await startAgent({ adapter, skills: [EchoSkill], options: { card: PINNED }, ...setup });
    return agent;
  };
  const startWith = (card: Partial<CardOptions>) => start({ options: { card: { ...PINNED, ...card } } });

  it('says for how long it may be kept, and by what it is known again (CARD-06, CONF-20, B-101)', async () => {
    const { url } = await start();
    const { headers, text } = await read(url);
    expect(headers['cache-control']).toBe('public, max-age=60');
    expect(headers['etag']).toBe(`"${createHash('sha256').update(text).digest('base64url')}"`);
    expect(headers['vary']).toBeUndefined();
  });

  it.each([
    [300, 300],
    [1.9, 1],
    [0, 60],
    [-1, 60],
    [NaN, 60],
    [Infinity, 2_147_483_647],
  ])('may be kept for maxAgeSeconds: %d is %d (CARD-06)', async (maxAgeSeconds, seconds) => {
    const { url } = await startWith({ maxAgeSeconds });
    expect((await read(url)).headers['cache-control']).toBe(`public, max-age=${seconds}`);
  });

  it.each([
    ['its tag', (etag: string) => etag],
    ['its tag made weak by a proxy', (etag: string) => `W/${etag}`],
    ['its tag among others', (etag: string) => `"other", W/"third" ,${etag}`],
    ['whatever it is', () => '*'],
  ])('answers 304 to a client that has %s (CARD-06, B-101)', async (_name, tags) => {
    const { url } = await start();
    const { headers } = await read(url);
    const again = await read(url, { 'if-none-match': tags(headers['etag']!) });
    expect([again.status, again.text]).toEqual([304, '']);
    for (const name of ['cache-control', 'etag', 'last-modified', 'access-control-allow-origin']) {
      expect([name, again.headers[name]]).toEqual([name, headers[name]]);
    }
    expect(again.headers).not.toHaveProperty('content-length');
    expect(again.headers).not.toHaveProperty('transfer-encoding');
    expect(again.headers).not.toHaveProperty('content-type');
  });

  it('takes the tags of several header lines together (CARD-06)', async () => {
    const { url } = await start();
    const { etag } = (await read(url)).headers;
    expect((await read(url, { 'if-none-match': ['"other"', etag!] })).status).toBe(304);
  });

  it.each(['"other"', 'unquoted', '', '"*"', 'W/', '"unclosed'])(
    'answers with the card to a client that has something else: %j (CARD-06)',
    async (tags) => {
      const { url } = await start();
      expect((await read(url, { 'if-none-match': tags })).status).toBe(200);
    },
  );

  it('is another one when its content is another (CARD-06)', async () => {
    const { url } = await start();
    const { etag } = (await read(url)).headers;
    await agent?.close();
    const next = await startWith({ version: '1.0.1' });
    expect((await read(next.url, { 'if-none-match': etag })).status).toBe(200);
    await agent?.close();
    const same = await start();
    expect((await read(same.url, { 'if-none-match': etag })).status).toBe(304);
  });

  it('says since when, and believes a date only where there is no tag (CARD-06)', async () => {
    const clock = new ManualClock(NOON);
    const { url } = await start({ options: { card: PINNED, clock } });
    expect((await read(url)).headers['last-modified']).toBe(NOON_DATE);
    clock.advance(3_600_000);
    expect((await read(url)).headers['last-modified']).toBe(NOON_DATE);
    const statusOf = async (since: string, tags?: string) =>
      (await read(url, { 'if-modified-since': since, ...(tags !== undefined && { 'if-none-match': tags }) })).status;
    expect(await statusOf(NOON_DATE)).toBe(304);
    expect(await statusOf('Sunday, 01-Mar-26 12:00:00 GMT')).toBe(304);
    expect(await statusOf('Sun Mar  1 12:00:00 2026')).toBe(304);
    // Another replica, or another card in between: not this one.
    expect(await statusOf('Sun, 01 Mar 2026 13:00:00 GMT')).toBe(200);
    expect(await statusOf('Sun, 01 Mar 2026 11:59:59 GMT')).toBe(200);
    expect(await statusOf('Sun Mar  1 11:59:59 2026')).toBe(200);
    expect(await statusOf('2027-01-01')).toBe(200);
    expect(await statusOf('Sun, 99 Foo')).toBe(200);
    expect(await statusOf(NOON_DATE, '"other"')).toBe(200);
  });

  it('shows its head alone to HEAD (CARD-06, §8.2)', async () => {
    const { url } = await start();
    const [whole, head] = [await read(url), await read(url, {}, AGENT_CARD_PATH, 'HEAD')];
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'last-modified']) {
      expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
    }
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(whole.text)));
    const known = await read(url, { 'if-none-match': whole.headers['etag'] }, AGENT_CARD_PATH, 'HEAD');
    expect(known.status).toBe(304);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('can only be read, and tells so to %s (CARD-01a)', async (method) => {
    const { url } = await start();
    const refused = await read(url, {}, AGENT_CARD_PATH, method);
    expect(refused.status).toBe(405);
    expect(refused.headers).toMatchObject({ allow: 'GET, HEAD', 'cache-control': 'no-store' });
    const path = { path: AGENT_CARD_PATH };
    expect((await postBytes(url, '{"a":1}', path)).status).toBe(405);
    const typed = await postBytes(url, 'x', { ...path, headers: { 'content-type': 'text/x-unknown' } });
    expect(typed.status).toBe(405);
  });

  it('does not end the connection by which it was asked for (CARD-06)', async () => {
    const { url } = await start();
    const { etag } = (await read(url)).headers;
    const request = `GET ${AGENT_CARD_PATH} HTTP/1.1\r\nHost: x\r\nIf-None-Match: ${etag!}\r\n`;
    const text = await exchangeRaw(url, `${request}\r\n${request}Connection: close\r\n\r\n`);
    expect(text.match(/^HTTP\/1\.1 304/gmu)).toHaveLength(2);
  });

  describe('by a page of another origin', () => {
    const ORIGIN = { origin: 'https://app.example.com' };

    it('may be read, its tag included (CARD-01a)', async () => {
      const { url } = await start();
      const { headers } = await read(url, ORIGIN);
      expect(headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'ETag',
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    });

    it('may be read with headers of the protocol, after a preflight (CARD-01a)', async () => {
      const { url } = await start();
      const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'a2a-version' };
      const { status, headers } = await read(url, { ...ORIGIN, ...asked }, AGENT_CARD_PATH, 'OPTIONS');
      expect(status).toBe(204);
      expect(headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': '*',
      });
    });

    it('is left to the CORS of the host where there is one (R-28)', async () => {
      const { url } = await start({
        configure: (app) => {
          app.enableCors({ origin: 'https://app.example.com', credentials: true });
        },
      });
      const { headers } = await read(url, ORIGIN);
      expect(headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example.com',
        'access-control-allow-credentials': 'true',
      });
      expect(headers).not.toHaveProperty('access-control-expose-headers');
    });

    it('is left to it also for the origins that it refuses (R-28)', async () => {
      const { url } = await start({
        configure: (app) => {
          app.enableCors({ origin: ['https://one.example.com', 'https://two.example.com'], credentials: true });
        },
      });
      const { status, headers } = await read(url, ORIGIN);
      expect(status).toBe(200);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    });
  });

  describe('by an application of 500 skills', () => {
    it('is built once: a second answer and a 304 build nothing (CARD-06)', async () => {
      const { options, built } = countedOptions(500);
      const { url } = await start({ options });
      const first = await read(url);
      expect(first.body.skills).toHaveLength(501);
      const before = built();
      const second = await read(url);
      expect(second.text).toBe(first.text);
      const { etag } = first.headers;
      expect((await read(url, { 'if-none-match': etag })).status).toBe(304);
      expect((await read(url, {}, AGENT_CARD_PATH, 'HEAD')).status).toBe(200);
      expect(built()).toBe(before);
    });

    it('is built again for another base only, and many hosts do not fill the memory (S-16)', async () => {
      const { options, built } = countedOptions(1);
      const { url: _url, ...card } = options.card;
      Object.defineProperty(card, 'provider', { get: Object.getOwnPropertyDescriptor(options.card, 'provider')!.get! });
      const { url } = await start({ options: { ...options, card } });
      const visit = (host: string) => read(url, { host });
      await visit('one.example');
      const once = built();
      await visit('one.example');
      expect(built()).toBe(once);
      await visit('two.example');
      const twice = built();
      expect(twice).toBeGreaterThan(once);
      for (let index = 0; index < 20; index++) await visit(`host-${index}.example`);
      const before = built();
      await visit('host-19.example');
      expect(built()).toBe(before);
      await visit('one.example');
      expect(built()).toBeGreaterThan(before);
    });
  });

  describe('with a hook that makes a card for each request', () => {
    const forRequest = (card: AgentCard, request: { headers: Record<string, string | undefined> }): AgentCard => ({
      ...card,
      description: `For ${request.headers['x-user'] ?? 'nobody'}.`,
    });

    it('is what the hook makes of it, and kept by no shared cache (S-15, CARD-06)', async () => {
      const { url } = await startWith({ forRequest });
      const [alice, nobody] = [await read(url, { 'x-user': 'alice' }), await read(url)];
      expect([alice.body.description, nobody.body.description]).toEqual(['For alice.', 'For nobody.']);
      expect(alice.headers).toMatchObject({ 'cache-control': 'private, no-cache' });
      expect(alice.headers).not.toHaveProperty('last-modified');
      expect(alice.headers).not.toHaveProperty('access-control-allow-origin');
      const { etag } = alice.headers;
      expect((await read(url, { 'x-user': 'alice', 'if-none-match': etag })).status).toBe(304);
      expect((await read(url, { 'if-none-match': etag })).status).toBe(200);
    });

    it('is given a card of its own to change (S-15)', async () => {
      const { url } = await startWith({
        provider: { organization: 'Example', url: 'https://example.com' },
        forRequest: (card) => {
          card.skills.push({ id: 'added', name: 'added', description: 'added', tags: [] });
          card.provider!.organization += '!';
          return Promise.resolve(card);
        },
      });
      await read(url);
      const { body } = await read(url);
      expect(body.skills).toHaveLength(2);
      expect(body.provider.organization).toBe('Example!');
    });

    it.each([
      ['fails', () => Promise.reject(new Error('secret'))],
      ['makes what is no card', () => ({}) as AgentCard],
    ])('tells nobody how it %s (S-15)', async (_name, failing) => {
      const { url } = await startWith({ forRequest: failing });
      const { status, text } = await read(url);
      expect([status, text]).toEqual([500, '{"statusCode":500,"message":"Internal server error"}']);
    });
  });
});
