import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { settingsOf } from '../../test/support/settings.js';
import type { Tier } from '../context/tier.js';
import { MemoryTaskStore } from '../store/memory/memory-task.store.js';
import { TaskRetention } from './task.retention.js';

const tier = (fields: Partial<Tier> = {}): Tier => ({ owner: 'alice', tenant: '', scope: '*', ...fields });

/** Notes what is trimmed. */
class TrimmedStore extends MemoryTaskStore {
  readonly trims: [Tier, number][] = [];
  isBroken = false;

  override trim(of: Tier, keep: number): Promise<void> {
    this.trims.push([of, keep]);
    return this.isBroken ? Promise.reject(new Error('down')) : Promise.resolve();
  }
}

describe('The retention of settled tasks', () => {
  let store: TrimmedStore;

  beforeEach(() => {
    jest.useFakeTimers();
    store = new TrimmedStore();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('gathers the settles of a tier, and trims within a second of the last (R-29, RET-02a)', async () => {
    const retention = new TaskRetention(store, settingsOf());
    for (let settle = 0; settle < 50; settle++) retention.schedule(tier());
    expect(store.trims).toEqual([]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(store.trims).toEqual([[tier(), 64]]);
    retention.schedule(tier());
    await jest.advanceTimersByTimeAsync(1_000);
    expect(store.trims).toHaveLength(2);
  });

  it('trims each tier by itself: owner, tenant and scope set (RET-01)', async () => {
    const retention = new TaskRetention(store, settingsOf({ terminalTaskRetention: 7 }));
    const tiers = [tier(), tier({ owner: 'bob' }), tier({ tenant: 't' }), tier({ scope: '[]' })];
    tiers.forEach((each) => {
      retention.schedule(each);
    });
    await retention.flush();
    expect(store.trims).toEqual(tiers.map((each) => [each, 7]));
  });

  it('trims at once when it is told to, and leaves no timer (SHUT-01)', async () => {
    const retention = new TaskRetention(store, settingsOf());
    retention.schedule(tier());
    await retention.flush();
    expect(store.trims).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
    await retention.flush();
    expect(store.trims).toHaveLength(1);
  });

  it('logs a trim that fails, trims the other tiers, and fails nobody (RET-08a)', async () => {
    const lines: unknown[] = [];
    Logger.overrideLogger({ log: () => {}, warn: () => {}, error: (line: unknown) => lines.push(line) });
    store.isBroken = true;
    const retention = new TaskRetention(store, settingsOf());
    retention.schedule(tier());
    retention.schedule(tier({ owner: 'bob' }));
    await retention.flush();
    Logger.overrideLogger(false);
    expect(store.trims).toHaveLength(2);
    expect(lines).toEqual([expect.stringContaining('down'), expect.stringContaining('down')]);
  });

  it.each([
    [
      'the host owns it, by a negative bound (RET-07)',
      () => new TaskRetention(store, settingsOf({ terminalTaskRetention: -1 })),
    ],
    [
      'the store has a policy of its own (RET-06b, STORE-17)',
      () => new TaskRetention(Object.assign(store, { trim: undefined }), settingsOf()),
    ],
  ])('does nothing when %s', async (_name, make) => {
    const retention = make();
    retention.schedule(tier());
    expect(jest.getTimerCount()).toBe(0);
    await retention.flush();
    expect(store.trims).toEqual([]);
  });
});
