import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  DeadlineExceededError,
  InvalidParamsError,
  MemoryTaskStore,
  TaskState,
  UnsupportedOperationError,
  type TaskContext,
  type TaskRecord,
} from 'nestjs-a2a';
import type { Agent } from '../support/agent.js';
import { textOf, type Caller, type WireTask } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { LogRecorder } from '../support/log-recorder.js';
import { ManualClock } from '../support/manual-clock.js';
import { startStage, type Stage } from '../support/puppet.js';
import { settleOf, statusOf } from 'nestjs-a2a/testing';
import { until } from '../support/until.js';

const SECRET = 'SECRET-STACK-db://user:pw@host';
const isOver = ({ status }: WireTask): boolean => /COMPLETED|FAILED|CANCELED|REJECTED/u.test(status.state);

describe('The disclosure of a task', () => {
  let stage: Stage;
  let store: GatedStore;

  beforeAll(async () => {
    store = new GatedStore();
    stage = await startStage({ store });
  });
  afterAll(() => stage.agent.close());
  beforeEach(() => {
    store.calls.splice(0);
  });

  it('comes with the end of a fast run, in one write with all of it (R-21)', async () => {
    let before = -1;
    const alice = stage.play(() => {
      before = store.calls.length;
      return 'result';
    });
    const task = await alice.task('go');
    expect(before).toBe(0);
    expect(store.calls.map(({ operation }) => operation)).toEqual(['create']);
    expect(task.artifacts).toHaveLength(1);
    expect(await versionOf(stage, alice, task.id)).toBe(2);
  });

  it('comes with all the updates that a skill gives at once, in one write and in order (R-21, R-34)', async () => {
    const alice = stage.play(async (task) => {
      void task.working('One.');
      void task.artifact({ artifactId: 'a', parts: [{ text: 'x' }] });
      void task.artifact({ artifactId: 'a', parts: [{ text: 'y' }] }, { append: true });
      await task.complete('Two.');
    });
    const task = await alice.task('go');
    expect(store.calls.map(({ operation }) => operation)).toEqual(['create']);
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([[{ text: 'x' }, { text: 'y' }]]);
    expect(task.history.map(textOf)).toEqual(['go', 'One.', 'Two.']);
    expect(await versionOf(stage, alice, task.id)).toBe(4);
  });

  it('comes with the first mutation of the skill, which is in the same write (R-21, LIFE-01a)', async () => {
    const seen: TaskRecord[] = [];
    const alice = stage.play(async (task) => {
      await task.working('On it.');
      seen.push(await store.read({ id: task.id, owner: task.owner }));
    });
    await alice.task('go');
    expect(seen[0]).toMatchObject({ version: 1, runId: expect.any(String) as unknown });
    expect(seen[0]?.task.status.state).toBe(TaskState.Working);
    expect(seen[0]?.task.history?.map(textOf as never)).toEqual(['go', 'On it.']);
    expect(store.count('create')).toBe(1);
  });

  it('comes with the first streamed item (R-21)', async () => {
    const seen: TaskRecord[] = [];
    const alice = stage.play(async function* (task) {
      expect(store.calls).toEqual([]);
      yield 'first';
      await until(() => store.count('create') === 1);
      seen.push(await store.read({ id: task.id, owner: task.owner }));
    });
    await alice.task('go');
    expect(seen[0]?.task.artifacts?.[0]?.parts).toEqual([{ text: 'first' }]);
  });

  it('comes before the skill is called when the client wants to be told at once (R-21, LIFE-01a)', async () => {
    const seen: TaskRecord[] = [];
    const alice = stage.play(async (task) => {
      seen.push(await store.read({ id: task.id, owner: task.owner }));
    });
    const task = await alice.start('go');
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_COMPLETED']).toContain(task.status.state);
    await alice.taskWhen(task.id, isOver);
    expect(seen[0]).toMatchObject({ version: 0, runId: expect.any(String) as unknown });
    expect(seen[0]?.task.status.state).toBe(TaskState.Submitted);
    expect(seen[0]?.task.history).toHaveLength(1);
  });

  it('comes after 50 ms when the skill has said nothing, and shows the task as created (R-21)', async () => {
    const gate = new Gate();
    const alice = stage.play((task) => gate.pass(task.signal));
    const answer = alice.send('go');
    await gate.whenWaiting();
    const began = performance.now();
    await until(() => store.count('create') === 1, 'The row');
    expect(performance.now() - began).toBeLessThan(2_000);
    const { tasks } = await alice.list();
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_SUBMITTED']);
    expect(tasks[0]?.history.map(textOf)).toEqual(['go']);
    gate.open();
    expect((await answer).result.task.id).toBe(tasks[0]?.id);
  });

  it('tells nobody of a task that is not stored yet (R-21, LIFE-01b)', async () => {
    const gate = store.hold('create', 'before');
    const alice = stage.play(() => 'result');
    let isAnswered = false;
    const answer = alice.send('go').then(({ result }) => {
      isAnswered = true;
      return result;
    });
    await gate.whenWaiting();
    expect((await alice.list()).totalSize).toBe(0);
    expect(isAnswered).toBe(false);
    gate.open();
    const { task } = await answer;
    expect((await alice.list()).tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it('happens once, when the 50 ms and the skill meet (R-21)', async () => {
    const gate = store.hold('create', 'before');
    const alice = stage.play(async (task) => {
      await gate.whenWaiting();
      void task.working();
      void task.progress('Still.');
      return 'result';
    });
    const answer = alice.send('go');
    await gate.whenWaiting();
    gate.open();
    expect((await answer).result.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(store.count('create')).toBe(1);
  });

  it('gives the task the ids that the client is told, and keeps what it was made with', async () => {
    const alice = stage.play(() => 'result');
    const task = await alice.task('go', { message: { contextId: 'mine' } });
    const record = await store.read({ id: task.id, owner: alice.user });
    expect(record).toMatchObject({ skillId: 'puppet', owner: alice.user, tenant: '', scope: '*', runId: null });
    expect(record.task).toMatchObject({ contextId: 'mine', metadata: { 'a2a.skill': 'puppet' } });
  });
});

describe('The end of a run', () => {
  let stage: Stage;
  let log: LogRecorder;

  beforeAll(async () => {
    log = new LogRecorder();
    stage = await startStage({}, { logger: log });
  });
  afterAll(() => stage.agent.close());

  it.each([
    ['complete', 'COMPLETED'],
    ['fail', 'FAILED'],
    ['reject', 'REJECTED'],
    ['requireInput', 'INPUT_REQUIRED'],
    ['requireAuth', 'AUTH_REQUIRED'],
  ] as const)(
    'that the skill sets by %s() stands, whatever it returns or throws (LIFE-07, CTX-08a)',
    async (end, state) => {
      for (const afterwards of [() => 'late', () => Promise.reject(new Error(SECRET)), () => undefined]) {
        const alice = stage.play(async (task) => {
          await task[end]('My word.');
          return afterwards();
        });
        const task = await alice.task('go');
        expect(task.status).toMatchObject({ state: `TASK_STATE_${state}`, message: { parts: [{ text: 'My word.' }] } });
        expect(task).not.toHaveProperty('artifacts');
        await until(() => stage.agent.service.statistics().liveRuns === 0);
        expect(await alice.get(task.id)).toEqual(task);
      }
    },
  );

  it.each([
    [
      'an Error',
      () => {
        throw new Error(SECRET);
      },
    ],
    ['an Error in a promise', () => Promise.reject(new Error(SECRET))],
    [
      'a string',
      () => {
        throw SECRET as unknown as Error;
      },
    ],
    ['nothing', () => Promise.reject(undefined as unknown as Error)],
    [
      'an Error after an update',
      async (task: TaskContext) => {
        await task.working();
        throw new Error(SECRET);
      },
    ],
  ] as [string, (task: TaskContext) => unknown][])(
    'by throwing %s is FAILED with a neutral text, and the cause is logged only (LIFE-03a, B-51, B-10)',
    async (name, work) => {
      log.lines.splice(0);
      const { result, text } = await stage.play(work).send('go');
      expect(result.task.status.state).toBe('TASK_STATE_FAILED');
      expect(textOf(result.task.status.message)).toBe('skill handler failed');
      expect(text).not.toContain('SECRET');
      const lines = log.of('error').filter((line) => line.includes('Skill "puppet" failed'));
      expect(lines).toHaveLength(1);
      if (name !== 'nothing') expect(lines[0]).toContain(SECRET);
    },
  );

  it.each([
    ['itself', (error: Error) => error],
    ['as a cause', (error: Error) => new Error(SECRET, { cause: error })],
  ])('by throwing an A2AError %s is FAILED with its message (LIFE-03b)', async (_name, wrap) => {
    const { result, text } = await stage
      .play(() => {
        throw wrap(new UnsupportedOperationError('Not on Sundays.'));
      })
      .send('go');
    expect(result.task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(result.task.status.message)).toBe('Not on Sundays.');
    expect(text).not.toContain('SECRET');
  });

  it('by throwing invalid params is FAILED with their message too (LIFE-03b)', async () => {
    const task = await stage
      .play(() => {
        throw new InvalidParamsError([{ field: 'year', description: 'Is long past.' }]);
      })
      .task('go');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
  });

  it.each(['blocking', 'at once'])('by throwing at once leaves a task that can be found: %s (B-51)', async (how) => {
    const alice = stage.play(() => {
      throw new Error(SECRET);
    });
    const { id } = how === 'blocking' ? await alice.task('go') : await alice.start('go');
    expect((await alice.taskWhen(id, isOver)).status.state).toBe('TASK_STATE_FAILED');
    expect((await alice.list()).tasks.map((task) => task.id)).toEqual([id]);
  });

  it('has every status stamped with a time, and the messages of the agent in the history (DM-10b, LIFE-13b)', async () => {
    const alice = stage.play(async (task) => {
      await task.working('One.');
      await task.progress('Two.');
      await task.complete('Three.');
    });
    const task = await alice.task('go');
    expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u);
    expect(task.history.map(textOf)).toEqual(['go', 'One.', 'Two.', 'Three.']);
    for (const message of task.history.slice(1)) {
      expect(message).toMatchObject({ role: 'ROLE_AGENT', taskId: task.id, contextId: task.contextId });
      expect(message.messageId).toMatch(/^[0-9a-f-]{36}$/u);
    }
    expect(new Set(task.history.map(({ messageId }) => messageId)).size).toBe(4);
  });
});

describe('A run that is stopped', () => {
  let stage: Stage;
  let rejections: unknown[];
  const note = (reason: unknown) => rejections.push(reason);

  beforeAll(async () => {
    stage = await startStage();
    process.on('unhandledRejection', note);
  });
  beforeEach(() => {
    rejections = [];
  });
  afterEach(async () => {
    await turns();
    expect(rejections).toEqual([]);
  });
  afterAll(async () => {
    process.off('unhandledRejection', note);
    await stage.agent.close();
  });

  it.each([
    [
      'throws why it was stopped',
      (task: TaskContext) =>
        aborted(task.signal).then(() => {
          throw task.signal.reason as Error;
        }),
    ],
    [
      'throws anything else',
      (task: TaskContext) =>
        aborted(task.signal).then(() => {
          throw new Error(SECRET);
        }),
    ],
    ['returns something', (task: TaskContext) => aborted(task.signal).then(() => 'late')],
    ['completes the task', (task: TaskContext) => aborted(task.signal).then(() => task.complete('late'))],
    ['never comes back', () => new Promise(() => undefined)],
  ] as [string, (task: TaskContext) => unknown][])(
    'by a cancel ends CANCELED though the skill then %s (LIFE-04, LIFE-06)',
    async (_name, work) => {
      const alice = stage.play(work);
      const { id } = await alice.start('go');
      await until(() => stage.agent.service.statistics().liveRuns === 1);
      const { result } = await alice.cancel(id);
      expect(result.status.state).toBe('TASK_STATE_CANCELED');
      await until(() => stage.agent.service.statistics().liveRuns === 0, 'The end of the run');
      await turns();
      expect(await alice.get(id)).toEqual(result);
    },
  );

  it('by someone elsewhere learns of it with its next update, and leaves the state alone (LIFE-08a, CTX-03, R-22)', async () => {
    const gate = new Gate();
    const seen: unknown[] = [];
    const alice = stage.play(async (task) => {
      await task.working();
      await gate.pass();
      expect(task.signal.aborted).toBe(false);
      await task.artifact({ parts: [{ text: 'late' }] }).catch((error: unknown) => seen.push(error));
      seen.push(task.signal.reason);
      await task.complete().catch((error: unknown) => seen.push(error));
      return 'late';
    });
    const answer = alice.send('go');
    await gate.whenWaiting();
    const [task] = (await alice.list()).tasks;
    const key = { id: task!.id, owner: alice.user };
    await stage.store.settle(settleOf(key, statusOf(TaskState.Failed, Date.now(), 'the run was lost')));
    gate.open();
    const { result } = await answer;
    expect(result.task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text: 'the run was lost' }] },
    });
    expect(seen).toEqual(Array<unknown>(3).fill(expect.objectContaining({ code: 'SETTLED_ELSEWHERE' })));
    expect(await versionOf(stage, alice, key.id)).toBe(2);
  });

  it('by someone elsewhere while the skill says nothing is left as it is at its end (LIFE-08a)', async () => {
    const gate = new Gate();
    const alice = stage.play(async () => {
      await gate.pass();
      return 'late';
    });
    const { id } = await alice.start('go');
    await stage.store.settle(settleOf({ id, owner: alice.user }, statusOf(TaskState.Failed, Date.now())));
    gate.open();
    await until(() => stage.agent.service.statistics().liveRuns === 0);
    const task = await alice.get(id);
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(task).not.toHaveProperty('artifacts');
  });
});

