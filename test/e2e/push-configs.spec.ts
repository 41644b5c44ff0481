import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import type { JsonObject, TaskStore } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { Caller, fieldsOf, newcomer, type Answer, type Identity } from '../support/caller.js';
import { postgresDatabase, sqliteDatabase } from '../support/data-sources.js';
import { callAndLeave, Departures } from '../support/departing-client.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { NotingStore } from '../support/noted-configs.js';
import { OwnerOnlyStore } from '../support/owner-only-store.js';
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

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u;
const push = { policy: new OfflinePolicy() };

type Attempt = readonly [what: string, attempt: (caller: Caller, taskId: string) => Promise<Answer>];

/** Every operation on the config `c` of a task. */
const ATTEMPTS: readonly Attempt[] = [
  ['Create', (caller, taskId) => createConfig(caller, taskId, { id: 'd' })],
  ['Create of the same', (caller, taskId) => createConfig(caller, taskId, { id: 'c' })],
  ['Create of a refused one', (caller, taskId) => createConfig(caller, taskId, { url: 'http://localhost/' })],
  ['Get', (caller, taskId) => getConfig(caller, taskId, 'c')],
  ['Get of an unknown one', (caller, taskId) => getConfig(caller, taskId, 'x')],
  ['List', (caller, taskId) => caller.invoke('ListTaskPushNotificationConfigs', { taskId })],
  ['List of a page', (caller, taskId) => caller.invoke('ListTaskPushNotificationConfigs', { taskId, pageToken: 'p' })],
  ['Delete', (caller, taskId) => deleteConfig(caller, taskId, 'c')],
];

