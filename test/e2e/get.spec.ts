import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemoryTaskStore, TaskRecordNotFoundError, type TaskRecord } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { Caller, fieldsOf, newcomer, textOf } from '../support/caller.js';
import { callAndLeave, Departures } from '../support/departing-client.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { draftOf } from 'nestjs-a2a/testing';
import { until } from '../support/until.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('GetTask', () => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startAgent({ skills: [FixtureSkills] });
  });
  afterAll(() => agent.close());

  it.each([
    ['no params', undefined],
    ['no id', {}],
    ['an empty id', { id: '' }],
    ['a null id', { id: null }],
    ['a number', { id: 7 }],
    ['257 characters', { id: 'x'.repeat(257) }],
    ['5,000 characters', { id: 'x'.repeat(5_000) }],
    ['a NUL', { id: 'a\0' }],
    ['half a character', { id: '\udc00' }],
  ])('refuses %s as an id, before the store is asked (GET-01a, R-31, B-26)', async (_what, params) => {
    const { status, error } = await newcomer(agent.url).invoke('GetTask', params);
    expect(status).toBe(200);
    expect(error.code).toBe(-32602);
    expect(fieldsOf(error)).toEqual(['id']);
  });

  it.each([UNKNOWN, 'x'.repeat(256), "'; DROP TABLE a2a_task; --", '../..', '%00', 'ünïcödé 😀', '__proto__'])(
    'knows no task %s (GET-01b, STORE-13a)',
    async (id) => {
      const { status, error } = await newcomer(agent.url).invoke('GetTask', { id });
      expect(status).toBe(200);
      expect(error).toEqual({
        code: -32001,
        message: 'Task not found',
        data: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'TASK_NOT_FOUND',
            domain: 'a2a-protocol.org',
            metadata: { taskId: id },
          },
        ],
      });
    },
  );

  it('gives the bare task, with artifacts, and nothing that is only stored (GET-01b, GET-04a, STORE-05)', async () => {
    const alice = newcomer(agent.url, { tenant: 'acme', scopes: 'read' });
    const sent = await alice.task('echo hello');
    const task = await alice.get(sent.id);
    expect(task).toEqual(sent);
    expect(Object.keys(task).sort()).toEqual(['artifacts', 'contextId', 'history', 'id', 'metadata', 'status']);
    expect(task.artifacts.map(textOf)).toEqual(['hello']);
  });

  it('gives so many of the newest messages, all, or none (GET-03a, B-37, B-39)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('progress 3');
    const all = ['progress 3', 'Step 0.', 'Step 1.', 'Step 2.'];
    for (const historyLength of [1, 2, 3, 4, 999, 2 ** 31 - 1]) {
      expect((await alice.get(id, { historyLength })).history.map(textOf)).toEqual(all.slice(-historyLength));
    }
    expect(await alice.get(id, { historyLength: 0 })).not.toHaveProperty('history');
    expect((await alice.get(id)).history.map(textOf)).toEqual(all);
    expect((await alice.get(id, { historyLength: null })).history.map(textOf)).toEqual(all);
  });

  it.each([-1, 1.5, '3', 2 ** 31, 1e300, true, [1]])(
    'refuses the historyLength %p (GET-03b, DM-14a, B-38)',
    async (historyLength) => {
      const alice = newcomer(agent.url);
      const { id } = await alice.task('echo');
      const { error } = await alice.invoke('GetTask', { id, historyLength });
      expect(error.code).toBe(-32602);
      expect(fieldsOf(error)).toEqual(['historyLength']);
    },
  );

  it('shows a task as it runs (GET-01b)', async () => {
    const alice = newcomer(agent.url);
    const skills = agent.app.get(FixtureSkills);
    const { id } = await alice.start('hold');
    await skills.gate.whenWaiting();
    expect((await alice.get(id)).status).toMatchObject({ state: 'TASK_STATE_WORKING' });
    skills.gate.letGo();
    expect((await alice.taskWhen(id, ({ status }) => status.state !== 'TASK_STATE_WORKING')).status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
  });
});

