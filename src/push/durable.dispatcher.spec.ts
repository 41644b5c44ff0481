import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TaskState } from '#protocol';
import { pushConfigOf } from '../../test/support/push-configs.js';
import { until } from '../../test/support/until.js';
import { TaskEventBus } from '../events/task-event.bus.js';
import type { PushConfigKey, PushConfigRecord } from '../store/push-config.record.js';
import type { ClaimedPushConfig, PushClaim, PushCursors } from '../store/push-cursors.js';
import type { VersionedUpdate } from '../store/task-update.js';
import type { DispatcherDependencies } from './dispatcher-dependencies.js';
import { DurableDispatcher } from './durable.dispatcher.js';
import { resolvePushOptions } from './push.settings.js';

interface Row {
  readonly record: PushConfigRecord;
  readonly version: number;
  delivered: number;
  attempts: number;
  dueAt: number;
  isClaimed: boolean;
}

/** Cursors in memory, which a test looks into. */
class MemoryCursors implements PushCursors {
  readonly rows: Row[] = [];
  readonly awakened: string[] = [];
  claims = 0;

  add(id: string, version = 1): void {
    const record = pushConfigOf({ id: `task-${id}`, owner: `owner-${id}` }, { id, durable: true });
    this.rows.push({ record, version, delivered: 0, attempts: 0, dueAt: 0, isClaimed: false });
  }

  row(id: string): Row {
    return this.rows.find(({ record }) => record.config.id === id)!;
  }

  async claim({ limit }: PushClaim): Promise<readonly ClaimedPushConfig[]> {
    this.claims++;
    const due = this.rows.filter((row) => !row.isClaimed && row.dueAt <= Date.now() && row.delivered < row.version);
    due.sort((a, b) => a.dueAt - b.dueAt);
    return due.slice(0, limit).map((row) => {
      row.isClaimed = true;
      return { record: row.record, contextId: 'c', delivered: row.delivered, attempts: row.attempts, failingFor: 0 };
    });
  }

  async advance({ id }: PushConfigKey, _worker: string, version: number): Promise<boolean> {
    Object.assign(this.row(id), { delivered: version, dueAt: Date.now() });
    return true;
  }

  async postpone({ id }: PushConfigKey, _worker: string, delay: number): Promise<void> {
    Object.assign(this.row(id), { isClaimed: false, dueAt: Date.now() + delay });
    this.row(id).attempts++;
  }

  async release({ id }: PushConfigKey): Promise<void> {
    this.row(id).isClaimed = false;
  }

  async finish({ id }: PushConfigKey): Promise<void> {
    this.row(id).dueAt = Infinity;
    this.row(id).isClaimed = false;
  }

  async awaken({ id }: { readonly id: string }): Promise<void> {
    this.awakened.push(id);
  }
}

describe('DurableDispatcher', () => {
  let dispatcher: DurableDispatcher | undefined;
  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  afterEach(() => dispatcher?.stop(0));

  function start(
    cursors: MemoryCursors,
    send: (record: PushConfigRecord, json: string, signal?: AbortSignal) => Promise<void>,
    {
      lease = 60_000,
      ...options
    }: Parameters<typeof resolvePushOptions>[0] & object & { readonly lease?: number } = {},
    isLeading = true,
  ): TaskEventBus {
    const bus = new TaskEventBus();
    const update = (version: number): VersionedUpdate => ({
      version,
      update: { kind: 'status', status: { state: TaskState.Working } },
    });
    const store = {
      eventsAfter: async ({ id }: { readonly id: string }, version: number, limit: number) => {
        const last = cursors.rows.find(({ record }) => record.config.taskId === id)!.version;
        return Array.from({ length: Math.min(limit, last - version) }, (_, index) => update(version + index + 1));
      },
    };
    const settings = resolvePushOptions({ delivery: 'durable', ...options });
    const deps = { store, configs: {}, bus, sender: { send }, settings } as unknown as DispatcherDependencies;
    dispatcher = new DurableDispatcher(deps, cursors, lease, isLeading);
    dispatcher.start();
    return bus;
  }

  it('goes on looking when all its places were taken, and those who had them have failed (PUSH-07d)', async () => {
    const cursors = new MemoryCursors();
    cursors.add('hangs-1');
    cursors.add('hangs-2');
    const failures: (() => void)[] = [];
    const hang = () =>
      new Promise<void>((_, reject) =>
        failures.push(() => {
          reject(new Error('It hung.'));
        }),
      );
    const sent: string[] = [];
    start(
      cursors,
      async ({ config }) => {
        if (config.id.startsWith('hangs')) await hang();
        sent.push(config.id);
      },
      // Whoever fails is left alone for longer than the test runs.
      { maxInFlight: 2, retry: { minDelayMs: 100_000 } },
    );
    await until(() => failures.length === 2);
    cursors.add('healthy');
    // Past the time at which it would have looked by itself.
    await sleep(1_200);
    expect(sent).toEqual([]);
    failures.forEach((fail) => {
      fail();
    });
    await until(() => sent.length === 1);
    expect(sent).toEqual(['healthy']);
  });

  it('gives a slow receiver a turn, and not all the time (PUSH-07d)', async () => {
    const cursors = new MemoryCursors();
    cursors.add('slow', 1_000);
    cursors.add('other', 3);
    const sent: string[] = [];
    start(
      cursors,
      async ({ config }) => {
        sent.push(config.id);
        if (config.id === 'slow') await sleep(30);
      },
      { maxInFlight: 1, timeoutMs: 50 },
    );
    await until(() => sent.filter((id) => id === 'other').length === 3);
    expect(sent.filter((id) => id === 'slow').length).toBeLessThan(10);
  });

  it('sends nothing for a config that it may have lost meanwhile (PUSH-06b)', async () => {
    const cursors = new MemoryCursors();
    cursors.add('late', 2);
    const sent: string[] = [];
    // The lease covers the time of one attempt and a little more.
    start(
      cursors,
      async ({ config }) => {
        sent.push(config.id);
        await sleep(40);
      },
      { timeoutMs: 1_000, lease: 20 },
    );
    cursors.advance = async ({ id }: PushConfigKey, _worker, version) => {
      await sleep(60);
      cursors.row(id).delivered = version;
      return true;
    };
    await until(() => sent.length === 2);
    // The second one was sent on a claim of its own.
    expect(cursors.claims).toBeGreaterThan(1);
  });

  it('wakes the configs of a task that goes on or ends, and looks at once', async () => {
    const cursors = new MemoryCursors();
    const sent: string[] = [];
    const bus = start(cursors, async ({ config }) => void sent.push(config.id));
    await until(() => cursors.claims > 0);
    cursors.add('resumed');
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [] } as const;
    const write = { key: { id: 'task-resumed', owner: 'owner-resumed' }, contextId: 'c', version: 1 };
    bus.wrote({ ...write, updates: [{ kind: 'message', message: { ...message, parts: [] } }], pushRev: 0 });
    expect(cursors.awakened).toEqual([]);
    bus.wrote({ ...write, updates: [{ kind: 'message', message: { ...message, parts: [] } }], pushRev: 1 });
    await until(() => sent.length === 1);
    expect(cursors.awakened).toEqual(['task-resumed']);
  });

  it('brings what is left where new configs are not durable any more', async () => {
    const cursors = new MemoryCursors();
    cursors.add('leftover');
    const sent: string[] = [];
    start(cursors, async ({ config }) => void sent.push(config.id), {}, false);
    await until(() => sent.length === 1);
    expect(sent).toEqual(['leftover']);
  });
});
