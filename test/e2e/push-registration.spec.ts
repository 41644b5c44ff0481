import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { A2AModule, PublicTargetPolicy, TargetPolicy, TargetRefusedError, type PushOptions } from 'nestjs-a2a';
import { ADAPTERS, headerPrincipal, startAgent, type Agent } from '../support/agent.js';
import { fieldsOf, newcomer, type Caller } from '../support/caller.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { LogRecorder } from '../support/log-recorder.js';
import { configsOf, createConfig, inline, OfflinePolicy } from '../support/push-caller.js';
import { HOSTILE_URLS, PUBLIC_URLS } from '../support/url-corpus.js';

/** The application of a host, which boots without the testing module. */
@Module({})
class Host {}

let agent: Agent;
let alice: Caller;
let taskId: string;

async function start(push: PushOptions, adapter: (typeof ADAPTERS)[number] = 'express'): Promise<void> {
  agent = await startAgent({ adapter, skills: [FixtureSkills], options: { push } });
  alice = newcomer(agent.url);
  taskId = (await alice.task('echo')).id;
}

/** The URLs of these that are not refused as they should be. */
async function admitted(urls: readonly string[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const url of urls) {
    const { error, text } = await createConfig(alice, taskId, { url });
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- a result has no error
    if (error?.code !== -32602 || fieldsOf(error).join() !== 'url') found.push({ url, text });
  }
  return found;
}

describe.each(ADAPTERS)('A webhook, on %s,', (adapter) => {
  beforeAll(() => start({ policy: new OfflinePolicy() }, adapter));
  afterAll(() => agent.close());

  it('is refused wherever it must not lead, however that is written, and is not stored (PCFG-03b, SSRF-01, SSRF-02, SSRF-03, S-02)', async () => {
    expect(await admitted(HOSTILE_URLS.map(({ url }) => url))).toEqual([]);
    expect(await configsOf(alice, taskId)).toEqual([]);
  });

  it('is refused with a text that repeats nothing of it (S-06)', async () => {
    for (const url of ['https://u:marker@example.com', 'http://127.0.0.1/marker', 'marker://x', 'http://marker/']) {
      expect((await createConfig(alice, taskId, { url })).text).not.toContain('marker');
      expect((await alice.send('echo', inline({ url }))).text).not.toContain('marker');
    }
  });

  it('is accepted at every public place, and shown as it was written (PCFG-03b, SSRF-04a, S-02)', async () => {
    for (const { url } of PUBLIC_URLS) {
      const { result, text } = await createConfig(alice, taskId, { url });
      expect({ url: (result as { url?: string } | undefined)?.url, text }).toMatchObject({ url });
    }
  });

  it.each(['Bearer', 'basic', 'Digest'])(
    'gets no credentials over http, and is refused with them: %s (PCFG-03b, PUSH-04, CONF-40)',
    async (scheme) => {
      const url = 'http://hooks.example.com/a2a';
      const withCredentials = { url, authentication: { scheme, credentials: 'secret' } };
      const { error, text } = await createConfig(alice, taskId, { id: scheme, ...withCredentials });
      expect(fieldsOf(error)).toEqual(['url']);
      expect(text).not.toContain('secret');
      const without = await createConfig(alice, taskId, { id: scheme, url, token: 't', authentication: { scheme } });
      expect(without.result).toMatchObject({ id: scheme });
    },
  );

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\rb', 'a\u0000b', 'a\u007fb', '\u6f22', 'a\ud800'])(
    'gets no header that is broken by %j (B-90, S-04, R-10, PUSH-03b)',
    async (text) => {
      const before = await configsOf(alice, taskId);
      for (const [field, config] of [
        ['token', { token: text }],
        ['authentication.scheme', { authentication: { scheme: text } }],
        ['authentication.credentials', { authentication: { scheme: 'Bearer', credentials: text } }],
      ] as const) {
        const { error } = await createConfig(alice, taskId, config);
        expect(error.code).toBe(-32602);
        expect(fieldsOf(error)).toEqual([field]);
        expect(fieldsOf((await alice.send('echo', inline(config))).error)).toEqual([
          `configuration.taskPushNotificationConfig.${field}`,
        ]);
      }
      expect(await configsOf(alice, taskId)).toEqual(before);
    },
  );
});

