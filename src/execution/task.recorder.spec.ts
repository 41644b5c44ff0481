import { beforeEach, describe, expect, it } from '@jest/globals';
import { TaskState, type Task } from '#protocol';
import { GatedStore } from '../../test/support/gated-store.js';
import { ManualClock } from '../../test/support/manual-clock.js';
import { settingsOf } from '../../test/support/settings.js';
import { artifactOf, DRAFT_TIME, settleOf, statusOf } from 'nestjs-a2a/testing';
import type { A2AOptions } from '../a2a.options.js';
import type { TaskEvent } from '../events/task-event.js';
import { TaskEventBus } from '../events/task-event.bus.js';
import type { TaskUpdate } from '../store/task-update.js';
import { TaskEndedError, TaskSettledElsewhereError, TaskTooLargeError } from './run-errors.js';
import { seedTask } from './task-seed.js';
import { TaskRecorder } from './task.recorder.js';

const key = { id: 'task', owner: 'alice' };
const { Submitted, Working, Completed, Canceled, InputRequired } = TaskState;

describe('The task recorder', () => {
  let store: GatedStore;
  let clock: ManualClock;
  let bus: TaskEventBus;
  let events: TaskEvent[];
  let hooks: string[];

  beforeEach(() => {
    store = new GatedStore();
    clock = new ManualClock(DRAFT_TIME);
    bus = new TaskEventBus();
    events = [];
    hooks = [];
    bus.follow(key, (event) => {
      events.push(event);
      hooks.push(`published ${event.version}`);
    });
  });

  function recorder(options: Partial<A2AOptions> = {}): TaskRecorder {
    const seed = seedTask({
      id: key.id,
      contextId: 'context',
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
      owner: key.owner,
      tenant: '',
      scope: '*',
      skillId: 'skill',
      skillMetadataKey: 'a2a.skill',
      now: clock.now(),
    });
    return new TaskRecorder({ store, bus, clock, settings: settingsOf(options) }, seed, 'run', {
      released: () => hooks.push('released'),
      ended: () => hooks.push('ended'),
    });
  }

  describe('of a new task', () => {
    it('has no row until it is disclosed (R-21)', async () => {
      const tested = recorder();
      expect(tested.isDraft).toBe(true);
      expect(store.calls).toEqual([]);
      await tested.disclose();
      expect(tested.isDraft).toBe(false);
      const record = await store.read(key);
      expect(record).toMatchObject({ version: 0, runId: 'run', skillId: 'skill' });
      expect(record.task.status.state).toBe(Submitted);
      expect(record.task.history).toHaveLength(1);
      expect(events).toEqual([]);
    });

    it('is disclosed once, however often it is asked to be (R-21)', async () => {
      const tested = recorder();
      await Promise.all([tested.disclose(), tested.disclose(), tested.record(statusOf(Working))]);
      await tested.disclose();
      expect(store.count('create')).toBe(1);
    });

    it('gets its row together with whatever is ready by then (R-21, R-34)', async () => {
      const tested = recorder();
      await Promise.all([
        tested.disclose(),
        tested.record(statusOf(Working)),
        tested.record(artifactOf('a', [{ text: 'x' }]), statusOf(Completed)),
      ]);
      expect(store.calls.map(({ operation }) => operation)).toEqual(['create']);
      expect((await store.read(key)).version).toBe(3);
      expect(events.map(({ version, runId }) => [version, runId])).toEqual([
        [1, 'run'],
        [2, 'run'],
        [3, 'run'],
      ]);
    });

    it('knows whether anyone was told: not by disclosing, but by recording or by saying so (R-21)', async () => {
      const silent = recorder();
      await silent.disclose();
      expect(silent.told).toBe(false);
      silent.tell();
      expect(silent.told).toBe(true);
    });

    it('is told of by the first update, before that is stored (R-21)', () => {
      const tested = recorder();
      void tested.record(statusOf(Working));
      expect(tested.told).toBe(true);
    });
  });

  it('stores, then publishes, then resolves (CTX-10a, LIFE-01b)', async () => {
    const tested = recorder();
    await tested.disclose();
    const gate = store.hold('append', 'after');
    const order: string[] = [];
    bus.follow(key, () => order.push('published'));
    const recorded = tested.record(statusOf(Working)).then(() => order.push('resolved'));
    await gate.whenWaiting();
    expect((await store.read(key)).version).toBe(1);
    expect(order).toEqual([]);
    expect(tested.snapshot().status.state).toBe(Submitted);
    gate.open();
    await recorded;
    expect(order).toEqual(['published', 'resolved']);
    expect(tested.snapshot().status.state).toBe(Working);
  });

  it('writes one batch at a time, each with all that waits by then, in call order (CTX-10b, R-34)', async () => {
    const tested = recorder();
    const gate = store.hold('create', 'before');
    const first = tested.record(statusOf(Working, DRAFT_TIME, '0'));
    await gate.whenWaiting();
    const rest = Array.from({ length: 10 }, (_, index) =>
      tested.record(statusOf(Working, DRAFT_TIME, String(index + 1))),
    );
    gate.open();
    await Promise.all([first, ...rest]);
    expect(store.calls.map(({ operation }) => operation)).toEqual(['create', 'append']);
    const texts = textsOf((await store.read(key)).task).slice(1);
    expect(texts).toEqual(Array.from({ length: 11 }, (_, index) => String(index)));
    expect(events.map(({ version }) => version)).toEqual(Array.from({ length: 11 }, (_, index) => index + 1));
  });

  it('records the updates of one call together or not at all (R-35)', async () => {
    const tested = recorder({ maxTaskBytes: 2_000 });
    await tested.disclose();
    const large = artifactOf('large', [{ text: 'x'.repeat(3_000) }]);
    await expect(tested.record(statusOf(Working), large)).rejects.toBeInstanceOf(TaskTooLargeError);
    expect((await store.read(key)).version).toBe(0);
    expect(tested.pendingState).toBe(Submitted);
  });

  describe('after the task has ended', () => {
    it.each([
      [Completed, 'The task has ended.'],
      [InputRequired, 'The task has been paused.'],
    ])('by %s takes nothing more, pending ends included (CTX-09)', async (state, text) => {
      const tested = recorder();
      const end = tested.record(statusOf(state));
      expect(tested.hasEnded).toBe(true);
      await expect(tested.record(artifactOf('a', []))).rejects.toThrow(text);
      await end;
      await expect(tested.record(statusOf(Working))).rejects.toBeInstanceOf(TaskEndedError);
      expect((await store.read(key)).version).toBe(1);
    });

    it('holds no run on the row (R-24)', async () => {
      const tested = recorder();
      await tested.record(statusOf(Working));
      expect((await store.read(key)).runId).toBe('run');
      await tested.record(statusOf(InputRequired));
      expect((await store.read(key)).runId).toBeNull();
    });

    it('gives slot and right up before the end is published, and says so after it (R-29)', async () => {
      const tested = recorder();
      await tested.record(statusOf(Working));
      expect(hooks).toEqual(['published 1']);
      await tested.record(statusOf(Completed));
      expect(hooks.indexOf('released')).toBeLessThan(hooks.indexOf('published 2'));
      expect(hooks.at(-1)).toBe('ended');
      expect(hooks).toHaveLength(4);
    });
  });

  describe('that loses the race', () => {
    it('changes nothing here, and rejects this and every later update (CTX-10a, R-22)', async () => {
      const tested = recorder();
      await tested.record(statusOf(Working));
      await store.settle(settleOf(key, statusOf(Canceled)));
      await expect(tested.record(statusOf(Completed))).rejects.toBeInstanceOf(TaskSettledElsewhereError);
      expect(tested.snapshot().status.state).toBe(Working);
      expect(tested.hasEnded).toBe(false);
      await expect(tested.record(artifactOf('a', []))).rejects.toBeInstanceOf(TaskSettledElsewhereError);
      expect(events.map(({ version }) => version)).toEqual([1]);
      expect((await store.read(key)).task.status.state).toBe(Canceled);
    });

    it('rejects what waited behind the update that lost (CTX-10a)', async () => {
      const tested = recorder();
      await tested.record(statusOf(Working));
      await store.settle(settleOf(key, statusOf(Canceled)));
      const gate = store.hold('append', 'before');
      const first = tested.record(artifactOf('a', []));
      await gate.whenWaiting();
      const second = tested.record(artifactOf('b', []));
      gate.open();
      await expect(first).rejects.toBeInstanceOf(TaskSettledElsewhereError);
      await expect(second).rejects.toBeInstanceOf(TaskSettledElsewhereError);
      expect(store.count('append')).toBe(1);
    });

    it('loses it too when the row is gone', async () => {
      const tested = recorder();
      await tested.record(statusOf(Working));
      await store.discard(key, 1);
      await expect(tested.record(statusOf(Completed))).rejects.toBeInstanceOf(TaskSettledElsewhereError);
    });
  });

  it('is closed from outside: what is pending and what comes later is rejected with the reason', async () => {
    const tested = recorder();
    const gate = store.hold('create', 'before');
    const first = tested.record(statusOf(Working));
    await gate.whenWaiting();
    const second = tested.record(artifactOf('a', []));
    const reason = new TaskSettledElsewhereError();
    tested.close(reason);
    await expect(second).rejects.toBe(reason);
    await expect(tested.record(artifactOf('b', []))).rejects.toBe(reason);
    gate.open();
    await first;
    await tested.disclose();
    expect(store.count('append')).toBe(0);
  });

  describe('whose store fails', () => {
    it('rejects the update with the fault, forgets it, and writes on when the store is back', async () => {
      const tested = recorder();
      const down = new Error('down');
      const append = store.append.bind(store);
      await tested.record(statusOf(Working));
      store.append = () => Promise.reject(down);
      await expect(tested.record(artifactOf('a', []), statusOf(Completed))).rejects.toBe(down);
      expect(tested.hasEnded).toBe(false);
      expect(tested.pendingState).toBe(Working);
      expect(tested.hasArtifact('a')).toBe(false);
      store.append = append;
      await tested.record(statusOf(Completed));
      expect((await store.read(key)).version).toBe(2);
    });

    it('takes an update that is made the moment another has failed', async () => {
      const tested = recorder();
      await tested.record(statusOf(Working));
      const append = store.append.bind(store);
      store.append = () => Promise.reject(new Error('down'));
      await tested.record(statusOf(Working)).catch(() => {
        store.append = append;
        return tested.record(statusOf(Completed));
      });
      expect((await store.read(key)).task.status.state).toBe(Completed);
    });

    it('waits no longer than the bound for it (LIFE-08b, B-53)', async () => {
      const tested = recorder({ storeTimeout: 20 });
      store.hold('create', 'before');
      await expect(tested.record(statusOf(Working))).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    });
  });

  describe('taking back a row', () => {
    it('needs no store when there is none (R-21)', async () => {
      const tested = recorder();
      expect(await tested.takeBack()).toBe(true);
      expect(store.calls).toEqual([]);
      await expect(tested.record(statusOf(Working))).rejects.toBeInstanceOf(TaskEndedError);
    });

    it('removes it when it is as it was written (R-21)', async () => {
      const tested = recorder();
      await tested.disclose();
      expect(await tested.takeBack()).toBe(true);
      await expect(store.read(key)).rejects.toMatchObject({ code: 'TASK_RECORD_NOT_FOUND' });
    });

    it('waits for a row that is being written (R-21)', async () => {
      const tested = recorder();
      const gate = store.hold('create', 'before');
      const disclosed = tested.disclose();
      await gate.whenWaiting();
      const takenBack = tested.takeBack();
      gate.open();
      await disclosed;
      expect(await takenBack).toBe(true);
      await expect(store.read(key)).rejects.toMatchObject({ code: 'TASK_RECORD_NOT_FOUND' });
    });

    it('leaves it when someone has changed it (R-21, R-22)', async () => {
      const tested = recorder();
      await tested.disclose();
      await store.settle(settleOf(key, statusOf(Canceled)));
      expect(await tested.takeBack()).toBe(false);
      expect((await store.read(key)).task.status.state).toBe(Canceled);
    });
  });

  it('never lets the time of a status go back, though the clock does (R-30)', async () => {
    const tested = recorder();
    clock.advance(5_000);
    const later = tested.statusUpdate(Working);
    clock.advance(-60_000);
    const back = tested.statusUpdate(Completed);
    expect(back.status.timestamp).toBe(later.status.timestamp);
    await tested.record(later, back);
    expect((await store.read(key)).statusAt).toBe(DRAFT_TIME + 5_000);
  });

  it('hands out copies of the task (DM-15, CTX-01)', async () => {
    const tested = recorder();
    await tested.record(artifactOf('a', [{ text: 'x' }]));
    tested.snapshot().artifacts?.splice(0);
    expect(tested.snapshot().artifacts).toHaveLength(1);
  });

  it('gives a store that keeps tasks whole the task after the updates, and no part of its own (DM-15, B-70)', async () => {
    const tested = recorder();
    await tested.disclose();
    let whole: Task | undefined;
    const append = store.append.bind(store);
    store.append = (given) => {
      whole = given.task();
      return append(given);
    };
    await tested.record(statusOf(Working, DRAFT_TIME, 'on it'), artifactOf('a', [{ text: 'x' }]));
    expect(whole).toEqual((await store.read(key)).task);
    whole?.artifacts?.splice(0);
    whole?.history?.splice(0);
    expect(tested.snapshot()).toEqual((await store.read(key)).task);
  });

  it('keeps the history within its bound (LIFE-13a)', async () => {
    store = new GatedStore(3);
    const tested = recorder({ maxHistory: 3 });
    const updates: TaskUpdate[] = ['a', 'b', 'c', 'd'].map((text) => statusOf(Working, DRAFT_TIME, text));
    await tested.record(...updates);
    expect(textsOf(tested.snapshot())).toEqual(['b', 'c', 'd']);
    expect(textsOf((await store.read(key)).task)).toEqual(['b', 'c', 'd']);
  });

  describe('at the bound of the task’s size', () => {
    it('counts what is pending (R-35)', async () => {
      const tested = recorder({ maxTaskBytes: 2_000 });
      const gate = store.hold('create', 'before');
      const chunk = () => artifactOf('a', [{ text: 'x'.repeat(800) }], { append: true });
      const first = tested.record(chunk());
      await gate.whenWaiting();
      const second = tested.record(chunk());
      await expect(tested.record(chunk())).rejects.toBeInstanceOf(TaskTooLargeError);
      gate.open();
      await Promise.all([first, second]);
    });

    it('forgets what was replaced (R-35)', async () => {
      const tested = recorder({ maxTaskBytes: 2_000 });
      for (let round = 0; round < 10; round++) await tested.record(artifactOf('a', [{ text: 'x'.repeat(800) }]));
      expect((await store.read(key)).version).toBe(10);
    });

    it('lets the last status through, which says why nothing else is (R-35)', async () => {
      const tested = recorder({ maxTaskBytes: 10 });
      await expect(tested.record(statusOf(Working))).rejects.toBeInstanceOf(TaskTooLargeError);
      await tested.record(statusOf(TaskState.Failed, DRAFT_TIME, 'task is too large'));
      expect((await store.read(key)).task.status.state).toBe(TaskState.Failed);
    });
  });
});

function textsOf({ history = [] }: Task): unknown[] {
  return history.map(({ parts }) => (parts[0] as { text: string }).text);
}
