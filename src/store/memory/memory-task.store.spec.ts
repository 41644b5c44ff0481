import { describe, expect, it } from '@jest/globals';
import { TaskState } from '#protocol';
import { appended, artifactOf, DRAFT_TIME, draftOf, keyOf, statusOf } from 'nestjs-a2a/testing';
import { MemoryTaskStore } from './memory-task.store.js';

/** What every store holds stands in the contract suite. */
describe('MemoryTaskStore', () => {
  it.each([
    ['a\u0000b', 'c', 'a', 'b\u0000c'],
    ['', 'a', 'a', ''],
    ['["a"]', 'b', 'a', '["b"]'],
    ['__proto__', 'a', 'constructor', 'a'],
  ])('keeps owner %j with id %j apart from owner %j with id %j (ISO-13)', async (ownerA, idA, ownerB, idB) => {
    const store = new MemoryTaskStore();
    await store.create(draftOf({ owner: ownerA, id: idA }));
    await expect(store.read({ owner: ownerB, id: idB })).rejects.toMatchObject({ code: 'TASK_RECORD_NOT_FOUND' });
    expect((await store.read({ owner: ownerA, id: idA })).owner).toBe(ownerA);
  });

  it('keeps as many messages as it was told (LIFE-13a)', async () => {
    const store = new MemoryTaskStore(2);
    const draft = draftOf();
    await store.create(draft);
    const texts = ['a', 'b', 'c'].map((text) => statusOf(TaskState.Working, DRAFT_TIME, text));
    const { task } = await appended(store, keyOf(draft), texts);
    expect(task.history?.map(({ parts }) => parts[0])).toEqual([{ text: 'b' }, { text: 'c' }]);
  });

  it('answers every fault by a rejection and never throws in the caller’s face', () => {
    const store = new MemoryTaskStore();
    const key = { id: 'x', owner: 'o' };
    const failing = [store.read(key), store.create(draftOf({ metadata: { bad: NaN } }))];
    return Promise.all(failing.map((promise) => expect(promise).rejects.toThrow()));
  });

  it('does not ask for the whole task when updates are appended', async () => {
    const store = new MemoryTaskStore();
    const draft = draftOf();
    await store.create(draft);
    const never = (): never => {
      throw new Error('The whole task was asked for.');
    };
    const updates = [artifactOf('a', [{ text: 'x' }])];
    await expect(
      store.append({ key: keyOf(draft), expected: 0, runId: null, updates, at: DRAFT_TIME, task: never }),
    ).resolves.toMatchObject({ version: 1 });
  });
});
