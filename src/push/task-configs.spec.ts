import { beforeEach, describe, expect, it } from '@jest/globals';
import { TaskState } from '#protocol';
import { Gate } from '../../test/support/gate.js';
import { pushConfigOf } from '../../test/support/push-configs.js';
import type { StoredWrite } from '../events/stored-write.js';
import type { PushConfigRecord } from '../store/push-config.record.js';
import { TaskConfigs } from './task-configs.js';

const TASK = { id: 't', owner: 'alice' };

describe('The configs of a task', () => {
  let records: PushConfigRecord[];
  let reads: number;
  let gate: Gate;
  let failure: Error | undefined;
  /** What became of the writes: `config:version`, `config:*VERSION` for what was left out, `-config`, or an error's text. */
  let told: string[];
  let configs: TaskConfigs;

  beforeEach(() => {
    records = [pushConfigOf(TASK, { id: 'a' })];
    reads = 0;
    gate = new Gate();
    gate.open();
    failure = undefined;
    told = [];
    configs = new TaskConfigs(
      { taskId: TASK.id, owner: TASK.owner },
      async () => {
        reads++;
        const found = [...records];
        await gate.pass();
        if (failure) throw failure;
        return found;
      },
      {
        write: (queues, { version }) => told.push(...queues.map(({ key }) => `${key.id}:${version}`)),
        behind: (queues, version) => told.push(...queues.map(({ key }) => `${key.id}:*${version}`)),
        removed: ({ key }) => told.push(`-${key.id}`),
        failed: (error) => told.push((error as Error).message),
      },
    );
  });

  const write = (version: number, pushRev: number | undefined = 1): StoredWrite => ({
    key: TASK,
    contextId: 'c',
    version,
    updates: [{ kind: 'status', status: { state: TaskState.Working } }],
    pushRev,
  });

  it('are read once, and again when they have changed (PUSH-11)', async () => {
    for (const version of [1, 2, 3]) configs.take(write(version));
    await configs.idle();
    expect(reads).toBe(1);
    records.push(pushConfigOf(TASK, { id: 'b' }));
    configs.take(write(4, 2));
    configs.take(write(5, 2));
    await configs.idle();
    expect(reads).toBe(2);
    expect(told).toEqual(['a:1', 'a:2', 'a:3', 'a:4', 'b:4', 'a:5', 'b:5']);
  });

  it('are read for each write of a store that does not tell whether they have changed', async () => {
    for (const version of [1, 2]) configs.take({ ...write(version), pushRev: undefined });
    await configs.idle();
    expect(reads).toBe(2);
  });

  it('get the writes in order, however slowly they are read (PUSH-06a)', async () => {
    gate = new Gate();
    for (const version of [1, 2, 3]) configs.take(write(version, version));
    await gate.whenWaiting();
    expect(told).toEqual([]);
    expect(configs.isIdle).toBe(false);
    gate.open();
    await configs.idle();
    expect(told).toEqual(['a:1', 'a:2', 'a:3']);
    expect(configs.isIdle).toBe(true);
  });

  it('get the task as it is, once, when more than 64 writes wait while they are read (R-36)', async () => {
    gate = new Gate();
    for (let version = 1; version <= 70; version++) configs.take(write(version));
    gate.open();
    await configs.idle();
    // 1 to 64 were left out; what waits behind them is in the task, and the queue knows that.
    expect(told).toEqual(['a:*70', 'a:65', 'a:66', 'a:67', 'a:68', 'a:69', 'a:70']);
    configs.take(write(71));
    await configs.idle();
    expect(told.at(-1)).toBe('a:71');
  });

  it('lose a write when they cannot be read, which is told, and get those behind it (PUSH-10b)', async () => {
    failure = new Error('out of reach');
    gate = new Gate();
    configs.take(write(1));
    configs.take(write(2));
    await gate.whenWaiting();
    gate.letGo();
    await gate.whenWaiting();
    failure = undefined;
    gate.open();
    configs.take(write(3));
    await configs.idle();
    expect(told).toEqual(['out of reach', 'a:2', 'a:3']);
  });

  it('get nothing more once they are gone from the store (PUSH-14)', async () => {
    configs.take(write(1));
    records = [pushConfigOf(TASK, { id: 'b' })];
    configs.take(write(2, 2));
    await configs.idle();
    expect(told).toEqual(['a:1', '-a', 'b:2']);
  });

  it('get nothing more once they are taken out, not even what waits (PUSH-14)', async () => {
    configs.take(write(1));
    await configs.idle();
    configs.remove('a');
    configs.remove('unknown');
    records = [];
    configs.take(write(2, 2));
    await configs.idle();
    expect(told).toEqual(['a:1', '-a']);
  });

  it('stay the same queue, so that what is older never comes behind (PUSH-06b)', async () => {
    const queues = new Set<unknown>();
    const keeping = new TaskConfigs({ taskId: TASK.id, owner: TASK.owner }, () => Promise.resolve(records), {
      write: (found) => {
        found.forEach((queue) => queues.add(queue));
      },
      behind: () => undefined,
      removed: () => undefined,
      failed: () => undefined,
    });
    for (const version of [1, 2, 3]) keeping.take(write(version, version));
    await keeping.idle();
    expect(queues.size).toBe(1);
  });

  it('are busy as long as one of them has something to get', async () => {
    configs.take(write(1));
    await configs.idle();
    const busy = new TaskConfigs({ taskId: TASK.id, owner: TASK.owner }, () => Promise.resolve(records), {
      write: ([queue]) => queue?.add({ version: 1, json: '' }),
      behind: () => undefined,
      removed: () => undefined,
      failed: () => undefined,
    });
    busy.take(write(1));
    await busy.idle();
    expect(busy.isIdle).toBe(false);
    busy.remove('a');
    expect(busy.isIdle).toBe(true);
  });

  it('let go of what waits when they are cleared (SHUT-05)', async () => {
    gate = new Gate();
    for (const version of [1, 2, 3]) configs.take(write(version, version));
    await gate.whenWaiting();
    configs.clear();
    gate.open();
    await configs.idle();
    expect(told).toEqual(['a:1']);
    expect(reads).toBe(1);
  });
});
