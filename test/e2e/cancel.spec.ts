import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  MemoryTaskStore,
  TaskRecordConflictError,
  TaskSettledElsewhereError,
  TaskState,
  type TaskContext,
} from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { fieldsOf, newcomer, textOf, type Answer } from '../support/caller.js';
import { callAndLeave, Departures } from '../support/departing-client.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { draftOf } from 'nestjs-a2a/testing';
import { until } from '../support/until.js';

const CANCELED = 'TASK_STATE_CANCELED';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe.each(ADAPTERS)('CancelTask on %s', (adapter) => {
  let agent: Agent;
  let departures: Departures;
  let skills: FixtureSkills;
  let store: GatedStore;

  beforeEach(async () => {
    store = new GatedStore();
    agent = await startAgent({ adapter, skills: [FixtureSkills], options: { store } });
    departures = new Departures(agent.app.getHttpServer());
    skills = agent.app.get(FixtureSkills);
  });
  afterEach(async () => {
    skills.gate.open();
    await agent.close();
  });

  it.each([
    ['wait', 'TASK_STATE_SUBMITTED'],
    ['hold', 'TASK_STATE_WORKING'],
  ])('settles a task that runs, and gives it bare: %s (CAN-02, CAN-03a, B-69)', async (text, before) => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start(text);
    await skills.gate.whenWaiting();
    const running = await alice.get(id);
    expect(running.status.state).toBe(before);
    const { status, result } = await alice.cancel(id);
    expect(status).toBe(200);
    expect(result).toMatchObject({ id, contextId: running.contextId, status: { state: CANCELED } });
    expect(Object.keys(result).sort()).toEqual(['contextId', 'history', 'id', 'metadata', 'status']);
    expect(await alice.get(id)).toEqual(result);
    const { signal } = skills.callsOf(id)[0]!;
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(TaskSettledElsewhereError);
  });

  it.each(['input', 'auth'])('settles a task that nobody works on: %s (CAN-02, B-66)', async (text) => {
    const alice = newcomer(agent.url);
    const parked = await alice.task(text);
    const { result } = await alice.cancel(parked.id);
    expect(result.status.state).toBe(CANCELED);
    expect(result.history).toEqual(parked.history);
    expect(await alice.get(parked.id)).toEqual(result);
  });

  it('is not left half done by a client that leaves (CAN-06)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start('hold');
    await skills.gate.whenWaiting();
    const gate = store.hold('settle', 'before');
    const client = callAndLeave(agent.url, 'CancelTask', { id }, alice.user);
    await gate.whenWaiting();
    await departures.of(client);
    expect((await alice.get(id)).status.state).toBe('TASK_STATE_WORKING');
    gate.open();
    await alice.taskWhen(id, ({ status }) => status.state === CANCELED);
    expect(skills.callsOf(id)[0]?.signal.aborted).toBe(true);
  });

  it('goes through when its client leaves while the task is read (CAN-06)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('input');
    const gate = store.hold('read', 'before');
    const client = callAndLeave(agent.url, 'CancelTask', { id }, alice.user);
    await gate.whenWaiting();
    await departures.of(client);
    gate.open();
    await alice.taskWhen(id, ({ status }) => status.state === CANCELED);
  });

  it('has the sender of the message answered with the canceled task (CAN-02, SEND-08)', async () => {
    const alice = newcomer(agent.url);
    const answer = alice.task('hold');
    await skills.gate.whenWaiting();
    const [running] = (await alice.list()).tasks;
    const { result } = await alice.cancel(running!.id);
    expect(await answer).toEqual(result);
  });
});