describe.each(ADAPTERS)('Push configs, on %s,', (adapter) => {
  let agent: Agent;
  let skills: FixtureSkills;

  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [FixtureSkills], options: { push } });
    skills = agent.app.get(FixtureSkills);
  });
  afterAll(async () => {
    skills.gate.open();
    await agent.close();
  });

  describe('are created', () => {
    it('with all that they say, and come back so but for the credentials (PCFG-04a, PCFG-12, DM-13a, R-10)', async () => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo');
      const config = { tenant: 'n', id: 'c', taskId, url: `${HOOK}?x=%20#y`, token: 'a token é' };
      const authentication = { scheme: 'Bearer', credentials: 'secret' };
      const { result, id, text } = await createConfig(alice, taskId, { ...config, authentication });
      const shown = { ...config, authentication: { scheme: 'Bearer' } };
      expect({ id, result }).toEqual({ id: 1, result: shown });
      expect(text).not.toContain('secret');
      expect((await getConfig(alice, taskId, 'c')).result).toEqual(shown);
      expect(await configsOf(alice, taskId)).toEqual([shown]);
    });

    it('with an id of their own when they bring none (PCFG-04a, DM-14b)', async () => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo');
      for (const given of [{}, { id: '' }, { id: null }]) {
        const { result } = await createConfig(alice, taskId, given);
        expect(result).toEqual({ id: expect.stringMatching(UUID), taskId, url: HOOK });
      }
      expect(new Set((await configsOf(alice, taskId)).map(({ id }) => id)).size).toBe(3);
    });

    it.each([
      ['no task', { taskId: undefined }, 'taskId'],
      ['an empty task', { taskId: '' }, 'taskId'],
      ['no URL', { url: undefined }, 'url'],
      ['an empty URL', { url: '' }, 'url'],
      ['a URL that is a number', { url: 5 }, 'url'],
      ['authentication without a scheme', { authentication: {} }, 'authentication.scheme'],
      ['an empty scheme', { authentication: { scheme: '', credentials: 'c' } }, 'authentication.scheme'],
      ['authentication that is a string', { authentication: 'Bearer c' }, 'authentication'],
      ['an id that is too long', { id: 'i'.repeat(257) }, 'id'],
      ['an id with a control character', { id: 'a\u0000b' }, 'id'],
      ['an id that is no Unicode', { id: '\ud800' }, 'id'],
      ['a tenant that is no string', { tenant: 5 }, 'tenant'],
    ])('not with %s (PCFG-03a, DM-13b, DM-13c, R-31, S-04)', async (_what, wrong, field) => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo');
      const { error } = await alice.invoke('CreateTaskPushNotificationConfig', { taskId, url: HOOK, ...wrong });
      expect(error.code).toBe(-32602);
      expect(fieldsOf(error)).toEqual([field]);
      expect(await configsOf(alice, taskId)).toEqual([]);
    });

    it.each(['echo', 'fail', 'reject', 'input', 'auth', 'hold'])(
      'for a task in whatever state: %s (PCFG-05)',
      async (how) => {
        const alice = newcomer(agent.url);
        const { id: taskId } = await alice.start(how);
        if (how !== 'hold') await alice.taskWhen(taskId, ({ status }) => !/SUBMITTED|WORKING/u.test(status.state));
        expect((await createConfig(alice, taskId, { id: 'c' })).result).toEqual({ id: 'c', taskId, url: HOOK });
        await alice.cancel(taskId);
        expect(await configsOf(alice, taskId)).toHaveLength(1);
      },
    );

    it('once under an id: another one is refused, and changes nothing (PCFG-04b, B-73)', async () => {
      const alice = newcomer(agent.url);
      const [first, second] = [await alice.task('echo'), await alice.task('echo')];
      await createConfig(alice, first.id, { id: 'c', token: 'first' });
      const { error } = await createConfig(alice, first.id, { id: 'c', token: 'second' });
      expect(error.code).toBe(-32602);
      expect(fieldsOf(error)).toEqual(['id']);
      expect(await configsOf(alice, first.id)).toMatchObject([{ id: 'c', token: 'first' }]);
      expect((await createConfig(alice, second.id, { id: 'c' })).result).toMatchObject({ id: 'c', taskId: second.id });
    });

    it('without bound, while a task keeps the newest eight (PCFG-07)', async () => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo');
      for (let count = 0; count < 100; count++) {
        const { result } = await createConfig(alice, taskId, { id: `c${count}` });
        expect(result.id).toBe(`c${count}`);
      }
      const ids = (await configsOf(alice, taskId)).map(({ id }) => id);
      expect(ids).toEqual(['c92', 'c93', 'c94', 'c95', 'c96', 'c97', 'c98', 'c99']);
      expect((await getConfig(alice, taskId, 'c91')).error.code).toBe(-32001);
    });
  });

  describe('are found', () => {
    it('by task and id; one that is not there is not found (PCFG-08, CONF-12, B-98, DM-13c)', async () => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo');
      await createConfig(alice, taskId, { id: 'c' });
      expect((await getConfig(alice, taskId, 'c')).result).toEqual({ id: 'c', taskId, url: HOOK });
      expect((await getConfig(alice, taskId, 'd')).error.code).toBe(-32001);
      const inTenant = await alice.invoke('GetTaskPushNotificationConfig', { tenant: 't', task_id: taskId, id: 'c' });
      expect(inTenant.result).toEqual({ id: 'c', taskId, url: HOOK });
      for (const params of [{ taskId }, { id: 'c' }, {}] as JsonObject[]) {
        for (const method of ['GetTaskPushNotificationConfig', 'DeleteTaskPushNotificationConfig']) {
          const { error } = await alice.invoke(method, params);
          expect(error.code).toBe(-32602);
          expect(fieldsOf(error)).toEqual(['taskId', 'id'].filter((field) => !(field in params)));
        }
      }
    });

    it('in a list that is never null, oldest first, and whole (PCFG-09a)', async () => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo');
      const list = (params: JsonObject = {}) => alice.invoke('ListTaskPushNotificationConfigs', { taskId, ...params });
      expect((await list()).result).toEqual({ configs: [] });
      for (const id of ['b', 'c', 'a']) await createConfig(alice, taskId, { id });
      const { result } = await list();
      expect(result).toEqual({ configs: ['b', 'c', 'a'].map((id) => ({ id, taskId, url: HOOK })) });
      for (const params of [{ pageSize: 1 }, { pageSize: 0 }, { pageToken: '' }]) {
        expect((await list(params)).result).toEqual(result);
      }
    });

    it.each([
      ['pageSize', { pageSize: -1 }],
      ['pageSize', { pageSize: 1.5 }],
      ['pageSize', { pageSize: '1' }],
      ['pageToken', { pageToken: 'x' }],
      ['pageToken', { pageToken: 1 }],
    ])('in no list with a wrong %s: %j (PCFG-09b, DM-14a)', async (field, params) => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo');
      const { error } = await alice.invoke('ListTaskPushNotificationConfigs', { taskId, ...params });
      expect(error.code).toBe(-32602);
      expect(fieldsOf(error)).toEqual([field]);
    });
  });

  it('are removed with an empty object for an answer, the second time as the first (PCFG-10, CONF-12, B-98)', async () => {
    const alice = newcomer(agent.url);
    const { id: taskId } = await alice.task('echo');
    for (const id of ['c', 'd']) await createConfig(alice, taskId, { id });
    for (const id of ['c', 'c', 'x']) {
      expect((await deleteConfig(alice, taskId, id)).text).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
    }
    expect((await configsOf(alice, taskId)).map(({ id }) => id)).toEqual(['d']);
    expect((await createConfig(alice, taskId, { id: 'c' })).result.id).toBe('c');
  });

  it.each<[string, Identity & { readonly isOther?: true }]>([
    ['another user', { isOther: true }],
    ['another user of the tenant and scopes', { isOther: true, tenant: 't', scopes: 'a' }],
    ['the user in another tenant', { tenant: 'u', scopes: 'a' }],
    ['the user, narrowed otherwise', { tenant: 't', scopes: 'a b' }],
    ['the user, narrowed to nothing', { tenant: 't', scopes: '' }],
  ])('are not there for %s, to the letter as with an unknown task (PCFG-01, S-01)', async (_who, identity) => {
    const maker = newcomer(agent.url, { tenant: 't', scopes: 'a' });
    const stranger = identity.isOther ? newcomer(agent.url, identity) : maker.with(identity);
    const tasks = [await maker.task('echo'), await maker.task('input')];
    for (const { id } of tasks) await createConfig(maker, id, { id: 'c', token: 'kept' });
    for (const [what, attempt] of ATTEMPTS) {
      const seen = async (taskId: string): Promise<object> => {
        const { status, text, headers } = await attempt(stranger, taskId);
        return { what, status, names: [...headers.keys()].sort(), text: text.replaceAll(taskId, 'ID') };
      };
      const unknown = await seen(randomUUID());
      expect(unknown).toMatchObject({ status: 200, text: expect.stringContaining('"code":-32001') });
      for (const { id } of tasks) expect(await seen(id)).toEqual(unknown);
    }
    for (const { id } of tasks) expect(await configsOf(maker, id)).toMatchObject([{ id: 'c', token: 'kept' }]);
  });
});

