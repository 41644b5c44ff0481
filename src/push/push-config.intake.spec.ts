import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { PublicTargetPolicy, TargetPolicy, type NameLookup } from '#outbound';
import { InvalidParamsError, type TaskPushNotificationConfig } from '#protocol';
import { UuidGenerator } from '../context/id-generator.js';
import { LogRecorder } from '../../test/support/log-recorder.js';
import { ManualClock } from '../../test/support/manual-clock.js';
import { PushConfigIntake } from './push-config.intake.js';
import type { PushOptions } from './push.options.js';
import { PushSecrets } from './push.secrets.js';
import { resolvePushOptions } from './push.settings.js';

const TASK = { id: 'task', owner: 'alice' };
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u;
const URL = 'https://hooks.example.com/a2a';

interface Given extends PushOptions {
  readonly lookup?: NameLookup;
  readonly target?: TargetPolicy;
}

describe('The intake of push configs', () => {
  const clock = new ManualClock();
  let log: LogRecorder;

  beforeEach(() => {
    log = new LogRecorder();
    Logger.overrideLogger(log);
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });

  function intakeWith({ lookup = async () => ['8.8.8.8'], target, ...options }: Given = {}): PushConfigIntake {
    const settings = resolvePushOptions(options);
    const { allowPrivate, requireHttps } = settings;
    const policy = target ?? new PublicTargetPolicy({ allowPrivate, requireHttps, lookup });
    return new PushConfigIntake(policy, new PushSecrets(settings), new UuidGenerator(), clock, settings);
  }

  /** What is wrong with a config: the field, and why. */
  async function refusalOf(config: TaskPushNotificationConfig, given?: Given, field?: string) {
    const error: unknown = await intakeWith(given)
      .admit(config, TASK, field)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidParamsError);
    return (error as InvalidParamsError).violations[0];
  }

  it('binds a config to its task and owner, whatever it says itself, and dates it (SEND-13, DM-13a)', async () => {
    const config = { id: 'c', taskId: 'another', url: URL, tenant: 't', token: 'a token' };
    expect(await intakeWith().admit(config, TASK)).toEqual({
      record: { config: { ...config, taskId: 'task' }, owner: 'alice', createdAt: clock.now() },
      keep: 8,
    });
  });

  it.each([{}, { id: '' }])('mints an id for one that has %j (PCFG-04a, DM-14b)', async (id) => {
    expect((await intakeWith().admit({ ...id, url: URL }, TASK)).record.config.id).toMatch(UUID);
  });

  it('notes what the options say of bound and delivery (PCFG-07)', async () => {
    const intake = intakeWith({ maxConfigsPerTask: 3, delivery: 'durable' });
    expect(await intake.admit({ url: URL }, TASK)).toMatchObject({ keep: 3, record: { durable: true } });
  });

  it('seals the secrets of a config (B-97, S-05)', async () => {
    const config = { url: URL, token: 'marker-1', authentication: { scheme: 'Bearer', credentials: 'marker-2' } };
    const { record } = await intakeWith({ encryptionKeys: [randomBytes(32)] }).admit(config, TASK);
    expect(JSON.stringify(record)).not.toContain('marker');
    expect(record.sealed).toEqual(expect.any(String));
  });

  it.each([
    ['no URL', '', 'Must be set.'],
    ['a URL that is none', 'hook', 'The URL is not valid.'],
    ['another scheme', 'ftp://hooks.example.com', 'The URL is neither http nor https.'],
    ['userinfo', 'https://u:p@hooks.example.com', 'The URL holds a user name or a password.'],
    ['a private name', 'https://localhost/', 'The host of the URL is not public.'],
    ['a private address', 'https://10.0.0.1/', 'The host of the URL has an address that is not public.'],
    ['the port of another protocol', 'https://hooks.example.com:25/', 'The port of the URL is not allowed.'],
  ])('refuses %s, and says why without the URL (PCFG-03b, SSRF-01, SSRF-02, S-06)', async (_what, url, description) => {
    expect(await refusalOf({ url })).toEqual({ field: 'url', description });
  });

  it('names the field where the config stands (SEND-12a)', async () => {
    const field = 'configuration.taskPushNotificationConfig.';
    expect((await refusalOf({ url: 'https://[::1]/' }, {}, field))?.field).toBe(`${field}url`);
  });

  it('refuses a name of which any address is private (SSRF-04b)', async () => {
    for (const private_ of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:127.0.0.1']) {
      expect(await refusalOf({ url: URL }, { lookup: async () => ['8.8.8.8', private_] })).toEqual({
        field: 'url',
        description: 'The host of the URL has an address that is not public.',
      });
    }
  });

  it('lets a name through that cannot be resolved: the dial decides (SSRF-04a)', async () => {
    const lookup = () => Promise.reject(new Error('ENOTFOUND'));
    expect((await intakeWith({ lookup }).admit({ url: URL }, TASK)).record.config.url).toBe(URL);
    expect((await intakeWith({ lookup: async () => [] }).admit({ url: URL }, TASK)).record.config.url).toBe(URL);
  });

  it('asks no name server for what it refuses anyway (SSRF-02a)', async () => {
    const lookup = () => Promise.reject(new Error('Nobody must be asked.'));
    const asked: string[] = [];
    const noted: NameLookup = (name) => {
      asked.push(name);
      return lookup();
    };
    await refusalOf({ url: 'https://localhost/' }, { lookup: noted });
    await refusalOf(
      { url: 'http://hooks.example.com', authentication: { scheme: 'Bearer', credentials: 'c' } },
      { lookup: noted },
    );
    expect(asked).toEqual([]);
  });

  it('refuses credentials over http, but where webhooks may be private (PCFG-03b, PUSH-04)', async () => {
    const config = { url: 'http://hooks.example.com', authentication: { scheme: 'Bearer', credentials: 'secret' } };
    expect(await refusalOf(config)).toEqual({
      field: 'url',
      description: 'Must be https, since there are credentials.',
    });
    await expect(intakeWith({ allowPrivate: true }).admit(config, TASK)).resolves.toBeDefined();
    await expect(
      intakeWith().admit({ ...config, authentication: { scheme: 'Bearer' }, token: 't' }, TASK),
    ).resolves.toBeDefined();
  });

  it('refuses http where the options demand https', async () => {
    expect(await refusalOf({ url: 'http://hooks.example.com' }, { requireHttps: true })).toEqual({
      field: 'url',
      description: 'The URL is not https.',
    });
  });

  it('lets this machine in where webhooks may be private, and still no userinfo and no other scheme (SSRF-01, SSRF-08)', async () => {
    const given = { allowPrivate: true };
    for (const url of ['http://127.0.0.1:8080/hook', 'https://[::1]/hook', 'http://localhost./hook']) {
      expect((await intakeWith(given).admit({ url }, TASK)).record.config.url).toBe(url);
    }
    for (const url of ['http://u@127.0.0.1/', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'http://']) {
      expect((await refusalOf({ url }, given))?.field).toBe('url');
    }
  });

  it.each<[field: string, config: (text: string) => TaskPushNotificationConfig]>([
    ['url', (text) => ({ url: URL.padEnd(text.length, text) })],
    ['token', (token) => ({ url: URL, token })],
    ['authentication.scheme', (scheme) => ({ url: URL, authentication: { scheme } })],
    ['authentication.credentials', (credentials) => ({ url: URL, authentication: { scheme: 'Bearer', credentials } })],
  ])('takes a %s of 4,096 characters, and no longer one', async (field, config) => {
    await expect(intakeWith().admit(config('x'.repeat(4_096)), TASK)).resolves.toBeDefined();
    expect(await refusalOf(config('x'.repeat(4_097)))).toEqual({
      field,
      description: 'Must be at most 4096 characters.',
    });
  });

  it('warns of credentials that cannot be sent, and shows nothing of the config (PUSH-03a, PCFG-12)', async () => {
    const authentication = { scheme: 'marker-scheme', credentials: 'marker-credentials' };
    await intakeWith().admit({ url: `${URL}?marker-query`, token: 'marker-token', authentication }, TASK);
    expect(log.lines).toEqual([{ level: 'warn', text: expect.stringContaining('A config of task task has a scheme') }]);
    expect(log.lines[0]!.text).not.toContain('marker');
  });

  it('leaves the decision to the policy of the host, and fails when that does', async () => {
    class Broken extends PublicTargetPolicy {
      override checkUrl(): never {
        throw new TypeError('A fault of the host.');
      }
    }
    await expect(intakeWith({ target: new Broken() }).admit({ url: URL }, TASK)).rejects.toThrow(TypeError);
  });
});