describe('GetTask, when the store fails,', () => {
  it.each([
    ['wrapped', new Error('query failed', { cause: new TaskRecordNotFoundError() })],
    ['of another copy of the package', Object.assign(new Error('none'), { code: 'TASK_RECORD_NOT_FOUND' })],
  ])('takes a not-found that is %s for one (ERR-03, STORE-08)', async (_what, failure) => {
    const { error } = await getFrom(() => Promise.reject(failure));
    expect(error).toMatchObject({ code: -32001, message: 'Task not found', data: [{ metadata: { taskId: UNKNOWN } }] });
  });

  it('answers an internal error without any detail (STORE-13b, B-10)', async () => {
    for (const fail of [
      () => Promise.reject(new Error('connect ECONNREFUSED db://user:pw@host')),
      () => {
        throw new Error('connect ECONNREFUSED db://user:pw@host');
      },
    ]) {
      const { status, error } = await getFrom(fail);
      expect(status).toBe(200);
      expect(error).toEqual({ code: -32603, message: 'Internal error' });
    }
  });

  it('answers an internal error when the store does not answer in time (B-53)', async () => {
    const { error } = await getFrom(() => new Promise(() => undefined), 30);
    expect(error).toEqual({ code: -32603, message: 'Internal error' });
  });

  async function getFrom(read: () => Promise<TaskRecord>, storeTimeout?: number) {
    class FailingStore extends MemoryTaskStore {
      override read(): Promise<TaskRecord> {
        return read();
      }
    }
    const options = { store: new FailingStore(), ...(storeTimeout !== undefined && { storeTimeout }) };
    const agent = await startAgent({ skills: [FixtureSkills], options });
    try {
      return await newcomer(agent.url).invoke('GetTask', { id: UNKNOWN });
    } finally {
      await agent.close();
    }
  }
});

describe.each(ADAPTERS)('A read, on %s,', (adapter) => {
  let agent: Agent;
  let departures: Departures;
  let store: GatedStore;
  let resolving: Gate;

  beforeAll(async () => {
    store = new GatedStore();
    resolving = new Gate();
    agent = await startAgent({
      adapter,
      skills: [FixtureSkills],
      options: {
        store,
        principal: async ({ headers }: { headers: Record<string, string | undefined> }) => {
          if (headers['x-user'] === 'late') await resolving.pass();
          return { owner: headers['x-user'] };
        },
      },
    });
    departures = new Departures(agent.app.getHttpServer());
  });
  afterAll(() => agent.close());

  it.each([
    ['GetTask', 'read', { id: UNKNOWN }],
    ['ListTasks', 'list', {}],
  ] as const)('whose client leaves is aborted: %s (GET-04b, LIST-10, R-37)', async (method, operation, params) => {
    const gate = store.hold(operation, 'before');
    const client = callAndLeave(agent.url, method, params);
    await gate.whenWaiting();
    const { signal } = store.calls.at(-1)!;
    expect(signal?.aborted).toBe(false);
    await departures.of(client);
    await until(() => signal?.aborted === true, "The read's signal");
    gate.open();
  });

  it('of a whole list ends when its client leaves (LIST-10, R-37)', async () => {
    const unfiltered = Object.defineProperty(new GatedStore(), 'filtersTiers', { value: false });
    const options = { store: unfiltered };
    const other = await startAgent({ adapter, skills: [FixtureSkills], options });
    try {
      for (let count = 0; count < 150; count++) await unfiltered.create(draftOf({ owner: 'alice' }));
      const alice = new Caller(other.url);
      expect((await alice.list({ pageSize: 1 })).totalSize).toBe(150);
      const whole = unfiltered.count('list');
      expect(whole).toBeGreaterThan(1);
      const departed = new Departures(other.app.getHttpServer());
      const gate = unfiltered.hold('list', 'before');
      const client = callAndLeave(other.url, 'ListTasks', { pageSize: 1 });
      await gate.whenWaiting();
      await departed.of(client);
      gate.open();
      // A whole call of another client later it would have read on.
      await alice.invoke('GetTask', { id: UNKNOWN });
      expect(unfiltered.count('list')).toBe(whole + 1);
    } finally {
      await other.close();
    }
  });

  it('whose client waits is not aborted, not even afterwards (R-37)', async () => {
    store.hold('read', 'before').open();
    await newcomer(agent.url).invoke('GetTask', { id: UNKNOWN });
    expect(store.calls.at(-1)).toMatchObject({ operation: 'read', signal: { aborted: false } });
  });

  it('whose client left before it began is aborted from the start (GET-04b, R-37, B-55)', async () => {
    const gate = store.hold('read', 'before');
    const reads = store.count('read');
    const client = callAndLeave(agent.url, 'GetTask', { id: UNKNOWN }, 'late');
    await resolving.whenWaiting();
    await departures.of(client);
    resolving.open();
    await until(() => store.count('read') > reads, 'The read');
    expect(store.calls.at(-1)?.signal?.aborted).toBe(true);
    gate.open();
  });
});
