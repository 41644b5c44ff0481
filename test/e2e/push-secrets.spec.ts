import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PushOptions } from 'nestjs-a2a';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import type { DataSource } from 'typeorm';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { Caller, newcomer } from '../support/caller.js';
import { postgresDatabase, sqliteDatabase } from '../support/data-sources.js';
import { FixtureSkills, SECRET } from '../support/fixture-skills.js';
import { LogRecorder } from '../support/log-recorder.js';
import {
  configsOf,
  createConfig,
  deleteConfig,
  getConfig,
  HOOK,
  inline,
  OfflinePolicy,
} from '../support/push-caller.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const CREDENTIALS = 'MARKER-credentials';
const TOKEN = 'MARKER-token';
const policy = new OfflinePolicy();
const secrets = { token: TOKEN, authentication: { scheme: 'Bearer', credentials: CREDENTIALS } };

describe.each(ADAPTERS)('The secrets of a push config, on %s,', (adapter) => {
  it('are told to nobody, neither by an answer nor by a log; the token to its owner (B-97, PCFG-12, R-10, S-05, S-06)', async () => {
    const logger = new LogRecorder();
    const agent = await startAgent({ adapter, logger, skills: [FixtureSkills], options: { push: { policy } } });
    const alice = newcomer(agent.url);
    const { id: taskId } = await alice.task('echo');
    const config = { id: 'c', url: `${HOOK}?q=MARKER-query`, ...secrets };
    const answers = [
      await createConfig(alice, taskId, config),
      await getConfig(alice, taskId, 'c'),
      await alice.invoke('ListTaskPushNotificationConfigs', { taskId }),
    ];
    for (const { text } of answers) {
      expect(text).not.toContain(CREDENTIALS);
      expect(text).toContain(TOKEN);
      expect(text).toContain('"authentication":{"scheme":"Bearer"}');
    }
    const scheme = { ...secrets, authentication: { scheme: 'MARKER-scheme', credentials: CREDENTIALS } };
    const others = [
      await createConfig(alice, taskId, config),
      await createConfig(alice, taskId, { ...config, id: 'd', url: 'http://localhost/?MARKER' }),
      await createConfig(alice, taskId, { ...config, id: 'e', token: `${TOKEN}\n` }),
      await createConfig(alice, taskId, { ...config, id: 'f', Token: TOKEN }),
      await createConfig(alice, taskId, { ...config, id: 'g', authentication: CREDENTIALS }),
      await createConfig(newcomer(agent.url), taskId, config),
      await alice.send('echo', inline({ ...secrets, url: 'http://10.0.0.1/?MARKER' })),
      await deleteConfig(alice, taskId, 'c'),
    ];
    for (const { text } of others) expect(text).not.toContain('MARKER');
    expect(others.filter(({ text }) => text.includes('"error"'))).toHaveLength(7);
    expect((await createConfig(alice, taskId, { ...config, ...scheme, id: 'h' })).text).not.toContain(CREDENTIALS);
    // Its host has no address, so that the log has a failure to tell of.
    const { text } = await alice.send('echo', inline(config));
    expect(text).not.toContain('MARKER');
    await until(() => logger.of('warn').some((line) => line.includes('was not delivered')), 'The failed delivery');
    await agent.close();
    expect(logger.of('warn').some((line) => line.includes('has a scheme'))).toBe(true);
    for (const line of logger.lines) expect(line.text).not.toContain('MARKER');
  });

  it('are shown where the host wants it, to who may see the task (R-10, PCFG-12)', async () => {
    const push = { policy, revealCredentials: true };
    const agent = await startAgent({ adapter, skills: [FixtureSkills], options: { push } });
    const alice = newcomer(agent.url);
    const { id: taskId } = await alice.task('echo');
    const whole = { id: 'c', taskId, url: HOOK, ...secrets };
    expect((await createConfig(alice, taskId, whole)).result).toEqual(whole);
    expect((await getConfig(alice, taskId, 'c')).result).toEqual(whole);
    expect(await configsOf(alice, taskId)).toEqual([whole]);
    expect((await getConfig(newcomer(agent.url), taskId, 'c')).text).not.toContain('MARKER');
    await agent.close();
  });
});

