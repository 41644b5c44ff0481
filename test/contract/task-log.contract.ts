import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TaskState, type TaskKey, type TaskStore, type VersionedUpdate } from 'nestjs-a2a';
import { appended, artifactOf, DRAFT_TIME, draftOf, keyOf, settleOf, statusOf } from 'nestjs-a2a/testing';
import type { TaskStoreSubject } from 'nestjs-a2a/testing';

const { Working, Canceled } = TaskState;

/** Holds a store to the part of the contract of `TaskStore` that tells one process what another one wrote. */
export function describeTaskLog(name: string, subject: Omit<TaskStoreSubject, 'filtersTiers' | 'trims'>): void {
  describe(`${name} as the log of its tasks`, () => {
    let store: TaskStore;
    let other: TaskStore;

    beforeAll(async () => {
      store = await subject.create();
      other = subject.connect ? await subject.connect(store) : store;
    });

    afterAll(async () => {
      if (other !== store) await subject.close(other);
      await subject.close(store);
    });

    async function after(key: TaskKey, version: number, limit?: number): Promise<readonly VersionedUpdate[]> {
      return (await other.eventsAfter?.(key, version, limit)) ?? [];
    }

    async function versionsOf(...keys: TaskKey[]): Promise<unknown> {
      return Object.fromEntries((await other.versionsOf?.(keys)) ?? [['unknown', 0]]);
    }

    it('has the updates after a version, oldest first, whoever wrote them (R-04, REP-01)', async () => {
      const key = keyOf(await createdWith(store, 2));
      const updates = [statusOf(Working, DRAFT_TIME, 'hello'), artifactOf('a', [{ data: { z: 1, a: '\u0000' } }])];
      await appended(store, key, updates);
      const canceled = statusOf(Canceled, DRAFT_TIME + 1);
      await store.settle(settleOf(key, canceled));
      expect(await after(key, 2)).toEqual([
        { version: 3, update: updates[0] },
        { version: 4, update: updates[1] },
        { version: 5, update: canceled },
      ]);
      expect(await after(key, 3, 1)).toEqual([{ version: 4, update: updates[1] }]);
      expect(await after(key, 5)).toEqual([]);
    });

    it('has no gap among the updates that it has, and begins after those that a task was created with', async () => {
      const key = keyOf(await createdWith(store, 3));
      await appended(store, key, [statusOf(Working)]);
      expect((await after(key, 0)).map(({ version }) => version)).toEqual([4]);
    });

    it('has nothing for an unknown id, and for another owner (ISO-03)', async () => {
      const key = keyOf(await createdWith(store, 0));
      await appended(store, key, [statusOf(Working)]);
      expect(await after({ id: key.id, owner: 'another owner' }, 0)).toEqual([]);
      expect(await after({ id: randomUUID(), owner: key.owner }, 0)).toEqual([]);
    });

    it('knows the versions of many tasks at once, and misses those that are gone (REP-04)', async () => {
      const [first, second, foreign, gone] = await Promise.all([0, 2, 1, 1].map((count) => createdWith(store, count)));
      await store.discard(keyOf(gone!), 1);
      expect(
        await versionsOf(
          keyOf(first!),
          keyOf(second!),
          { id: foreign!.task.id, owner: 'another owner' },
          keyOf(gone!),
          { id: randomUUID(), owner: 'nobody' },
        ),
      ).toEqual({ [first!.task.id]: 0, [second!.task.id]: 2 });
      expect(await versionsOf()).toEqual({});
    });
  });
}

async function createdWith(store: TaskStore, count: number): Promise<ReturnType<typeof draftOf>> {
  const draft = draftOf({ updates: Array.from({ length: count }, () => statusOf(Working)) });
  await store.create(draft);
  return draft;
}
