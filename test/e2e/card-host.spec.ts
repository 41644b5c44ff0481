import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { AGENT_CARD_PATH } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { PINNED, PUBLIC, read, readRaw, urlsOf } from '../support/card.js';
import { jwkOf, keyPair } from '../support/signing-keys.js';
import { EchoSkill } from '../support/wire-skills.js';

const EVIL = 'evil.example';

/** What a client, or whoever stands between, may claim about where a request was sent to: target and headers. */
const CLAIMS: readonly (readonly [target: string, ...headers: string[]])[] = [
  ...['', ':80', ':65536', ':x', '.', '..', '/x', '@x', '"<b>', ' x', '%0d%0a', "'", ',other.example', '#', '?'].map(
    (suffix) => [AGENT_CARD_PATH, `Host: ${EVIL}${suffix}`] as const,
  ),
  [AGENT_CARD_PATH, 'Host: [::1]:3000'],
  [AGENT_CARD_PATH, 'Host: [::g]'],
  [AGENT_CARD_PATH, 'Host: 127.0.0.1'],
  [AGENT_CARD_PATH, 'Host: localhost'],
  [AGENT_CARD_PATH, 'Host: AGENT.EXAMPLE.COM'],
  [AGENT_CARD_PATH, 'Host:'],
  [AGENT_CARD_PATH, 'Host: x', `Host: ${EVIL}`],
  [AGENT_CARD_PATH, 'Host: x', `X-Forwarded-Host: ${EVIL}`],
  [AGENT_CARD_PATH, 'Host: x', `X-Forwarded-Host: ${EVIL}, other.example`],
  [AGENT_CARD_PATH, 'Host: x', `X-Forwarded-Host: ${EVIL}`, 'X-Forwarded-Host: other.example'],
  [AGENT_CARD_PATH, 'Host: x', 'X-Forwarded-Proto: http'],
  [AGENT_CARD_PATH, 'Host: x', 'X-Forwarded-Proto: javascript'],
  [AGENT_CARD_PATH, 'Host: x', 'X-Forwarded-Port: 444'],
  [AGENT_CARD_PATH, 'Host: x', 'X-Forwarded-Prefix: /evil'],
  [AGENT_CARD_PATH, 'Host: x', 'X-Forwarded-Path: /evil'],
  [AGENT_CARD_PATH, 'Host: x', `X-Forwarded-Server: ${EVIL}`],
  [AGENT_CARD_PATH, 'Host: x', 'X-Forwarded-For: 127.0.0.1', `X-Forwarded-Host: ${EVIL}`],
  [AGENT_CARD_PATH, 'Host: x', `X-Original-Host: ${EVIL}`, 'X-Original-Url: /evil'],
  [AGENT_CARD_PATH, 'Host: x', `X-Host: ${EVIL}`, `X-Real-Host: ${EVIL}`],
  [AGENT_CARD_PATH, 'Host: x', `Forwarded: host=${EVIL};proto=http`],
  [AGENT_CARD_PATH, 'Host: x', `Forwarded: for=127.0.0.1;host="${EVIL}:1"`],
  [AGENT_CARD_PATH, 'Host: x', 'X-Rewrite-Url: /evil', 'Front-End-Https: off'],
  [`http://${EVIL}${AGENT_CARD_PATH}`, 'Host: x'],
  [`https://${EVIL}:444${AGENT_CARD_PATH}`, `Host: ${EVIL}`, `X-Forwarded-Host: ${EVIL}`],
  [`http://user@${EVIL}${AGENT_CARD_PATH}`, 'Host: x'],
  [`${AGENT_CARD_PATH}?host=${EVIL}`, 'Host: x'],
];

/** Lets the application believe its proxy. */
const TRUSTING = {
  express: {
    configure: (app: INestApplication) => {
      const express: unknown = app.getHttpAdapter().getInstance();
      (express as { set(name: string, value: unknown): void }).set('trust proxy', true);
    },
  },
  fastify: { fastify: { trustProxy: true } },
} as const satisfies Record<string, Omit<AgentSetup, 'adapter'>>;

describe.each(ADAPTERS)('the card on %s, with a URL that is configured,', (adapter) => {
  let agent: Agent;
  let plain: { readonly text: string; readonly etag: string };

  beforeAll(async () => {
    const signing = { keys: [jwkOf(keyPair('ES256').privateKey)] };
    agent = await startAgent({ adapter, skills: [EchoSkill], options: { card: PINNED, signing } });
    const { text, headers } = await read(agent.url);
    plain = { text, etag: headers['etag']! };
  });
  afterAll(() => agent.close());

  it('has more than forty claims made to it, and one truth', () => {
    expect(CLAIMS.length).toBeGreaterThanOrEqual(40);
    expect(plain.text).toContain(`"${PUBLIC}/a2a"`);
    expect(plain.text).toContain('"signatures"');
  });

  it.each(CLAIMS)('is the same, byte for byte, for GET %s %s %s %s (B-15, S-16)', async (target, ...headers) => {
    const { head, body } = await readRaw(agent.url, target, headers);
    expect(head).toMatch(/^HTTP\/1\.1 200 /u);
    expect(head).toContain(`ETag: ${plain.etag}`.replace('ETag', /etag/iu.exec(head)?.[0] ?? ''));
    expect(head).toMatch(/cache-control: public, max-age=60\r?\n/iu);
    expect(head).not.toContain(EVIL);
    expect(body).toBe(plain.text);
  });

  it('is the same for a client so old that it names no host (S-16)', async () => {
    expect((await readRaw(agent.url, AGENT_CARD_PATH, [], '1.0')).body).toBe(plain.text);
  });
});

