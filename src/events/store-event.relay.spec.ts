import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TaskState } from '#protocol';
import { LogStore } from '../../test/support/log-store.js';
import { StoreEventRelay } from './store-event.relay.js';
import type { TaskEvent } from './task-event.js';
import { TaskEventBus } from './task-event.bus.js';

const key = { id: 'task', owner: 'alice' };

/** What a follower was told, in one list: versions, and the signals by name. */
function follow(bus: TaskEventBus, after?: number): unknown[] {
  const told: unknown[] = [];
  bus.follow(key, ({ version, runId }) => told.push(runId === null ? version : `${runId} ${version}`), {
    ...(after !== undefined && { after }),
    missed: (version) => told.push(`missed ${version}`),
    removed: () => told.push('removed'),
  });
  return told;
}

function event(version: number, runId: string | null = 'own'): TaskEvent {
  return { key, version, update: { kind: 'status', status: { state: TaskState.Working } }, runId };
}

describe('The relay through a store', () => {
  let store: LogStore;
  let bus: TaskEventBus;
  let relay: StoreEventRelay;

  beforeEach(() => {
    jest.useFakeTimers();
    store = new LogStore();
    bus = new TaskEventBus();
    relay = new StoreEventRelay(bus, store, 30_000);
    relay.start();
  });

  afterEach(async () => {
    await relay.stop();
    jest.useRealTimers();
  });

  /** Lets the relay look for itself. */
  async function reconcile(): Promise<void> {
    await jest.advanceTimersByTimeAsync(1_000);
  }

  it('tells what others have stored, in the order of versions and once (R-04, REP-01)', async () => {
    store.put(key, 2);
    const told = follow(bus, 2);
    store.put(key, 5);
    await reconcile();
    await reconcile();
    store.put(key, 6);
    store.announce(key, 6);
    await jest.advanceTimersByTimeAsync(0);
    expect(told).toEqual([3, 4, 5, 6]);
  });

  it('tells more updates than are read at once', async () => {
    const told = follow(bus, 0);
    store.put(key, 1_001);
    await reconcile();
    expect(told).toEqual(Array.from({ length: 1_001 }, (_, index) => index + 1));
  });

  it('makes up for an announcement that was lost (REP-01, R-25)', async () => {
    const told = follow(bus, 0);
    store.put(key, 1);
    await jest.advanceTimersByTimeAsync(0);
    expect(told).toEqual([]);
    await reconcile();
    expect(told).toEqual([1]);
  });

  it('tells an update of this process once, as it was published, whichever way it comes first', async () => {
    const told = follow(bus, 0);
    bus.publish(event(1));
    store.put(key, 2);
    await reconcile();
    bus.publish(event(2));
    bus.publish(event(3));
    store.put(key, 3);
    await reconcile();
    expect(told).toEqual(['own 1', 2, 'own 3']);
  });

  it('takes nothing from the store while this process writes to the task', async () => {
    const told = follow(bus, 0);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const writing = bus.whileWriting(key, async () => {
      store.put(key, 1);
      await answered;
      bus.publish(event(1));
    });
    store.announce(key, 1);
    await reconcile();
    expect(told).toEqual([]);
    answer();
    await writing;
    store.put(key, 2);
    await reconcile();
    expect(told).toEqual(['own 1', 2]);
  });

  it('tells an update of this process only after those of others before it (R-26)', async () => {
    const told = follow(bus, 3);
    store.put(key, 6);
    bus.publish(event(6));
    expect(told).toEqual([]);
    await jest.advanceTimersByTimeAsync(0);
    expect(told).toEqual([4, 5, 'own 6']);
  });

  it('says so when updates are no longer there one by one, and goes on behind them (R-26)', async () => {
    const told = follow(bus, 1);
    store.put(key, 5);
    store.sweep(key, 3);
    await reconcile();
    store.put(key, 7);
    store.sweep(key, 7);
    await reconcile();
    store.put(key, 8);
    await reconcile();
    expect(told).toEqual(['missed 3', 4, 5, 'missed 7', 8]);
  });

  it('believes no announcement of what never was', async () => {
    store.put(key, 1);
    const told = follow(bus, 1);
    store.announce(key, 4_000);
    await reconcile();
    store.put(key, 2);
    await reconcile();
    expect(told).toEqual([2]);
  });

  it('says once that a task is gone, and never of one that is still to be created (REP-04)', async () => {
    const told = follow(bus, 0);
    await reconcile();
    expect(told).toEqual([]);
    store.put(key, 0);
    await reconcile();
    store.remove(key);
    await reconcile();
    await reconcile();
    expect(told).toEqual(['removed']);
  });

  it('says that a task is gone of which it knew by the updates of this process alone (REP-04)', async () => {
    const told = follow(bus, 0);
    bus.publish(event(1));
    await reconcile();
    expect(told).toEqual(['own 1', 'removed']);
  });

  it('tells a follower that does not know where it stands once it does', async () => {
    store.put(key, 3);
    const told = follow(bus);
    await reconcile();
    bus.seen(key, 2);
    await reconcile();
    expect(told).toEqual([3]);
  });

  it('asks for nothing when nobody follows, and for nothing of another owner (ISO-03)', async () => {
    store.put(key, 3);
    let told = 0;
    const following = bus.follow({ id: key.id, owner: 'bob' }, () => told++, { after: 0 });
    store.announce(key, 3);
    await reconcile();
    following.unsubscribe();
    const lookUps = store.lookUps;
    await reconcile();
    expect([told, store.lookUps]).toEqual([0, lookUps]);
  });

  it('goes on when the store fails, and logs that once (REP-06)', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const told = follow(bus, 0);
    store.put(key, 1);
    store.isFailing = true;
    await reconcile();
    await reconcile();
    store.isFailing = false;
    await reconcile();
    expect(told).toEqual([1]);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('announces what this process stores, the newest version of a task in one text per turn', async () => {
    bus.publish(event(1));
    bus.publish(event(2));
    bus.publish({ ...event(7), key: { id: 'other', owner: 'bob' } });
    await jest.advanceTimersByTimeAsync(0);
    expect(store.sent).toEqual(['2:task\n7:other']);
  });
});