describe('The deadline of a run', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage({ taskTimeout: 100, maxConcurrentRunsPerOwner: 1 });
  });
  afterAll(() => stage.agent.close());

  it('FAILs the task, tells the skill, and lets it do nothing more (LIFE-05a, LIFE-05b, CTX-03)', async () => {
    const refusals: unknown[] = [];
    const over = new Gate();
    const alice = stage.play(async (task) => {
      await task.artifact({ artifactId: 'a', parts: [{ text: 'in time' }] });
      await aborted(task.signal);
      refusals.push(task.signal.reason);
      for (const mutate of [
        () => task.working(),
        () => task.progress('x'),
        () => task.artifact({ parts: [] }),
        () => task.complete(),
        () => task.fail(),
        () => task.reject(),
        () => task.requireInput(),
        () => task.requireAuth('x'),
      ]) {
        await mutate().catch((error: unknown) => refusals.push(error));
      }
      over.open();
      return 'late';
    });
    const task = await alice.task('go');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message)).toBe('task timed out');
    expect(task.artifacts.map(({ artifactId }) => artifactId)).toEqual(['a']);
    await over.pass();
    expect(refusals).toHaveLength(9);
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(DeadlineExceededError);
      expect(refusal).toMatchObject({ name: 'DeadlineExceededError', code: 'DEADLINE_EXCEEDED' });
    }
    expect(await alice.get(task.id)).toEqual(task);
  });

  it('is not held up by a skill that ignores it, and gives its slot back (LIFE-06, CAP-03)', async () => {
    const alice = stage.play(() => new Promise(() => undefined));
    expect(textOf((await alice.task('go')).status.message)).toBe('task timed out');
    expect(textOf((await alice.task('again')).status.message)).toBe('task timed out');
    expect(stage.agent.service.statistics().liveRuns).toBe(0);
  });

  it('does not come when the skill has paused the task before', async () => {
    let signal: AbortSignal | undefined;
    const alice = stage.play(async (task) => {
      signal = task.signal;
      await task.requireInput('More?');
      await new Promise(() => undefined);
    });
    const { id } = await alice.task('go');
    // Another task that begins later has had its deadline by then.
    expect(textOf((await stage.play(() => new Promise(() => undefined)).task('go')).status.message)).toBe(
      'task timed out',
    );
    expect((await alice.get(id)).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(signal?.aborted).toBe(false);
  });
});