describe('The policy for webhooks', () => {
  afterEach(() => agent.close());

  it('resolves names at registration, and refuses those of which any address is private (SSRF-04b, S-02)', async () => {
    const addresses: Record<string, string[]> = {
      'public.example.com': ['8.8.8.8', '2606:4700:4700::1111'],
      'mixed.example.com': ['8.8.8.8', '127.0.0.1'],
      'mapped.example.com': ['::ffff:10.0.0.1'],
      'metadata.example.com': ['169.254.169.254'],
    };
    await start({ policy: new PublicTargetPolicy({ lookup: async (name) => addresses[name] ?? [] }) });
    const refused = Object.keys(addresses).filter((name) => name !== 'public.example.com');
    expect(await admitted(refused.map((name) => `https://${name}/`))).toEqual([]);
    // In capitals and with a trailing dot it is the same name.
    expect(await admitted(['https://MIXED.example.com./hook'])).toEqual([]);
    expect((await createConfig(alice, taskId, { url: 'https://public.example.com/' })).result).toBeDefined();
    expect((await alice.send('echo', inline({ url: 'https://mixed.example.com/' }))).error.code).toBe(-32602);
    expect((await alice.list()).totalSize).toBe(1);
  });

  it('may be a class or an instance of the host (SSRF-02)', async () => {
    class OneHost extends TargetPolicy {
      checkUrl(url: string): URL {
        if (!url.startsWith('https://one.example.com/')) throw new TargetRefusedError('HOST_NOT_PUBLIC');
        return new URL(url);
      }

      checkAddress(): void {
        // Whatever the host's name servers say.
      }

      override lookup(): Promise<readonly string[]> {
        return Promise.reject(new Error('There is no name server.'));
      }
    }
    for (const policy of [OneHost, new OneHost()]) {
      await start({ policy, allowPrivate: true });
      expect(await admitted(['https://two.example.com/', 'http://127.0.0.1/'])).toEqual([]);
      expect((await createConfig(alice, taskId, { url: 'https://one.example.com/' })).result).toBeDefined();
      if (policy === OneHost) await agent.close();
    }
  });

  it('demands https where the options do', async () => {
    await start({ requireHttps: true });
    expect(await admitted(['http://8.8.8.8/', 'https://127.0.0.1/'])).toEqual([]);
    expect((await createConfig(alice, taskId, { url: 'https://8.8.8.8/' })).result).toBeDefined();
  });

  it('lets this machine in where it may be private, and no userinfo, scheme or odd URL then either (SSRF-01, SSRF-08, PUSH-04)', async () => {
    await start({ allowPrivate: true });
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    for (const url of ['http://127.0.0.1:8080/hook', 'http://[::1]/', 'http://10.0.0.1/', 'http://localhost/']) {
      expect((await createConfig(alice, taskId, { url, authentication })).result).toMatchObject({ url });
    }
    const odd = /^(?:ftp|file|gopher|ws|data|javascript|unix):|@127|user|\\|^$|^http:\/*$|:25\//iu;
    const hostile = HOSTILE_URLS.map(({ url }) => url).filter((url) => odd.test(url));
    expect(hostile.length).toBeGreaterThan(20);
    expect(await admitted(hostile.filter((url) => !url.includes('?@') && !url.includes('#@')))).toEqual([]);
  });
});

describe('The boot', () => {
  let app: INestApplication;

  async function boot(push: PushOptions | false): Promise<LogRecorder> {
    const log = new LogRecorder();
    const card = { name: 'Test agent', description: 'An agent under test.' };
    const module = A2AModule.forRoot({ card, principal: headerPrincipal, push });
    app = await NestFactory.create(
      { module: Host, imports: [module], providers: [FixtureSkills] },
      { logger: log, abortOnError: false },
    );
    await app.init();
    return log;
  }

  it.each<[string, PushOptions | false, number]>([
    ['warns of webhooks that may be private', { allowPrivate: true }, 1],
    ['has nothing to warn of otherwise', {}, 0],
    ['has nothing to warn of without push notifications', false, 0],
  ])('%s (SSRF-08)', async (_what, push, count) => {
    const warnings = (await boot(push)).of('warn').filter((line) => line.includes('push.allowPrivate'));
    await app.close();
    expect(warnings).toHaveLength(count);
  });

  it.each<[PushOptions, RegExp]>([
    [{ encryptionKeys: ['c2hvcnQ='] }, /push\.encryptionKeys\[0\] has 5 bytes, not 32\. Make one with/u],
    [{ tokenHeaders: ['a b'] }, /push\.tokenHeaders: "a b" cannot carry a token/u],
    [{ delivery: 'durable' }, /push\.delivery is 'durable'.*Keep tasks in a database/u],
  ])('fails with the cure for %j', async (push, cure) => {
    await expect(boot(push)).rejects.toThrow(cure);
  });
});