describe('CancelTask', () => {
  let agent: Agent;
  let skills: FixtureSkills;

  beforeAll(async () => {
    agent = await startAgent({ skills: [FixtureSkills], options: { maxConcurrentRunsPerOwner: -1 } });
    skills = agent.app.get(FixtureSkills);
  });
  afterAll(async () => {
    skills.gate.open();
    await agent.close();
  });

  it.each([
    ['no params', undefined],
    ['no id', {}],
    ['an empty id', { id: '' }],
    ['a number', { id: 7 }],
    ['a long id', { id: 'x'.repeat(257) }],
    ['a NUL', { id: 'a\0' }],
  ])('refuses %s (CAN-01a, R-31, B-26)', async (_what, params) => {
    const { error } = await newcomer(agent.url).invoke('CancelTask', params);
    expect(error.code).toBe(-32602);
    expect(fieldsOf(error)).toEqual(['id']);
  });

  it('knows nothing of a task that there is not (CAN-01a)', async () => {
    const { error } = await newcomer(agent.url).cancel(UNKNOWN);
    expect(error).toMatchObject({ code: -32001, data: [{ reason: 'TASK_NOT_FOUND', metadata: { taskId: UNKNOWN } }] });
  });

  it.each([
    ['echo', 'TASK_STATE_COMPLETED'],
    ['fail', 'TASK_STATE_FAILED'],
    ['reject', 'TASK_STATE_REJECTED'],
  ])('cannot cancel a task that has ended, and says which and how: %s (CAN-01b)', async (text, state) => {
    const alice = newcomer(agent.url);
    const task = await alice.task(text);
    const { status, error } = await alice.cancel(task.id);
    expect(status).toBe(200);
    expect(error).toMatchObject({
      code: -32002,
      data: [{ reason: 'TASK_NOT_CANCELABLE', metadata: { taskId: task.id, state } }],
    });
    expect(await alice.get(task.id)).toEqual(task);
  });

  it('cannot cancel a task that its owner has canceled before (R-11, CAN-01b, B-67)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('input');
    const { result } = await alice.cancel(id);
    const { error } = await alice.cancel(id);
    expect(error).toMatchObject({ code: -32002, data: [{ metadata: { taskId: id, state: CANCELED } }] });
    expect(await alice.get(id)).toEqual(result);
  });

  it('takes metadata, and keeps none of it (CAN-08b)', async () => {
    const alice = newcomer(agent.url);
    const { id, metadata } = await alice.task('input');
    const { result } = await alice.invoke('CancelTask', { id, metadata: { reason: 'changed my mind', deep: [1] } });
    expect(result.status.state).toBe(CANCELED);
    expect(result.metadata).toEqual(metadata);
    expect((await alice.invoke('CancelTask', { id, metadata: 'none' })).error.code).toBe(-32602);
  });

  it('is not undone by a skill that ignores it and completes late (CAN-04a, B-65, LIFE-06)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start('deaf late');
    await skills.gate.whenWaiting();
    const { result } = await alice.cancel(id);
    await until(() => agent.service.statistics().liveRuns === 0, 'The end of the run');
    skills.gate.letGo();
    // The skill has returned when another one, called later, has run to its end.
    await alice.task('progress 3');
    expect(await alice.get(id)).toEqual(result);
    expect(result).not.toHaveProperty('artifacts');
  });

  it('agrees with what is read later, at whatever moment it comes, 60 times (CAN-04a, B-65)', async () => {
    const alice = newcomer(agent.url);
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { id } = await alice.start(`${index % 2 ? 'slow' : 'stubborn'} ${10 + index}`);
        // The moment is the input of this test, not a way to wait for anything.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 80));
        return { id, answer: await alice.cancel(id), task: await alice.get(id) };
      }),
    );
    await until(() => agent.service.statistics().liveRuns === 0, 'The end of all runs');
    for (const { id, answer, task } of outcomes) {
      const later = await alice.get(id);
      expect(later).toEqual(task);
      assertAgree(answer, later.status.state);
    }
  });

  it('gives the run slot of the task back, though the skill goes on (CAP-03)', async () => {
    const other = await startAgent({ skills: [FixtureSkills], options: { maxConcurrentRunsPerOwner: 1 } });
    const { gate } = other.app.get(FixtureSkills);
    try {
      const alice = newcomer(other.url);
      const { id } = await alice.start('deaf');
      await gate.whenWaiting();
      await alice.cancel(id);
      expect((await alice.task('echo')).status.state).toBe('TASK_STATE_COMPLETED');
    } finally {
      gate.open();
      await other.close();
    }
  });

  it('lets the oldest settled tasks go within a second, as any settle does (CAN-08a, R-29)', async () => {
    const store = new MemoryTaskStore();
    const other = await startAgent({ skills: [FixtureSkills], options: { store, terminalTaskRetention: 2 } });
    try {
      const alice = newcomer(other.url);
      // Not made by runs: those would have the tier trimmed themselves.
      const parked = ['a', 'b', 'c', 'd', 'e'];
      for (const id of parked) await store.create(draftOf({ id, owner: alice.user, state: TaskState.InputRequired }));
      for (const id of parked) await alice.cancel(id);
      const end = Date.now() + 1_000;
      await until(async () => (await alice.list()).totalSize === 2, 'The trim');
      expect(Date.now()).toBeLessThan(end);
    } finally {
      await other.close();
    }
  });
});

/** A cancel won and the task is CANCELED, or it lost and says what the task is. */
function assertAgree({ result, error }: Answer, state: string): void {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- an error has no result
  if (result) {
    expect([result.status.state, state]).toEqual([CANCELED, CANCELED]);
  } else {
    expect(state).toBe('TASK_STATE_COMPLETED');
    expect(error).toMatchObject({ code: -32002, data: [{ metadata: { state } }] });
  }
}