describe('The store of a run', () => {
  let stage: Stage;
  let store: GatedStore;
  let log: LogRecorder;

  beforeEach(async () => {
    store = new GatedStore();
    log = new LogRecorder();
    stage = await startStage({ store, storeTimeout: 100 }, { logger: log });
  });
  afterEach(() => stage.agent.close());

  it.each([
    ['returns a value', () => 'x'],
    ['returns nothing', () => undefined],
    ['awaits its updates', (task: TaskContext) => task.working()],
    ['does not await its updates', (task: TaskContext) => void task.working()],
    ['streams', () => ['a', 'b'].values()],
    [
      'throws',
      () => {
        throw new Error(SECRET);
      },
    ],
    ['is slower than 50 ms', () => new Promise((resolve) => setTimeout(resolve, 80))],
  ] as [string, (task: TaskContext) => unknown][])(
    'that is down has the call answered with -32603: the skill %s (B-53, FAULT-02a)',
    async (_name, work) => {
      store.fail('create', new Error(`connect ECONNREFUSED ${SECRET}`));
      const { error, text } = await stage.play(work).send('go');
      expect(error.code).toBe(-32603);
      expect(text).not.toContain('SECRET');
      expect(text).not.toContain('ECONNREFUSED');
      expect(stage.agent.service.statistics().liveRuns).toBe(0);
      expect(log.of('error').join('\n')).toContain('a2a: run finalize panicked');
    },
  );

  it('that hangs has the call answered with -32603 within its bound (B-53, LIFE-08b)', async () => {
    store.hold('create', 'before');
    const began = performance.now();
    const { error } = await stage.play(() => 'x').send('go');
    expect(error.code).toBe(-32603);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(log.of('error').join('\n')).toContain('a2a: run finalize panicked');
  });

  it('that hangs when the task is to be disclosed at once starts no run (B-53, R-21)', async () => {
    let calls = 0;
    store.hold('create', 'before');
    const alice = stage.play(() => calls++);
    const { error } = await alice.send('go', { configuration: { returnImmediately: true } });
    expect(error.code).toBe(-32603);
    expect(calls).toBe(0);
    expect(stage.agent.service.statistics().liveRuns).toBe(0);
  });

  it('that fails at the end leaves the task as it was last stored (FAULT-02a)', async () => {
    const alice = stage.play(async (task) => {
      await task.artifact({ artifactId: 'a', parts: [{ text: 'kept' }] });
      store.fail('append', new Error('down'));
      return 'lost';
    });
    expect((await alice.send('go')).error.code).toBe(-32603);
    store.fail('append', undefined);
    const [task] = (await alice.list({ includeArtifacts: true })).tasks;
    expect(task?.artifacts.map(({ artifactId }) => artifactId)).toEqual(['a']);
    expect(log.of('error').join('\n')).toContain(`a2a: run finalize panicked on task ${task?.id ?? ''}`);
  });

  it('that fails an update the skill can live with completes the task all the same', async () => {
    const alice = stage.play(async (task) => {
      await task.working();
      store.fail('append', new Error('down'));
      await expect(task.artifact({ parts: [{ text: 'lost' }] })).rejects.toThrow('down');
      store.fail('append', undefined);
      return 'made it';
    });
    const task = await alice.task('go');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([[{ text: 'made it' }]]);
  });

  it('still gets the end of a run that was cancelled by its deadline (LIFE-08b)', async () => {
    await stage.agent.close();
    stage = await startStage({ store, taskTimeout: 60, storeTimeout: 5_000 }, { logger: log });
    const gate = store.hold('append', 'before');
    const alice = stage.play((task) => aborted(task.signal));
    const { id } = await alice.start('go');
    await gate.whenWaiting();
    gate.open();
    expect((await alice.taskWhen(id, isOver)).status.state).toBe('TASK_STATE_FAILED');
  });

  it('that answers late has updates in its order all the same, in as few writes as can be (R-34, CTX-10b)', async () => {
    const gate = store.hold('append', 'before');
    const alice = stage.play(async (task) => {
      await task.working('0');
      const first = task.progress('1');
      await gate.whenWaiting();
      const rest = Array.from({ length: 20 }, (_, index) => task.progress(`${index + 2}`));
      gate.open();
      await Promise.all([first, ...rest]);
    });
    const task = await alice.task('go');
    expect(task.history.map(textOf)).toEqual(['go', ...Array.from({ length: 22 }, (_, index) => `${index}`)]);
    // The first progress, the twenty behind it, and the end.
    expect(store.calls.map(({ operation }) => operation)).toEqual(['create', 'append', 'append', 'append']);
  });
});