describe.each(ADAPTERS)('Without push notifications, on %s,', (adapter) => {
  it.each<[string, () => { push?: false; store?: TaskStore }]>([
    ['the option is off', () => ({ push: false })],
    ['the store keeps no configs', () => ({ store: new OwnerOnlyStore() })],
  ])('since %s, all is refused and the card says so (PCFG-02, PUSH-12, SEND-12b, CONF-13)', async (_why, options) => {
    const agent = await startAgent({ adapter, skills: [FixtureSkills], options: options() });
    const alice = newcomer(agent.url);
    const parked = await alice.task('input');
    for (const [, attempt] of ATTEMPTS) {
      expect((await attempt(alice, parked.id)).error.code).toBe(-32003);
      expect((await attempt(alice, randomUUID())).error.code).toBe(-32003);
    }
    expect((await alice.send('echo', inline())).error.code).toBe(-32003);
    expect((await alice.follow(parked.id, 'echo', inline())).error.code).toBe(-32003);
    expect(await alice.list()).toMatchObject({ totalSize: 1, tasks: [{ id: parked.id, status: parked.status }] });
    const card = await fetch(`${agent.url}/.well-known/agent-card.json`);
    expect(await card.json()).toMatchObject({ capabilities: { pushNotifications: false } });
    expect(agent.service.capabilities().pushNotifications).toBe(false);
    await agent.close();
  });
});

describe.each(ADAPTERS)('A client that leaves, on %s,', (adapter) => {
  let agent: Agent;
  let store: NotingStore;
  let departures: Departures;
  let alice: Caller;
  let taskId: string;

  beforeAll(async () => {
    store = new NotingStore();
    agent = await startAgent({ adapter, skills: [FixtureSkills], options: { store, push } });
    departures = new Departures(agent.app.getHttpServer());
    alice = newcomer(agent.url);
    taskId = (await alice.task('echo')).id;
  });
  afterAll(() => agent.close());

  it('has its config created all the same (PCFG-06)', async () => {
    const gate = store.pushConfigs.hold('create');
    const params = { taskId, id: 'abandoned', url: HOOK };
    const client = callAndLeave(agent.url, 'CreateTaskPushNotificationConfig', params, alice.user);
    await gate.whenWaiting();
    await departures.of(client);
    expect(await configsOf(alice, taskId)).toEqual([]);
    gate.open();
    await until(async () => (await configsOf(alice, taskId)).length === 1, 'The config');
  });

  it('has its config created also when it leaves while the task is looked for (PCFG-06)', async () => {
    const gate = store.holdReads();
    const params = { taskId, id: 'early', url: HOOK };
    const client = callAndLeave(agent.url, 'CreateTaskPushNotificationConfig', params, alice.user);
    await gate.whenWaiting();
    await departures.of(client);
    gate.open();
    await until(async () => (await configsOf(alice, taskId)).some(({ id }) => id === 'early'), 'The config');
  });

  it('keeps a config that it left to be removed before its task was found (PCFG-11, R-37)', async () => {
    await createConfig(alice, taskId, { id: 'kept' });
    const gate = store.holdReads();
    const client = callAndLeave(agent.url, 'DeleteTaskPushNotificationConfig', { taskId, id: 'kept' }, alice.user);
    await gate.whenWaiting();
    await departures.of(client);
    await until(() => store.signals.at(-1)?.aborted === true, "The read's signal");
    gate.open();
    expect((await getConfig(alice, taskId, 'kept')).result).toMatchObject({ id: 'kept' });
  });

  it.each([
    ['GetTaskPushNotificationConfig', 'read'],
    ['ListTaskPushNotificationConfigs', 'list'],
  ] as const)('is not waited for any more, and the store knows: %s (PCFG-11, R-37)', async (method, operation) => {
    const gate = store.pushConfigs.hold(operation);
    const client = callAndLeave(agent.url, method, { taskId, id: 'c' }, alice.user);
    await gate.whenWaiting();
    const signal = store.pushConfigs.signals.at(-1);
    expect(signal?.aborted).toBe(false);
    await departures.of(client);
    await until(() => signal?.aborted === true, "The read's signal");
    gate.open();
  });
});

