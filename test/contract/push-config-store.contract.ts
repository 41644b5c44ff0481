import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  PushConfigConflictError,
  TaskRecordNotFoundError,
  TaskState,
  type PushConfigRecord,
  type PushConfigStore,
  type TaskStore,
} from 'nestjs-a2a';
import { appendTo, draftOf, keyOf, settleOf, statusOf } from 'nestjs-a2a/testing';
import { pushConfigOf } from '../support/push-configs.js';

/** A store that keeps configs with its tasks. */
export interface PushStoreSubject {
  readonly create: () => Promise<TaskStore & { readonly pushConfigs: PushConfigStore }>;
  readonly close: () => Promise<void>;
}

/** Holds a store to the contract of `PushConfigStore`, and of the writes that configs come with. */
export function describePushConfigStore(name: string, subject: PushStoreSubject): void {
  describe(`The push configs of ${name}`, () => {
    let tasks: TaskStore;
    let configs: PushConfigStore;

    beforeAll(async () => {
      const store = await subject.create();
      tasks = store;
      configs = store.pushConfigs;
    });

    afterAll(() => subject.close());

    /** A task, and a config for it that is not stored yet. */
    async function recordOf(fields: Parameters<typeof pushConfigOf>[1] = {}): Promise<PushConfigRecord> {
      const draft = draftOf({ runId: 'run-1' });
      await tasks.create(draft);
      return pushConfigOf({ id: draft.task.id, owner: draft.owner }, fields);
    }

    function configKey({ config: { id, taskId }, owner }: PushConfigRecord) {
      return { id, taskId, owner };
    }

    function taskOf({ config: { taskId }, owner }: PushConfigRecord) {
      return { id: taskId, owner };
    }

    async function idsOf(record: PushConfigRecord): Promise<string[]> {
      const listed = await configs.list({ taskId: record.config.taskId, owner: record.owner });
      return listed.map(({ config }) => config.id);
    }

    it('read back what was created, for its owner alone (STORE-05, STORE-15)', async () => {
      const record = await recordOf({ sealed: 'v1.secret' });
      await configs.create(record, 8);
      expect(await configs.read(configKey(record))).toEqual(record);
      expect(await configs.read({ ...configKey(record), owner: randomUUID() })).toBeUndefined();
      expect(await configs.list({ taskId: record.config.taskId, owner: randomUUID() })).toEqual([]);
    });

    it('refuse an id that the task has, and take it on another task (PCFG-04b, STORE-15, B-73)', async () => {
      const record = await recordOf();
      await configs.create(record, 8);
      const again = { ...record, config: { ...record.config, url: 'https://other.example.com' } };
      await expect(configs.create(again, 8)).rejects.toThrow(PushConfigConflictError);
      expect((await configs.read(configKey(record)))?.config.url).toBe(record.config.url);
      const elsewhere = await recordOf({ id: record.config.id });
      await configs.create(elsewhere, 8);
      expect(await configs.read(configKey(elsewhere))).toEqual(elsewhere);
    });

    it('are not kept for a task that is not there, or is of another owner (PCFG-01, RET-05)', async () => {
      const record = await recordOf();
      const { config, owner } = record;
      for (const orphan of [
        { ...record, owner: randomUUID() },
        { ...record, config: { ...config, taskId: randomUUID() } },
      ]) {
        await expect(configs.create(orphan, 8)).rejects.toThrow(TaskRecordNotFoundError);
        expect(await configs.read(configKey(orphan))).toBeUndefined();
      }
      expect(await configs.list({ taskId: config.taskId, owner })).toEqual([]);
    });

    it('let one of many parallel creates of an id win (B-73)', async () => {
      const record = await recordOf();
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => configs.create(record, 8)));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(reasons.every((reason) => reason instanceof PushConfigConflictError)).toBe(true);
    });

    it('stand in the order of their creation, whatever the clock says (PCFG-09a, STORE-15)', async () => {
      const first = await recordOf({ id: 'c', createdAt: 3 });
      const task = taskOf(first);
      for (const record of [
        first,
        pushConfigOf(task, { id: 'b', createdAt: 3 }),
        pushConfigOf(task, { id: 'a', createdAt: 1 }),
      ]) {
        await configs.create(record, 8);
      }
      expect(await idsOf(first)).toEqual(['c', 'b', 'a']);
    });

    it('stay within their bound: the oldest go, and the new one never does (PCFG-07, RET-04)', async () => {
      const first = await recordOf({ id: 'first' });
      await configs.create(first, 8);
      for (let index = 0; index < 100; index++) {
        const record = pushConfigOf(taskOf(first), { id: `config-${index}`, createdAt: 1_000 });
        await configs.create(record, 8);
        expect(await configs.read(configKey(record))).toBeDefined();
      }
      expect(await idsOf(first)).toEqual(Array.from({ length: 8 }, (_, index) => `config-${92 + index}`));
    });

    it('stay within their bound when many are created at once (PCFG-07)', async () => {
      const first = await recordOf();
      const records = Array.from({ length: 20 }, () => pushConfigOf(taskOf(first)));
      await Promise.all(records.map((record) => configs.create(record, 8)));
      expect(await idsOf(first)).toHaveLength(8);
    });

    it('are removed once, and another time without a word (PCFG-10)', async () => {
      const record = await recordOf();
      await configs.create(record, 8);
      await configs.remove({ ...configKey(record), owner: randomUUID() });
      expect(await configs.read(configKey(record))).toEqual(record);
      await configs.remove(configKey(record));
      await configs.remove(configKey(record));
      expect(await configs.read(configKey(record))).toBeUndefined();
    });

    it('are handed out as copies (DM-15)', async () => {
      const record = await recordOf();
      await configs.create(record, 8);
      const read = await configs.read(configKey(record));
      read!.config.url = 'https://changed.example.com';
      expect(await configs.read(configKey(record))).toEqual(record);
    });

    it('go with a task that is removed (RET-05)', async () => {
      const record = await recordOf();
      await configs.create(record, 8);
      await tasks.discard(taskOf(record), 0);
      expect(await configs.read(configKey(record))).toBeUndefined();
    });

    it('come with a new task in one write, or not at all (SEND-14, B-93)', async () => {
      const draft = draftOf({ runId: 'run-1' });
      const record = pushConfigOf(keyOf(draft));
      await tasks.create({ ...draft, push: { record, keep: 8 } });
      expect(await configs.read(configKey(record))).toEqual(record);
      const stray = pushConfigOf(keyOf(draft));
      await expect(tasks.create({ ...draft, push: { record: stray, keep: 8 } })).rejects.toThrow();
      expect(await idsOf(record)).toEqual([record.config.id]);
    });

    it('come with an update in one write, or not at all (SEND-14)', async () => {
      const record = await recordOf();
      const before = await tasks.read(taskOf(record));
      const append = { ...appendTo(before, [statusOf(TaskState.Working)]), push: { record, keep: 8 } };
      await tasks.append(append);
      expect(await configs.read(configKey(record))).toEqual(record);
      const stray = { record: pushConfigOf(taskOf(record)), keep: 8 };
      await expect(tasks.append({ ...append, push: stray })).rejects.toThrow();
      expect(await idsOf(record)).toEqual([record.config.id]);
    });

    it('are replaced by one of their id that comes with an update, and keep their bound', async () => {
      const record = await recordOf({ id: 'same' });
      await configs.create(record, 8);
      for (let index = 0; index < 9; index++) await configs.create(pushConfigOf(taskOf(record), { id: `${index}` }), 8);
      const replacement = pushConfigOf(taskOf(record), { id: '5' });
      replacement.config.url = 'https://new.example.com/';
      const push = { record: replacement, keep: 8 };
      await tasks.append({ ...appendTo(await tasks.read(taskOf(record)), [statusOf(TaskState.Working)]), push });
      expect((await configs.read({ ...configKey(record), id: '5' }))?.config.url).toBe('https://new.example.com/');
      const added = { record: pushConfigOf(taskOf(record), { id: 'added' }), keep: 8 };
      await tasks.append({ ...appendTo(await tasks.read(taskOf(record)), [statusOf(TaskState.Working)]), push: added });
      expect(await idsOf(record)).toEqual(['2', '3', '4', '5', '6', '7', '8', 'added']);
    });

    it('are counted with every write, so that nobody has to look for those of a task that has none (PUSH-11)', async () => {
      const record = await recordOf();
      const write = async () =>
        (await tasks.append(appendTo(await tasks.read(taskOf(record)), [statusOf(TaskState.Working)]))).pushRev;
      expect(await write()).toBe(0);
      await configs.create(record, 8);
      const withOne = await write();
      expect(withOne).toBeGreaterThan(0);
      expect(await write()).toBe(withOne);
      await configs.remove(configKey(record));
      const settled = await tasks.settle(settleOf(taskOf(record), statusOf(TaskState.Canceled)));
      expect(settled?.pushRev).toBeGreaterThan(withOne!);
    });
  });
}
