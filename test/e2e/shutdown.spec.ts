import { afterEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import {
  A2AModule,
  A2AService,
  MemoryTaskStore,
  ShutdownError,
  type TaskAppend,
  type TaskContext,
  type TaskWritten,
} from 'nestjs-a2a';
import { ADAPTERS, headerPrincipal } from '../support/agent.js';
import { textOf } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { startStage, type Stage } from '../support/puppet.js';
import { until } from '../support/until.js';

/** A store that may be closed, and must not be used afterwards. */
class ClosableStore extends MemoryTaskStore {
  isClosed = false;

  override append(append: TaskAppend): Promise<TaskWritten> {
    return this.isClosed ? Promise.reject(new Error('The connection is closed.')) : super.append(append);
  }

  override close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

describe('Shutting down', () => {
  let stage: Stage;

  afterEach(() => stage.agent.close());

  const isLive = () => until(() => stage.agent.service.statistics().liveRuns > 0, 'A run');
  const stubborn = () => new Promise(() => undefined);

  it('takes no message any more, and still answers reads and cancels (SHUT-01a, SHUT-02)', async () => {
    stage = await startStage();
    const alice = stage.play((task) => task.requireInput('More?'));
    const parked = await alice.task('go');
    await stage.agent.service.shutdown();
    const { executions } = stage.agent.service.statistics();
    for (const refused of [
      await alice.send('go'),
      await alice.send('go', { configuration: { returnImmediately: true } }),
      await alice.follow(parked.id, 'here'),
      await alice.send('go', { message: { metadata: { skill: 'there is none' } } }),
    ]) {
      expect(refused).toMatchObject({ status: 200, error: { code: -32004, message: 'the agent is shutting down' } });
    }
    expect(stage.agent.service.statistics().executions).toBe(executions);
    expect(await alice.get(parked.id)).toEqual(parked);
    expect((await alice.list()).totalSize).toBe(1);
    expect((await alice.cancel(parked.id)).result.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('takes no message while it goes on, either (SHUT-02)', async () => {
    stage = await startStage();
    const gate = new Gate();
    const alice = stage.play(() => gate.pass());
    await alice.start('go');
    const ended = stage.agent.service.shutdown();
    expect((await alice.send('go')).error.code).toBe(-32004);
    gate.open();
    await ended;
  });

  it('lets live runs finish, and waits until their ends are stored (SHUT-01a, R-40)', async () => {
    stage = await startStage();
    const gate = new Gate();
    const signals: AbortSignal[] = [];
    const alice = stage.play(async (task) => {
      signals.push(task.signal);
      await gate.pass();
      return 'made it';
    });
    const ids = [(await alice.start('go')).id, (await alice.start('go')).id];
    let isOver = false;
    const ended = stage.agent.service.shutdown().then(() => (isOver = true));
    await gate.whenWaiting(2);
    await alice.list();
    expect(isOver).toBe(false);
    gate.open();
    await ended;
    for (const id of ids) expect((await alice.get(id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect(signals.every(({ aborted }) => !aborted)).toBe(true);
  });

  it.each([
    ['at once, without a time to drain', 0],
    ['after the time to drain', 30],
  ])('cancels what has not finished %s, and says why (SHUT-01a, SHUT-01b, CTX-03, R-40)', async (_name, drainMs) => {
    stage = await startStage({ shutdown: { drainMs } });
    const reasons: unknown[] = [];
    const refusals: unknown[] = [];
    const alice = stage.play(async (task) => {
      await task.working();
      await new Promise((resolve) => {
        task.signal.addEventListener('abort', resolve);
      });
      reasons.push(task.signal.reason);
      await task.complete('late').catch((error: unknown) => refusals.push(error));
    });
    const answer = alice.send('go');
    await isLive();
    await stage.agent.service.shutdown();
    const { task } = (await answer).result;
    expect(task.status.state).toBe('TASK_STATE_CANCELED');
    expect(textOf(task.status.message)).toBe('the agent was shut down');
    expect(await alice.get(task.id)).toEqual(task);
    await until(() => refusals.length === 1);
    for (const reason of [...reasons, ...refusals]) {
      expect(reason).toBeInstanceOf(ShutdownError);
      expect(reason).toMatchObject({ code: 'SHUTDOWN' });
    }
  });

  it('is not held up by a skill that ignores its signal (SHUT-01a, LIFE-06)', async () => {
    stage = await startStage({ shutdown: { drainMs: 20 } });
    const alice = stage.play(stubborn);
    const { id } = await alice.start('go');
    await stage.agent.service.shutdown();
    expect((await alice.get(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect(stage.agent.service.statistics().liveRuns).toBe(0);
  });

  it.each([
    [200, 600],
    [600, 200],
    [0, 300],
  ])(
    'takes no longer than its time altogether, whatever the store does: drainMs %i, timeoutMs %i (SHUT-01a)',
    async (drainMs, timeoutMs) => {
      const store = new GatedStore();
      stage = await startStage({ store, shutdown: { drainMs, timeoutMs } });
      const gate = store.hold('append', 'before');
      await stage.play(stubborn).start('go');
      const began = performance.now();
      await stage.agent.service.shutdown();
      const took = performance.now() - began;
      expect(took).toBeGreaterThan(timeoutMs - 20);
      expect(took).toBeLessThan(timeoutMs + 180);
      gate.open();
    },
  );

  it('waits for a run whose task was just being written when it began (SHUT-01a, SHUT-01b)', async () => {
    const store = new GatedStore();
    stage = await startStage({ store, shutdown: { drainMs: 0 } });
    let calls = 0;
    const gate = store.hold('create', 'before');
    const alice = stage.play(() => {
      calls++;
      return stubborn();
    });
    const started = alice.start('go');
    await gate.whenWaiting();
    let isOver = false;
    const ended = stage.agent.service.shutdown().then(() => (isOver = true));
    expect((await alice.list()).totalSize).toBe(0);
    expect(isOver).toBe(false);
    gate.open();
    await ended;
    const { id } = await started;
    expect((await alice.get(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect(calls).toBe(0);
    expect(stage.agent.service.statistics().liveRuns).toBe(0);
  });

  it('waits for a resume that was just being written when it began (SHUT-01a, SHUT-01b)', async () => {
    const store = new GatedStore();
    stage = await startStage({ store, shutdown: { drainMs: 0 } });
    const alice = stage.play((task) => task.requireInput());
    const { id } = await alice.task('go');
    const gate = store.hold('append', 'before');
    stage.play(stubborn);
    const answer = alice.follow(id, 'more');
    await gate.whenWaiting();
    const ended = stage.agent.service.shutdown();
    gate.open();
    await ended;
    expect((await answer).result.task.status.state).toBe('TASK_STATE_CANCELED');
    expect((await alice.get(id)).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('happens once, however often and whenever it is asked for (SHUT-04a)', async () => {
    const store = new GatedStore();
    stage = await startStage({ store, shutdown: { drainMs: 0, timeoutMs: 300 } });
    const gate = store.hold('append', 'before');
    await stage.play(stubborn).start('go');
    const began = performance.now();
    await Promise.all([stage.agent.service.shutdown(), stage.agent.service.shutdown()]);
    await stage.agent.service.shutdown();
    await stage.agent.close();
    expect(performance.now() - began).toBeLessThan(580);
    gate.open();
  });

  it('trims what is due, and leaves no timer for it (RET-02, R-29)', async () => {
    stage = await startStage({ terminalTaskRetention: 2 });
    const alice = stage.play(() => 'x');
    for (let index = 0; index < 5; index++) await alice.task('go');
    await stage.agent.service.shutdown();
    expect((await alice.list()).totalSize).toBe(2);
  });

  it('answers a caller whose skill speaks in Messages with an error, and has no task to cancel (R-21)', async () => {
    stage = await startStage({ shutdown: { drainMs: 0 } });
    const alice = stage.play(stubborn);
    const answer = alice.send('go', { message: { metadata: { skill: 'speaker' } } });
    await isLive();
    await stage.agent.service.shutdown();
    expect((await answer).error.code).toBe(-32603);
    expect((await alice.list()).totalSize).toBe(0);
  });
});

describe.each(ADAPTERS)('app.close() on %s', (adapter) => {
  it.each([
    ['stubborn', () => new Promise(() => undefined)],
    [
      'obedient',
      (task: TaskContext) =>
        new Promise((resolve) => {
          task.signal.addEventListener('abort', resolve);
        }),
    ],
  ] as [string, (task: TaskContext) => unknown][])(
    'cancels a %s run and returns within its time, while the store is open (SHUT-01, SHUT-04b, B-105)',
    async (_name, work) => {
      const store = new ClosableStore();
      const stage = await startStage({ store, shutdown: { drainMs: 30, timeoutMs: 1_000 } }, { adapter });
      const alice = stage.play(work);
      const { id } = await alice.start('go');
      const began = performance.now();
      await stage.agent.close();
      expect(performance.now() - began).toBeLessThan(1_000);
      expect(store.isClosed).toBe(true);
      const { task } = await store.read({ id, owner: alice.user });
      expect(task.status.state).toBe('TASK_STATE_CANCELED');
    },
  );

  it('answers the clients that wait (B-105)', async () => {
    const stage = await startStage({ shutdown: { drainMs: 0 } }, { adapter });
    const alice = stage.play(() => new Promise(() => undefined));
    const answer = alice.send('go');
    await until(() => stage.agent.service.statistics().liveRuns === 1);
    await stage.agent.close();
    expect((await answer).result.task.status.state).toBe('TASK_STATE_CANCELED');
  });
});

describe('An application that never started', () => {
  it('shuts down all the same (SHUT-04a)', async () => {
    const module = await Test.createTestingModule({
      imports: [
        A2AModule.forRoot({
          card: { name: 'a', description: 'b' },
          principal: headerPrincipal,
          skills: [{ id: 'x', handler: () => undefined }],
        }),
      ],
    }).compile();
    const service = module.get(A2AService);
    await service.shutdown();
    await service.shutdown();
    await module.close();
  });
});