describe('The bounds of a task', () => {
  let agent: Agent | undefined;

  afterEach(() => agent?.close());

  it('have the history drop its oldest messages (LIFE-13a)', async () => {
    const stage = await startStage({ maxHistory: 3, store: new MemoryTaskStore(3) });
    agent = stage.agent;
    const alice = stage.play(async (task) => {
      for (let step = 0; step < 5; step++) await task.progress(`step ${step}`);
    });
    const task = await alice.task('go');
    expect(task.history.map(textOf)).toEqual(['step 2', 'step 3', 'step 4']);
    expect((await alice.get(task.id)).history).toEqual(task.history);
  });

  it.each([
    [
      'a recorded artifact',
      async (task: TaskContext) => {
        await task.artifact({ parts: [{ text: 'x'.repeat(20_000) }] });
      },
    ],
    ['a returned value', () => 'x'.repeat(20_000)],
    [
      'a message of the agent',
      async (task: TaskContext) => {
        await task.complete('x'.repeat(20_000));
      },
    ],
    [
      'a stream that goes on',
      function* () {
        for (;;) yield 'x'.repeat(500);
      },
    ],
  ] as [string, (task: TaskContext) => unknown][])(
    'FAIL the task that %s would grow past maxTaskBytes (R-35)',
    async (_name, work) => {
      const stage = await startStage({ maxTaskBytes: 4_000 });
      agent = stage.agent;
      const alice = stage.play(work);
      const { result, text } = await alice.send('go');
      expect(result.task.status.state).toBe('TASK_STATE_FAILED');
      expect(text.length).toBeLessThan(10_000);
      expect((await alice.get(result.task.id)).status.state).toBe('TASK_STATE_FAILED');
    },
  );

  it('stop the skill that wrote past them, whatever it does with the refusal (R-35, CTX-03)', async () => {
    const stage = await startStage({ maxTaskBytes: 4_000 });
    agent = stage.agent;
    const seen: unknown[] = [];
    const alice = stage.play(async (task) => {
      await task.artifact({ parts: [{ text: 'x'.repeat(20_000) }] }).catch((error: unknown) => seen.push(error));
      seen.push(task.signal.reason);
      await task.artifact({ parts: [{ text: 'small' }] }).catch((error: unknown) => seen.push(error));
      return 'fine';
    });
    const task = await alice.task('go');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message)).toBe('task is too large');
    expect(task).not.toHaveProperty('artifacts');
    expect(seen).toEqual(Array<unknown>(3).fill(expect.objectContaining({ code: 'TASK_TOO_LARGE' })));
  });

  it('refuse a message for which a paused task has no room, and leave the task as it is (R-35)', async () => {
    const stage = await startStage({ maxTaskBytes: 4_000 });
    agent = stage.agent;
    const alice = stage.play((task) =>
      textOf(task.message as never) === 'go' ? task.requireInput() : task.complete(),
    );
    const paused = await alice.task('go');
    const { error } = await alice.follow(paused.id, 'x'.repeat(20_000));
    expect(error.code).toBe(-32004);
    expect(await alice.get(paused.id)).toEqual(paused);
    expect((await alice.follow(paused.id, 'on')).result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('are lifted by a negative number (R-35, PKG-05)', async () => {
    const stage = await startStage({ maxTaskBytes: -1 });
    agent = stage.agent;
    const size = 17 * 1024 * 1024;
    const alice = stage.play(() => 'x'.repeat(size));
    expect((await alice.task('go')).artifacts[0]?.parts[0]?.['text']).toHaveLength(size);
  });
});

describe('The time of a task', () => {
  it('is that of the clock, and never goes back (R-30, R-40)', async () => {
    const clock = new ManualClock();
    const stage = await startStage({ clock });
    try {
      const alice = stage.play(async (task) => {
        await task.working();
        clock.advance(5_000);
        await task.progress('later');
        clock.advance(-60_000);
      });
      const task = await alice.task('go');
      expect(task.status.timestamp).toBe('2026-01-01T00:00:05.000Z');
    } finally {
      await stage.agent.close();
    }
  });
});

describe('The run slot and the retention of settled tasks', () => {
  it('free the slot before the end is seen, and keep 64 tasks of a tier (R-29, CAP-03, RET-02, LIFE-06)', async () => {
    const stage = await startStage({ maxConcurrentRunsPerOwner: 1 });
    try {
      const alice = stage.play((task) => (task.message.parts.length > 1 ? new Promise(() => undefined) : 'done'));
      for (let index = 0; index < 70; index++)
        expect((await alice.task('go')).status.state).toBe('TASK_STATE_COMPLETED');
      const { id } = await alice.start('stubborn', { message: { parts: [{ text: 'a' }, { text: 'b' }] } });
      await alice.cancel(id);
      await until(async () => (await alice.list()).totalSize === 64, 'The trim');
      // The cancelled one is the newest of them (CAN-08a).
      expect((await alice.list({ pageSize: 1 })).tasks[0]?.id).toBe(id);
    } finally {
      await stage.agent.close();
    }
  });

  it('log a trim that fails, and fail nothing (RET-08a)', async () => {
    const store = new MemoryTaskStore();
    const log = new LogRecorder();
    store.trim = () => Promise.reject(new Error('down'));
    const stage = await startStage({ store, terminalTaskRetention: 1 }, { logger: log });
    try {
      expect((await stage.play(() => 'x').task('go')).status.state).toBe('TASK_STATE_COMPLETED');
      await until(() => log.of('error').some((line) => line.includes('could not be trimmed')));
    } finally {
      await stage.agent.close();
    }
  });
});

async function versionOf(stage: Stage, alice: Caller, id: string): Promise<number> {
  return (await stage.store.read({ id, owner: alice.user })).version;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

/** Gives rejections that nobody looks at the time to be noticed. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