describe.each(ADAPTERS)('the card on %s, without a URL that is configured,', (adapter) => {
  let agent: Agent | undefined;
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
  });
  const start = async (setup: Omit<AgentSetup, 'adapter'> = {}) => {
    agent = await startAgent({ adapter, skills: [EchoSkill], ...setup });
    return agent;
  };
  const FORWARDED = {
    'x-forwarded-host': EVIL,
    'x-forwarded-proto': 'https',
    'x-forwarded-port': '444',
    'x-forwarded-prefix': '/evil',
    forwarded: `host=${EVIL};proto=https`,
  };

  it('names the host that it was asked at, and forwarded ones never (B-15, S-16, CARD-05)', async () => {
    const { url } = await start();
    expect(urlsOf(await read(url, FORWARDED))).toEqual([`${url}/a2a`]);
    for (const host of ['other.example:81', 'a_b-c.internal', '[::1]:3000', '10.0.0.1']) {
      expect(urlsOf(await read(url, { host }))).toEqual([`http://${host}/a2a`]);
    }
  });

  it('names the forwarded host when the application trusts its proxy (CARD-05)', async () => {
    const { url } = await start(TRUSTING[adapter]);
    const forwarded = { 'x-forwarded-host': 'agent.example.com', 'x-forwarded-proto': 'https' };
    expect(urlsOf(await read(url, forwarded))).toEqual(['https://agent.example.com/a2a']);
    expect(urlsOf(await read(url, { 'x-forwarded-proto': 'javascript' }))).toEqual([`${url}/a2a`]);
    expect((await read(url, { 'x-forwarded-host': 'a"b<c>' })).status).toBe(400);
  });

  it('stays out of shared caches, for it is told to one client (B-15, S-16, CARD-05, CONF-20)', async () => {
    const { url } = await start();
    const card = await read(url, { host: EVIL });
    expect(card.headers['cache-control']).toBe('private, max-age=60');
    expect(card.headers['vary']).toBe('Host, X-Forwarded-Host, X-Forwarded-Proto');
    const { etag } = (await read(url)).headers;
    expect(card.headers['etag']).not.toBe(etag);
    expect((await read(url, { host: EVIL, 'if-none-match': etag })).status).toBe(200);
    const again = await read(url, { host: EVIL, 'if-none-match': card.headers['etag'] });
    expect([again.status, again.headers['vary']]).toEqual([304, card.headers['vary']]);
  });

  it('adds to what the host has said of variants (CARD-05)', async () => {
    const { url } = await start({
      configure: (app) => {
        app.enableCors({ origin: ['https://one.example', 'https://two.example'] });
      },
    });
    const { headers } = await read(url, { origin: 'https://one.example' });
    expect(headers['vary']).toBe('Origin, Host, X-Forwarded-Host, X-Forwarded-Proto');
    expect(headers['access-control-allow-origin']).toBe('https://one.example');
  });

  it.each(['a"b<c>', 'x/y', 'user@x', 'x:99999', 'x:', '[::g]', 'a b', 'x,y', `${'x'.repeat(300)}.example`])(
    'is refused to a host that is none, which is not repeated: %s (S-16)',
    async (host) => {
      const { url } = await start();
      const { head, body } = await readRaw(url, AGENT_CARD_PATH, [`Host: ${host}`]);
      expect(head).toMatch(/^HTTP\/1\.1 400 /u);
      expect(head).toMatch(/cache-control: no-store/iu);
      expect(body).toBe('{"statusCode":400,"message":"The host of the request is not valid."}');
    },
  );

  it('takes the host of an absolute target before that of the header (RFC 9112 §3.2.2, S-16)', async () => {
    const { url } = await start();
    const { body } = await readRaw(url, `http://agent.example.com:81${AGENT_CARD_PATH}`, ['Host: x']);
    expect(urlsOf({ body: JSON.parse(body) })).toEqual(['http://agent.example.com:81/a2a']);
    const { head } = await readRaw(url, `http://user@${EVIL}${AGENT_CARD_PATH}`, ['Host: x']);
    expect(head).toMatch(/^HTTP\/1\.1 400 /u);
  });

  it('has a name even for a client so old that it names none (S-16)', async () => {
    const { url } = await start();
    const { body } = await readRaw(url, AGENT_CARD_PATH, [], '1.0');
    expect(urlsOf({ body: JSON.parse(body) })).toEqual(['http://localhost/a2a']);
  });
});
