import { beforeEach, describe, expect, it } from '@jest/globals';
import { TaskNotCancelableError, TaskState } from '#protocol';
import { ManualClock } from '../../test/support/manual-clock.js';
import { settingsOf } from '../../test/support/settings.js';
import { draftOf } from 'nestjs-a2a/testing';
import { TaskEventBus } from '../events/task-event.bus.js';
import type { TaskEvent } from '../events/task-event.js';
import { MemoryTaskStore } from '../store/memory/memory-task.store.js';
import { TaskCanceller } from './task.canceller.js';
import { TaskRetention } from './task.retention.js';

const KEY = { id: 'task', owner: 'alice' };

describe('The canceller', () => {
  let store: MemoryTaskStore;
  let clock: ManualClock;
  let canceller: TaskCanceller;
  let events: TaskEvent[];

  beforeEach(async () => {
    store = new MemoryTaskStore();
    clock = new ManualClock(Date.UTC(2026, 5, 1));
    const bus = new TaskEventBus();
    canceller = new TaskCanceller(store, bus, clock, new TaskRetention(store, settingsOf()));
    events = [];
    bus.follow(KEY, (event) => events.push(event));
    await store.create(draftOf({ ...KEY, state: TaskState.InputRequired, runId: 'run' }));
  });

  it('tells those who follow the task exactly once, however many cancel it (CAN-07)', async () => {
    const record = await store.read(KEY);
    const tasks = await Promise.all([canceller.cancel(record), canceller.cancel(record), canceller.cancel(record)]);
    const status = { state: TaskState.Canceled, timestamp: '2026-06-01T00:00:00.000Z' };
    expect(events).toEqual([{ key: KEY, version: 1, runId: null, update: { kind: 'status', status } }]);
    for (const task of tasks) expect(task.status).toEqual(status);
  });

  it('tells nobody when it comes too late (CAN-01b, CAN-07)', async () => {
    const record = await store.read(KEY);
    const completed = { kind: 'status', status: { state: TaskState.Completed } } as const;
    await store.append({ key: KEY, expected: 0, runId: null, updates: [completed], at: 0, task: () => record.task });
    await expect(canceller.cancel(record)).rejects.toThrow(TaskNotCancelableError);
    expect(events).toEqual([]);
  });

  it('takes the right to write from the run (R-22)', async () => {
    await canceller.cancel(await store.read(KEY));
    expect(await store.read(KEY)).toMatchObject({ runId: null, version: 1 });
  });

  it('never dates the cancel before the status that it ends (R-30)', async () => {
    const { statusAt, task } = await store.read(KEY);
    clock.time = statusAt - 60_000;
    const canceled = await canceller.cancel(await store.read(KEY));
    expect(canceled.status.timestamp).toBe(task.status.timestamp);
  });
});