describe.each([
  ['SQLite', sqliteDatabase],
  ['PostgreSQL', postgresDatabase],
] as const)('Push configs on %s', (_name, open) => {
  let agent: Agent;
  let close: () => Promise<void>;
  let alice: Caller;

  beforeAll(async () => {
    const database = await open();
    const dataSource = await database.open();
    const store = new TypeOrmTaskStore(dataSource);
    const options = { store, push, terminalTaskRetention: 2 };
    agent = await startAgent({ skills: [FixtureSkills], options });
    alice = newcomer(agent.url);
    close = async () => {
      await agent.close();
      await dataSource.destroy();
      await database.drop();
    };
  });
  afterAll(() => close());

  it('come back as they were created, and go when they are removed (PCFG-04a, PCFG-09a, PCFG-10)', async () => {
    const { id: taskId } = await alice.task('echo');
    const config = { id: 'ü \u{1f600}', taskId, url: `${HOOK}?x=%20`, token: 'é', authentication: { scheme: 'Basic' } };
    expect((await createConfig(alice, taskId, config)).result).toEqual(config);
    expect((await getConfig(alice, taskId, config.id)).result).toEqual(config);
    expect(await configsOf(alice, taskId)).toEqual([config]);
    expect((await getConfig(alice, taskId, 'x')).error.code).toBe(-32001);
    for (let twice = 0; twice < 2; twice++) expect((await deleteConfig(alice, taskId, config.id)).result).toEqual({});
    expect(await configsOf(alice, taskId)).toEqual([]);
  });

  it('are refused under an id that the task has (PCFG-04b, B-73)', async () => {
    const { id: taskId } = await alice.task('echo');
    const answers = await Promise.all([1, 2, 3, 4].map(() => createConfig(alice, taskId, { id: 'c' })));
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- a result has no error
    expect(answers.map(({ error }) => error?.code ?? 0).sort()).toEqual([-32602, -32602, -32602, 0]);
    expect(await configsOf(alice, taskId)).toHaveLength(1);
  });

  it('stay eight, whether they come one by one or at once (PCFG-07)', async () => {
    const { id: taskId } = await alice.task('echo');
    for (let round = 0; round < 10; round++) {
      const ids = Array.from({ length: 10 }, (_item, index) => `${round}-${index}`);
      const answers = await Promise.all(ids.map((id) => createConfig(alice, taskId, { id })));
      expect(answers.map(({ result }) => result.id)).toEqual(ids);
    }
    const kept = (await configsOf(alice, taskId)).map(({ id }) => id);
    expect(kept).toHaveLength(8);
    expect(kept.every((id) => id.startsWith('9-'))).toBe(true);
  });

  it('come with a message, and not with one that is refused (SEND-12a, SEND-13, SEND-14, B-93)', async () => {
    const parked = await alice.task('input', inline({ id: 'c', token: 'first' }));
    expect(await configsOf(alice, parked.id)).toEqual([{ id: 'c', taskId: parked.id, url: HOOK, token: 'first' }]);
    const wrong = await alice.follow(parked.id, 'echo', inline({ id: 'd', taskId: 'another' }));
    expect(wrong.error.code).toBe(-32602);
    expect(await alice.get(parked.id)).toEqual(parked);
    await alice.follow(parked.id, 'echo', inline({ id: 'c', token: 'second' }));
    expect(await configsOf(alice, parked.id)).toMatchObject([{ id: 'c', token: 'second' }]);
    const before = (await alice.list()).totalSize;
    expect((await alice.send('echo', inline({ url: 'http://10.0.0.1/' }))).error.code).toBe(-32602);
    expect((await alice.list()).totalSize).toBe(before);
  });

  it('go with a task that is removed, and are not found then (RET-05, PCFG-01)', async () => {
    const { id: taskId } = await alice.task('echo', inline({ id: 'c' }));
    for (let count = 0; count < 3; count++) await alice.task('echo');
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- a result has no error
    await until(async () => (await getConfig(alice, taskId, 'c')).error?.code === -32001, 'The end of the config');
    expect((await createConfig(alice, taskId)).error.code).toBe(-32001);
  });
});
