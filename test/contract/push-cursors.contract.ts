import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  TaskState,
  textPart,
  type PushConfigRecord,
  type PushCursors,
  type TaskDraft,
  type TaskKey,
  type TaskStore,
} from 'nestjs-a2a';
import { appendTo, artifactOf, draftOf, keyOf, settleOf, statusOf } from 'nestjs-a2a/testing';
import { pushConfigOf } from '../support/push-configs.js';
import { until } from '../support/until.js';
import type { PushStoreSubject } from './push-config-store.contract.js';

const LEASE = 60_000;

/** Holds a store to the contract of `PushCursors`. */
export function describePushCursors(name: string, subject: PushStoreSubject): void {
  describe(`The push cursors of ${name}`, () => {
    let tasks: TaskStore;
    let cursors: PushCursors;

    beforeAll(async () => {
      tasks = await subject.create();
      cursors = tasks.pushConfigs!.cursors!;
    });

    afterAll(() => subject.close());

    async function followed(fields: Partial<TaskDraft> = {}): Promise<PushConfigRecord> {
      const draft = draftOf({ runId: 'run-1', ...fields });
      const record = pushConfigOf(keyOf(draft), { durable: true });
      await tasks.create({ ...draft, push: { record, keep: 8 } });
      return record;
    }

    async function update(record: PushConfigRecord, state: TaskState = TaskState.Working): Promise<void> {
      await tasks.append(appendTo(await tasks.read(taskOf(record)), [statusOf(state)]));
    }

    function taskOf({ config, owner }: PushConfigRecord): TaskKey {
      return { id: config.taskId, owner };
    }

    function keyOfConfig({ config: { id, taskId }, owner }: PushConfigRecord) {
      return { id, taskId, owner };
    }

    /** Takes everything that is due; other tests' configs as well. */
    async function claimed(record: PushConfigRecord, worker = 'worker', lease = LEASE) {
      const claims = await cursors.claim({ worker, lease, limit: 1_000, perOwner: 100, busy: new Map() });
      return claims.find((claim) => claim.record.config.id === record.config.id);
    }

    it('give a config to one worker, once its task has updates that were not delivered', async () => {
      const record = await followed();
      const { contextId } = (await tasks.read(taskOf(record))).task;
      expect(await claimed(record)).toBeUndefined();
      await update(record);
      expect(await claimed(record)).toEqual({ record, contextId, delivered: 0, attempts: 0, failingFor: 0 });
      expect(await claimed(record, 'another')).toBeUndefined();
      expect(await claimed(record)).toBeUndefined();
    });

    it('begin with the first update of a task that the config came with, and keep its updates one by one', async () => {
      const updates = [statusOf(TaskState.Working), artifactOf('a', [textPart('a')]), statusOf(TaskState.Completed)];
      const record = await followed({ updates, runId: null });
      expect((await claimed(record))?.delivered).toBe(0);
      expect(await tasks.eventsAfter!(taskOf(record), 0)).toEqual(
        updates.map((stored, index) => ({ version: index + 1, update: stored })),
      );
      const { task, version } = await tasks.read(taskOf(record));
      expect([task.status.state, task.artifacts?.length, version]).toEqual([TaskState.Completed, 1, 3]);
    });

    it('begin with the update that the config came with, and after those before it was created', async () => {
      const plain = draftOf({ runId: 'run-1' });
      await tasks.create(plain);
      await tasks.append(appendTo(await tasks.read(keyOf(plain)), [statusOf(TaskState.Working)]));
      const created = pushConfigOf(keyOf(plain), { durable: true });
      await tasks.pushConfigs!.create(created, 8);
      expect(await claimed(created)).toBeUndefined();
      const inline = pushConfigOf(keyOf(plain), { durable: true });
      const push = { record: inline, keep: 8 };
      await tasks.append({ ...appendTo(await tasks.read(keyOf(plain)), [statusOf(TaskState.Working)]), push });
      const claims = await cursors.claim({ worker: 'w', lease: LEASE, limit: 1_000, perOwner: 100, busy: new Map() });
      const places = new Map(claims.map(({ record, delivered }) => [record.config.id, delivered]));
      expect([places.get(created.config.id), places.get(inline.config.id)]).toEqual([1, 1]);
    });

    it('never give out a config that is not durable', async () => {
      const draft = draftOf({ runId: 'run-1' });
      const record = pushConfigOf(keyOf(draft));
      await tasks.create({ ...draft, push: { record, keep: 8 } });
      await update(record);
      expect(await claimed(record)).toBeUndefined();
    });

    it('move on with what was delivered, for the worker that has the config alone', async () => {
      const record = await followed();
      await update(record);
      await update(record);
      await claimed(record);
      expect(await cursors.advance(keyOfConfig(record), 'another', 2, LEASE)).toBe(false);
      expect(await cursors.advance(keyOfConfig(record), 'worker', 1, LEASE)).toBe(true);
      await cursors.release(keyOfConfig(record), 'another', 0);
      expect(await claimed(record, 'another')).toBeUndefined();
      await cursors.release(keyOfConfig(record), 'worker', 0);
      expect((await claimed(record, 'another'))?.delivered).toBe(1);
    });

    it('are free again when the worker has not been heard of for the lease', async () => {
      const record = await followed();
      await update(record);
      await claimed(record, 'lost', 1);
      await until(async () => (await claimed(record, 'heir'))?.delivered === 0);
      expect(await cursors.advance(keyOfConfig(record), 'lost', 1, LEASE)).toBe(false);
      expect(await cursors.advance(keyOfConfig(record), 'heir', 1, LEASE)).toBe(true);
    });

    it('leave a config alone after a failure, and count how often and for how long it failed', async () => {
      const record = await followed();
      await update(record);
      await claimed(record);
      await cursors.postpone(keyOfConfig(record), 'worker', LEASE);
      expect(await claimed(record)).toBeUndefined();
      const other = await followed();
      await update(other);
      await claimed(other);
      await cursors.postpone(keyOfConfig(other), 'worker', 0);
      let claim = await claimed(other);
      expect(claim?.attempts).toBe(1);
      await cursors.postpone(keyOfConfig(other), 'worker', 0);
      await until(async () => {
        claim = await claimed(other);
        if (claim) await cursors.postpone(keyOfConfig(other), 'worker', 0);
        return (claim?.failingFor ?? 0) > 1 && (claim?.attempts ?? 0) > 2;
      });
      claim = await claimed(other);
      await cursors.advance(keyOfConfig(other), 'worker', 0, LEASE);
      await cursors.release(keyOfConfig(other), 'worker', 0);
      expect(await claimed(other)).toMatchObject({ attempts: 0, failingFor: 0 });
    });

    it('bound what one owner has, with what the worker has of him already', async () => {
      const owner = `busy-${Math.random()} "'; -- ü`;
      for (let index = 0; index < 5; index++) await update(await followed({ owner }));
      const claim = (busy: number) =>
        cursors.claim({ worker: 'w', lease: LEASE, limit: 1_000, perOwner: 3, busy: new Map([[owner, busy]]) });
      const mine = async (busy: number) => (await claim(busy)).filter(({ record }) => record.owner === owner).length;
      expect(await mine(3)).toBe(0);
      expect(await mine(1)).toBe(2);
      expect(await mine(0)).toBe(3);
    });

    it('leave a config to rest that was let go so, until its task is said to go on', async () => {
      const record = await followed();
      await update(record);
      await claimed(record);
      await cursors.advance(keyOfConfig(record), 'worker', 1, LEASE);
      await cursors.release(keyOfConfig(record), 'worker', LEASE);
      await update(record);
      expect(await claimed(record)).toBeUndefined();
      await cursors.awaken({ ...taskOf(record), owner: 'somebody else' });
      expect(await claimed(record)).toBeUndefined();
      await cursors.awaken(taskOf(record));
      expect(await claimed(record)).toMatchObject({ delivered: 1 });
    });

    it('do not leave a config to rest when an update came before it was let go (PUSH-11)', async () => {
      const record = await followed();
      await update(record);
      await claimed(record);
      await cursors.advance(keyOfConfig(record), 'worker', 1, LEASE);
      await update(record);
      await cursors.awaken(taskOf(record));
      await cursors.release(keyOfConfig(record), 'worker', LEASE);
      expect(await claimed(record)).toMatchObject({ delivered: 1 });
    });

    it('do not let a config that fails be awakened before its time', async () => {
      const record = await followed();
      await update(record);
      await claimed(record);
      await cursors.postpone(keyOfConfig(record), 'worker', LEASE);
      await cursors.awaken(taskOf(record));
      expect(await claimed(record)).toBeUndefined();
    });

    it('begin anew for another config in the place of one, which whoever had it has lost (PUSH-14)', async () => {
      const record = await followed();
      await update(record);
      await claimed(record);
      await cursors.postpone(keyOfConfig(record), 'worker', 0);
      await claimed(record);
      const replace = async (config: PushConfigRecord) => {
        const push = { record: config, keep: 8 };
        await tasks.append({ ...appendTo(await tasks.read(taskOf(record)), [statusOf(TaskState.Working)]), push });
      };
      await replace(record);
      expect(await cursors.advance(keyOfConfig(record), 'worker', 1, LEASE)).toBe(false);
      expect(await claimed(record)).toMatchObject({ delivered: 0, attempts: 0, failingFor: 0 });
      const other = { ...record, config: { ...record.config, url: 'https://other.example.com/' } };
      await replace(other);
      expect(await claimed(other)).toMatchObject({ record: other, delivered: 2, attempts: 0 });
    });

    it('have nothing to do for a config that is made when its task has ended (PCFG-05)', async () => {
      const draft = draftOf({ runId: null, updates: [statusOf(TaskState.Completed)] });
      await tasks.create(draft);
      const record = pushConfigOf(keyOf(draft), { durable: true });
      await tasks.pushConfigs!.create(record, 8);
      expect(await tasks.pushConfigs!.read(keyOfConfig(record))).toEqual(record);
      expect(await claimed(record)).toBeUndefined();
    });

    it('keep a task from being trimmed until they are finished (RET-05)', async () => {
      const record = await followed();
      await tasks.settle(settleOf(taskOf(record), statusOf(TaskState.Canceled)));
      const { owner, tenant, scope } = await tasks.read(taskOf(record));
      await tasks.trim!({ owner, tenant, scope }, 0);
      expect((await claimed(record))?.delivered).toBe(0);
      await cursors.finish(keyOfConfig(record), 'worker');
      await tasks.trim!({ owner, tenant, scope }, 0);
      await expect(tasks.read(taskOf(record))).rejects.toThrow();
    });

    it('take no more than was asked for', async () => {
      for (let index = 0; index < 3; index++) await update(await followed());
      const claims = await cursors.claim({ worker: 'w', lease: LEASE, limit: 2, perOwner: 9, busy: new Map() });
      expect(claims).toHaveLength(2);
    });

    it('never give a config to two workers that ask at the same time', async () => {
      const owner = `raced-${Math.random()}`;
      for (let index = 0; index < 20; index++) await update(await followed({ owner }));
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          cursors.claim({ worker: `w${index}`, lease: LEASE, limit: 5, perOwner: 5, busy: new Map() }),
        ),
      );
      const ids = claims.flat().map(({ record }) => record.config.id);
      expect(new Set(ids).size).toBe(ids.length);
    });

    it('keep the updates of a settled task until they are finished', async () => {
      const record = await followed();
      await update(record);
      await tasks.settle(settleOf(taskOf(record), statusOf(TaskState.Canceled)));
      const sweep = () => tasks.leases!.sweepUpdates(Number.MAX_SAFE_INTEGER);
      await sweep();
      expect(await tasks.eventsAfter!(taskOf(record), 0)).toHaveLength(2);
      await claimed(record);
      await cursors.finish(keyOfConfig(record), 'worker');
      await sweep();
      expect(await tasks.eventsAfter!(taskOf(record), 0)).toEqual([]);
      expect(await claimed(record)).toBeUndefined();
    });
  });
}
