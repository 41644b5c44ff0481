import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TaskState } from '#protocol';
import { UuidGenerator } from '../context/id-generator.js';
import { TaskEventBus } from '../events/task-event.bus.js';
import { MemoryTaskStore } from '../store/memory/memory-task.store.js';
import type { LostRun, RunLeases } from '../store/run-leases.js';
import { draftOf, keyOf } from 'nestjs-a2a/testing';
import { ManualClock } from '../../test/support/manual-clock.js';
import { settingsOf } from '../../test/support/settings.js';
import { LostRunSweeper } from './lost-run.sweeper.js';
import { ReplicaHeartbeat } from './replica.heartbeat.js';
import { TaskRetention } from './task.retention.js';

const LEASE = 3_000;

/** Leases of which the test says what is lost. */
class ScriptedLeases implements RunLeases {
  lostRuns: LostRun[] = [];
  isHeld = true;
  isReachable = true;
  isTaken = false;
  beats = 0;
  swept: number[] = [];

  async beat(): Promise<boolean> {
    if (!this.isReachable) throw new Error('The store is out of reach.');
    return this.beats++ > 0 && this.isHeld;
  }

  async leave(): Promise<void> {}

  async lost(): Promise<readonly LostRun[]> {
    return this.lostRuns;
  }

  async exclusively(work: () => Promise<void>): Promise<void> {
    if (!this.isTaken) await work();
  }

  async sweepUpdates(settledBefore: number): Promise<void> {
    this.swept.push(settledBefore);
  }
}

class LeasingStore extends MemoryTaskStore {
  override readonly leases = new ScriptedLeases();
}

describe('The sweeper of lost runs', () => {
  const draft = draftOf({ state: TaskState.Working });
  let store: LeasingStore;
  let heartbeat: ReplicaHeartbeat;
  let sweeper: LostRunSweeper;
  let told: unknown[];

  beforeEach(async () => {
    jest.useFakeTimers();
    Logger.overrideLogger(false);
    store = new LeasingStore();
    await store.create(draft);
    const settings = settingsOf({ lease: LEASE });
    const bus = new TaskEventBus();
    told = [];
    bus.follow(keyOf(draft), ({ version, update, runId }) => told.push({ version, update, runId }));
    heartbeat = new ReplicaHeartbeat(store, settings);
    const retention = new TaskRetention(store, settings);
    sweeper = new LostRunSweeper(store, bus, heartbeat, retention, new ManualClock(), new UuidGenerator(), settings);
    await heartbeat.start();
    sweeper.start();
  });

  afterEach(async () => {
    await sweeper.stop();
    await heartbeat.stop();
    jest.useRealTimers();
  });

  function lose(runId = 'run-1'): void {
    const { owner, tenant, scope } = draft;
    const { id: taskId, contextId } = draft.task;
    store.leases.lostRuns = [{ owner, tenant, scope, taskId, contextId, runId, statusAt: 0 }];
  }

  async function state(): Promise<TaskState> {
    return (await store.read(keyOf(draft))).task.status.state;
  }

  it('fails a lost run and says so, once this process has lived for a whole lease (R-08, LIFE-14)', async () => {
    lose();
    await jest.advanceTimersByTimeAsync(LEASE - 1);
    expect(await state()).toBe(TaskState.Working);
    await jest.advanceTimersByTimeAsync(LEASE);
    expect(await state()).toBe(TaskState.Failed);
    expect(told).toMatchObject([
      { version: 1, runId: null, update: { status: { message: { parts: [{ text: 'the run was lost' }] } } } },
    ]);
  });

  it('waits for another whole lease after an outage, in which everybody seems to have died (R-08)', async () => {
    await jest.advanceTimersByTimeAsync(2 * LEASE);
    store.leases.isReachable = false;
    await jest.advanceTimersByTimeAsync(2 * LEASE);
    lose();
    store.leases.isReachable = true;
    store.leases.isHeld = false;
    await jest.advanceTimersByTimeAsync(LEASE / 3);
    store.leases.isHeld = true;
    await jest.advanceTimersByTimeAsync(LEASE - 1);
    expect(await state()).toBe(TaskState.Working);
    await jest.advanceTimersByTimeAsync(LEASE);
    expect(await state()).toBe(TaskState.Failed);
  });

  it('settles nothing while it is not heard of itself', async () => {
    await jest.advanceTimersByTimeAsync(2 * LEASE);
    store.leases.isReachable = false;
    await jest.advanceTimersByTimeAsync(LEASE);
    lose();
    await jest.advanceTimersByTimeAsync(3 * LEASE);
    expect(await state()).toBe(TaskState.Working);
  });

  it('leaves a task alone that another run has taken over (R-22)', async () => {
    lose('an older run');
    await jest.advanceTimersByTimeAsync(3 * LEASE);
    expect(await state()).toBe(TaskState.Working);
    expect(told).toEqual([]);
  });

  it('leaves everything to another process that is at it', async () => {
    store.leases.isTaken = true;
    lose();
    await jest.advanceTimersByTimeAsync(20 * LEASE);
    expect(await state()).toBe(TaskState.Working);
    expect(store.leases.swept).toEqual([]);
  });

  it('has the updates removed of tasks that settled a minute ago', async () => {
    await jest.advanceTimersByTimeAsync(40_000);
    const [first] = store.leases.swept;
    expect(store.leases.swept.length).toBeGreaterThan(1);
    expect(first).toBe(new ManualClock().now() - 60_000);
  });
});
