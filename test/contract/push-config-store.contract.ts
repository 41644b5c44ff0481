import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PushConfigConflictError, type PushConfigRecord, type PushConfigStore, type TaskStore } from 'nestjs-a2a';
import { draftOf } from 'nestjs-a2a/testing';

/** The two stores of one place, since configs belong to tasks. */
export interface PushConfigStoreSubject {
  readonly create: () => Promise<{ readonly tasks: TaskStore; readonly configs: PushConfigStore }>;
  readonly close: () => Promise<void>;
}

/** Holds a store to the contract of `PushConfigStore`. Owners and ids are new in every test. */
export function describePushConfigStore(name: string, subject: PushConfigStoreSubject): void {
  describe(`${name} as a PushConfigStore`, () => {
    let tasks: TaskStore;
    let configs: PushConfigStore;

    beforeAll(async () => {
      ({ tasks, configs } = await subject.create());
    });

    afterAll(() => subject.close());

    function recordOf(fields: Partial<PushConfigRecord['config']> & { owner?: string; createdAt?: number } = {}) {
      const { owner = randomUUID(), createdAt = 1_000, ...config } = fields;
      const record: PushConfigRecord = {
        config: {
          id: randomUUID(),
          taskId: randomUUID(),
          url: 'https://receiver.example.com/hook?x=%20',
          token: 'a token',
          authentication: { scheme: 'Bearer', credentials: 'secret' },
          ...config,
        },
        owner,
        createdAt,
      };
      return record;
    }

    function keyOf({ config: { id, taskId }, owner }: PushConfigRecord) {
      return { id, taskId, owner };
    }

    it('reads back what was created, for its owner alone (STORE-05, STORE-15)', async () => {
      const record = recordOf();
      await configs.create(record);
      expect(await configs.read(keyOf(record))).toEqual(record);
      expect(await configs.read({ ...keyOf(record), owner: randomUUID() })).toBeUndefined();
      expect(await configs.list({ taskId: record.config.taskId, owner: randomUUID() })).toEqual([]);
    });

    it('refuses an id that the task has, and takes it on another task (STORE-15, B-73)', async () => {
      const record = recordOf();
      await configs.create(record);
      const again = recordOf({ ...record.config, url: 'https://other.example.com', owner: record.owner });
      await expect(configs.create(again)).rejects.toThrow(PushConfigConflictError);
      expect((await configs.read(keyOf(record)))?.config.url).toBe(record.config.url);
      const elsewhere = recordOf({ ...record.config, taskId: randomUUID(), owner: record.owner });
      await configs.create(elsewhere);
      expect(await configs.read(keyOf(elsewhere))).toEqual(elsewhere);
    });

    it('lets one of many parallel creates of an id win (B-73)', async () => {
      const record = recordOf();
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => configs.create(record)));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(reasons.every((reason) => reason instanceof PushConfigConflictError)).toBe(true);
    });

    it('lists the configs of a task in the order of their creation (STORE-15)', async () => {
      const [taskId, owner] = [randomUUID(), randomUUID()];
      const records = [3, 1, 2].map((createdAt) => recordOf({ taskId, owner, createdAt }));
      for (const record of [...records].sort((a, b) => a.createdAt - b.createdAt)) await configs.create(record);
      const listed = await configs.list({ taskId, owner });
      expect(listed.map(({ createdAt }) => createdAt)).toEqual([1, 2, 3]);
    });

    it('removes a config once, and another time without a word', async () => {
      const record = recordOf();
      await configs.create(record);
      await configs.remove({ ...keyOf(record), owner: randomUUID() });
      expect(await configs.read(keyOf(record))).toEqual(record);
      await configs.remove(keyOf(record));
      await configs.remove(keyOf(record));
      expect(await configs.read(keyOf(record))).toBeUndefined();
    });

    it('hands out copies (DM-15)', async () => {
      const record = recordOf();
      await configs.create(record);
      const read = await configs.read(keyOf(record));
      read!.config.url = 'https://changed.example.com';
      expect(await configs.read(keyOf(record))).toEqual(record);
    });

    it('loses the configs of a task that is removed (RET-05)', async () => {
      const draft = draftOf();
      await tasks.create(draft);
      const record = recordOf({ taskId: draft.task.id, owner: draft.owner });
      await configs.create(record);
      await tasks.discard({ id: draft.task.id, owner: draft.owner }, 0);
      expect(await configs.read(keyOf(record))).toBeUndefined();
    });
  });
}