describe('CancelTask, when the store is slow,', () => {
  let agent: Agent;
  let skills: FixtureSkills;
  let store: GatedStore;

  beforeEach(async () => {
    store = new GatedStore();
    agent = await startAgent({ skills: [FixtureSkills], options: { store } });
    skills = agent.app.get(FixtureSkills);
  });
  afterEach(async () => {
    skills.gate.open();
    await agent.close();
  });

  it.each(['input', 'hold'])('gives all ten that race each other one canceled task: %s (R-11, B-67)', async (text) => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start(text);
    if (text === 'hold') await skills.gate.whenWaiting();
    else await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_INPUT_REQUIRED');
    const before = await alice.get(id);
    const gate = store.hold('read', 'after');
    const answers = Array.from({ length: 10 }, () => alice.cancel(id));
    await gate.whenWaiting(10);
    gate.open();
    const results = (await Promise.all(answers)).map(({ result }) => result);
    expect(results[0]).toMatchObject({ id, status: { state: CANCELED } });
    expect(results[0]!.history).toEqual(before.history);
    for (const result of results) expect(result).toEqual(results[0]);
    expect(await alice.get(id)).toEqual(results[0]);
    const record = await store.read({ id, owner: alice.user });
    // One more event than before: SUBMITTED, then one status, then CANCELED.
    expect(record.version).toBe(2);
  });

  it('loses to a completion that was stored first, and says so (CAN-01b, CAN-04b)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start('hold');
    await skills.gate.whenWaiting();
    const gate = store.hold('settle', 'before');
    const answer = alice.cancel(id);
    await gate.whenWaiting();
    skills.gate.letGo();
    const done = await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    gate.open();
    expect((await answer).error).toMatchObject({
      code: -32002,
      data: [{ metadata: { state: 'TASK_STATE_COMPLETED' } }],
    });
    expect(await alice.get(id)).toEqual(done);
  });

  it('beats a completion that is on its way to the store (CAN-04a)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start('hold late');
    await skills.gate.whenWaiting();
    const gate = store.hold('append', 'before');
    skills.gate.letGo();
    await gate.whenWaiting();
    const { result } = await alice.cancel(id);
    gate.open();
    await until(() => agent.service.statistics().liveRuns === 0, 'The end of the run');
    expect(result.status.state).toBe(CANCELED);
    expect(await alice.get(id)).toEqual(result);
  });

  it('is one guarded write, however fast the task changes meanwhile (R-22, CAN-04b)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start('busy');
    await alice.taskWhen(id, ({ history }) => history.length > 3);
    const { result } = await alice.cancel(id);
    expect(result.status.state).toBe(CANCELED);
    expect(store.count('settle')).toBe(1);
    await until(() => agent.service.statistics().liveRuns === 0, 'The end of the run');
    expect(await alice.get(id)).toEqual(result);
  });

  it('before the skill is called means that it never is (CAN-03b)', async () => {
    const alice = newcomer(agent.url);
    const gate = store.hold('create', 'after');
    const answer = alice.start('echo');
    await gate.whenWaiting();
    const [submitted] = (await alice.list()).tasks;
    const { result } = await alice.cancel(submitted!.id);
    expect(result.status.state).toBe(CANCELED);
    gate.open();
    expect((await answer).id).toBe(submitted!.id);
    await until(() => agent.service.statistics().liveRuns === 0, 'The end of the run');
    expect(skills.calls).toHaveLength(0);
    expect(await alice.get(submitted!.id)).toEqual(result);
  });

  it('before a resumed skill is called means that it is not called again (CAN-03b)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('input');
    const gate = store.hold('append', 'after');
    const answer = alice.follow(id, 'echo');
    await gate.whenWaiting();
    const { result } = await alice.cancel(id);
    gate.open();
    expect((await answer).result.task).toEqual(result);
    expect(result.history.map(textOf)).toEqual(['input', 'More, please.', 'echo']);
    expect(skills.callsOf(id)).toHaveLength(1);
  });

  it.each([
    ['finds a conflict', new TaskRecordConflictError()],
    ['fails', new Error('connect ECONNREFUSED db://user:pw@host')],
  ])('answers an internal error when the store %s, and changes nothing (ERR-03, STORE-13b)', async (_what, failure) => {
    const alice = newcomer(agent.url);
    const parked = await alice.task('input');
    store.fail('settle', failure);
    expect((await alice.cancel(parked.id)).error).toEqual({ code: -32603, message: 'Internal error' });
    expect(await alice.get(parked.id)).toEqual(parked);
    store.fail('settle', undefined);
    expect((await alice.cancel(parked.id)).result.status.state).toBe(CANCELED);
  });
});

describe('CancelTask on another process than the one that runs the task', () => {
  it('stands: the run writes nothing more, and its sender gets the canceled task (CAN-04a, CAN-05)', async () => {
    const store = new MemoryTaskStore();
    const gate = new Gate();
    const rejections: unknown[] = [];
    const handler = async (task: TaskContext): Promise<void> => {
      await task.working();
      await gate.pass(task.signal);
      await task.progress('Still here.').catch((error: unknown) => rejections.push(error));
      await task.complete('Done.').catch((error: unknown) => rejections.push(error));
    };
    const skills = [{ id: 'long', handler }];
    const [here, there] = [
      await startAgent({ options: { store, skills } }),
      await startAgent({ options: { store, skills } }),
    ];
    try {
      const alice = newcomer(here.url);
      const answer = alice.task('go');
      await gate.whenWaiting();
      const [running] = (await alice.list()).tasks;
      const { result } = await alice.at(there.url).cancel(running!.id);
      expect(result.status.state).toBe(CANCELED);
      gate.open();
      expect(await answer).toEqual(result);
      await until(() => rejections.length === 2, "The skill's end");
      for (const error of rejections) expect(error).toBeInstanceOf(TaskSettledElsewhereError);
      expect(await alice.get(running!.id)).toEqual(result);
    } finally {
      await here.close();
      await there.close();
    }
  });
});