describe.each(ADAPTERS)('A webhook, on %s,', (adapter) => {
  let agent: Agent;
  let receivers: readonly [WebhookReceiver, WebhookReceiver];

  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [FixtureSkills], options: { push: { allowPrivate: true } } });
    receivers = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  });
  afterAll(async () => {
    await agent.close();
    for (const receiver of receivers) await receiver.close();
  });

  it('hears of the task that it was registered for, and of no task of anybody else (S-05, SEND-13)', async () => {
    const [first, second] = receivers;
    const alice = newcomer(agent.url);
    const bob = newcomer(agent.url);
    const parked = await alice.task('input', inline({ id: 'c', url: first.url }));
    // One that names the task, and the config, of alice.
    const other = await bob.task('echo', inline({ id: 'c', taskId: parked.id, url: second.url }));
    await second.state('COMPLETED');
    await alice.follow(parked.id, 'echo');
    await first.state('COMPLETED');
    for (const [{ received }, id] of [
      [first, parked.id],
      [second, other.id],
    ] as const) {
      for (const { text } of received) expect(text).toContain(id);
      for (const { text } of received) expect(text).not.toContain(id === other.id ? parked.id : other.id);
    }
    expect(await configsOf(alice, parked.id)).toMatchObject([{ id: 'c', url: first.url }]);
  });

  it('hears nothing of why a skill failed (S-06)', async () => {
    const [receiver] = receivers;
    for (const how of ['throw', 'throwfirst']) {
      const { id } = await newcomer(agent.url).task(how, inline({ url: receiver.url }));
      await until(() => receiver.received.some(({ text }) => text.includes(id) && text.includes('FAILED')), 'The end');
    }
    for (const { text, headers } of receiver.received) expect(text + JSON.stringify(headers)).not.toContain(SECRET);
  });
});

describe.each([
  ['SQLite', sqliteDatabase],
  ['PostgreSQL', postgresDatabase],
] as const)('Encrypted secrets on %s', (_name, open) => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  let dataSource: DataSource;
  let drop: () => Promise<void>;
  let user: string;
  let taskId: string;

  beforeAll(async () => {
    const database = await open();
    dataSource = await database.open();
    drop = async () => {
      await dataSource.destroy();
      await database.drop();
    };
    await as({ encryptionKeys: [first] }, async (agent) => {
      const alice = newcomer(agent.url);
      user = alice.user;
      taskId = (await alice.task('input', inline({ id: 'inline', ...secrets }))).id;
      await createConfig(alice, taskId, { id: 'created', ...secrets });
    });
  });
  afterAll(() => drop());

  /** Boots an agent on the database, for a while. */
  async function as(push: PushOptions, work: (agent: Agent, alice: Caller) => Promise<void>): Promise<void> {
    const options = { store: new TypeOrmTaskStore(dataSource), push: { policy, ...push } };
    const agent = await startAgent({ skills: [FixtureSkills], options });
    try {
      await work(agent, new Caller(agent.url, { user }));
    } finally {
      await agent.close();
    }
  }

  /** What the database has of the configs of the task, as text. */
  async function stored(): Promise<string> {
    const rows = await dataSource.query<object[]>('SELECT * FROM a2a_push_config');
    return rows.map((row) => JSON.stringify(row)).join('\n');
  }

  it('lie in no column, in whatever form (B-97, S-05)', async () => {
    const text = await stored();
    expect(text.split('\n')).toHaveLength(2);
    expect(text).toContain(HOOK);
    for (const secret of [CREDENTIALS, TOKEN]) {
      for (const form of ['utf8', 'base64url', 'hex'] as const) {
        expect(text).not.toContain(Buffer.from(secret).toString(form));
      }
    }
  });

  it('would lie there without a key (B-97)', async () => {
    await as({}, async (_agent, alice) => {
      await createConfig(alice, taskId, { id: 'plain', ...secrets });
      expect(await stored()).toContain(CREDENTIALS);
      await deleteConfig(alice, taskId, 'plain');
    });
    expect(await stored()).not.toContain('MARKER');
  });

  it('are still read after another key was put first, and new ones are sealed with that (B-97)', async () => {
    const push = { encryptionKeys: [second.toString('base64'), first], revealCredentials: true };
    await as(push, async (_agent, alice) => {
      expect(await configsOf(alice, taskId)).toEqual(
        ['inline', 'created'].map((id) => ({ id, taskId, url: HOOK, ...secrets })),
      );
      await createConfig(alice, taskId, { id: 'later', ...secrets });
    });
    await as({ encryptionKeys: [second], revealCredentials: true }, async (_agent, alice) => {
      expect((await getConfig(alice, taskId, 'later')).result).toMatchObject(secrets);
    });
  });

  it('are missing from what is shown when their key is lost, and nothing fails for it (B-97, S-05)', async () => {
    for (const encryptionKeys of [[], [randomBytes(32)]]) {
      await as({ encryptionKeys, revealCredentials: true }, async (_agent, alice) => {
        const without = { id: 'created', taskId, url: HOOK, authentication: { scheme: 'Bearer' } };
        expect((await getConfig(alice, taskId, 'created')).result).toEqual(without);
        expect((await configsOf(alice, taskId)).map(({ token }) => token)).toEqual([undefined, undefined, undefined]);
        expect((await alice.follow(taskId, 'input')).result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      });
    }
  });

  it('do not open in the row of another config (S-05)', async () => {
    await dataSource.query(
      `UPDATE a2a_push_config SET sealed = (SELECT o.sealed FROM a2a_push_config o WHERE o.id = 'later') WHERE id = 'created'`,
    );
    await as({ encryptionKeys: [second, first], revealCredentials: true }, async (_agent, alice) => {
      expect((await getConfig(alice, taskId, 'later')).result).toMatchObject(secrets);
      expect((await getConfig(alice, taskId, 'created')).text).not.toContain('MARKER');
    });
  });
});
