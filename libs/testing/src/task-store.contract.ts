import { randomUUID } from 'node:crypto';
import type * as JestGlobals from '@jest/globals';
import {
  TaskRecordConflictError,
  TaskRecordNotFoundError,
  TaskState,
  UNNARROWED,
  type JsonObject,
  type JsonValue,
  type Part,
  type StatusUpdate,
  type TaskDraft,
  type TaskPage,
  type TaskQuery,
  type TaskRecord,
  type TaskStore,
  type Tier,
} from 'nestjs-a2a';
import {
  appended,
  appendTo,
  artifactOf,
  DRAFT_TIME,
  draftOf,
  keyOf,
  messageOf,
  messageUpdateOf,
  settleOf,
  statusOf,
  type DraftFields,
} from './task-drafts.js';

/** A store that is to be held to the contract. */
export interface TaskStoreSubject {
  /** Opens a store that keeps 200 messages of history. Other tests may have left tasks in it. */
  readonly create: () => Promise<TaskStore>;
  /** Opens a second store on the data of the first, over a connection of its own. @default the first store */
  readonly connect?: (first: TaskStore) => Promise<TaskStore>;
  readonly close: (store: TaskStore) => Promise<void>;
  /** Whether the store filters tiers. @default true */
  readonly filtersTiers?: boolean;
  /** Whether the store trims. @default true */
  readonly trims?: boolean;
}

const { Submitted, Working, Completed, Failed, Canceled, InputRequired } = TaskState;

/** What is no JSON, and so has no place in a task. */
const NOT_JSON: readonly (readonly [string, () => unknown])[] = [
  ['NaN', () => NaN],
  ['Infinity', () => -Infinity],
  ['a function', () => () => 1],
  ['a symbol', () => Symbol('s')],
  ['a bigint', () => 1n],
  ['a Map', () => new Map([[1, 2]])],
  ['a cycle', cycle],
];

/** JSON that a careless store changes on the way. */
const ODD_JSON: readonly (readonly [string, JsonValue])[] = [
  ['null', null],
  ['falsy values', [false, 0, '', null]],
  ['an empty object and an empty array', { object: {}, array: [] }],
  ['great and small numbers', [1e21, 1e-7, -1, 0.1, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, 1.7976931348623157e308]],
  ['negative zero', [-0]],
  ['keys in an order of their own', { z: 1, a: 2, m: { y: 1, b: 2 } }],
  ['keys that differ only in case', { id: 1, ID: 2, Id: 3 }],
  ['the key __proto__', ownProto()],
  ['the keys constructor and prototype', { constructor: { prototype: { polluted: true } } }],
  ['NUL and other control characters', 'a\u0000b\u0001\u001f\u007f\u0085'],
  ['lone surrogates', '\ud800 \udc00 \udfff'],
  ['text beyond ASCII', '<b>&amp; 漢字 😀 \u2028\u2029 \\ " \' ; --'],
  ['text that looks like SQL', "'; DROP TABLE a2a_task; --"],
  ['nesting of 200 levels', nested(200)],
  ['a long text', 'x'.repeat(100_000)],
];

/**
 * Holds a store to the contract of `TaskStore`.
 *
 * For Jest, and runners that offer the same globals. Whatever is written through one connection is read through the
 * other. Owners and ids are new in every test, so that the store may be shared and need not be emptied.
 *
 * @example
 * describeTaskStore('MyStore', { create: async () => new MyStore(), close: (store) => store.close() });
 */
export function describeTaskStore(name: string, subject: TaskStoreSubject): void {
  // Those of the runner at hand: importing Jest's would fail in any other, and where no tests run.
  const { afterAll, beforeAll, describe, expect, it } = globalThis as unknown as typeof JestGlobals;
  const { filtersTiers = true, trims = true } = subject;

  describe(`${name} as a TaskStore`, () => {
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

    async function created(fields: DraftFields = {}): Promise<TaskDraft> {
      const draft = draftOf(fields);
      await store.create(draft);
      return draft;
    }

    function list(tier: Partial<Tier> & Pick<Tier, 'owner'>, fields: Partial<TaskQuery> = {}): Promise<TaskPage> {
      return other.list({
        tier: { tenant: '', scope: UNNARROWED, ...tier },
        limit: 100,
        artifacts: false,
        ...fields,
      });
    }

    describe('create', () => {
      it('keeps the task and everything around it, at version 0 (STORE-04b, STORE-05)', async () => {
        const draft = await created({
          tenant: 'a tenant',
          scope: '["read"]',
          skillId: 'summarize',
          runId: 'run-7',
          artifacts: [{ artifactId: 'a', parts: [{ text: 'b' }], name: 'n' }],
          metadata: { 'a2a.skill': 'summarize' },
        });
        expect(await other.read(keyOf(draft))).toEqual({
          task: draft.task,
          owner: draft.owner,
          tenant: 'a tenant',
          scope: '["read"]',
          skillId: 'summarize',
          runId: 'run-7',
          version: 0,
          createdAt: DRAFT_TIME,
          updatedAt: DRAFT_TIME,
          statusAt: DRAFT_TIME,
        });
      });

      it('applies the updates that were ready, each a version (R-21, R-23)', async () => {
        const draft = await created({
          runId: null,
          updates: [
            statusOf(Working, DRAFT_TIME + 1),
            artifactOf('a', [{ text: 'one' }]),
            statusOf(Completed, DRAFT_TIME + 2, 'Done.'),
          ],
        });
        const record = await other.read(keyOf(draft));
        expect(record).toMatchObject({ version: 3, runId: null, statusAt: DRAFT_TIME + 2 });
        expect(record.task.status.state).toBe(Completed);
        expect(record.task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'one' }] }]);
        expect(textsOf(record)).toEqual([`first of ${draft.task.id}`, 'Done.']);
      });

      it('refuses an id that exists and overwrites nothing, whoever asks (STORE-06)', async () => {
        const draft = await created();
        for (const owner of [draft.owner, 'another owner']) {
          const again = draftOf({ id: draft.task.id, owner, state: Failed });
          await expect(store.create(again)).rejects.toMatchObject({ code: 'TASK_RECORD_CONFLICT' });
        }
        expect((await other.read(keyOf(draft))).task).toEqual(draft.task);
        await expect(other.read({ id: draft.task.id, owner: 'another owner' })).rejects.toMatchObject({
          code: 'TASK_RECORD_NOT_FOUND',
        });
      });

      it('lets one of many parallel creates of an id win (B-73)', async () => {
        const id = randomUUID();
        const drafts = Array.from({ length: 20 }, (_, index) => draftOf({ id, owner: 'o', skillId: `skill-${index}` }));
        const results = await Promise.allSettled(
          drafts.map((draft, index) => (index % 2 ? store : other).create(draft)),
        );
        expect(codesOf(results)).toEqual(Array<string>(19).fill('TASK_RECORD_CONFLICT'));
        const winner = results.findIndex(({ status }) => status === 'fulfilled');
        expect((await other.read({ id, owner: 'o' })).skillId).toBe(`skill-${winner}`);
      });

      it('copies what it is given (DM-15, B-70, STORE-09a)', async () => {
        const metadata = { kept: 'yes' };
        const updates = [artifactOf('a', [{ data: { kept: 'yes' } }])];
        const draft = draftOf({ metadata, updates });
        const expected = structuredClone(draft);
        await store.create(draft);
        metadata.kept = 'no';
        draft.task.history?.push(messageOf('sneaked in'));
        draft.task.status.state = Failed;
        updates[0]?.artifact.parts.push({ text: 'sneaked in' });
        const { task } = await other.read(keyOf(draft));
        expect(task.history).toEqual(expected.task.history);
        expect(task.metadata).toEqual({ kept: 'yes' });
        expect(task.status.state).toBe(Submitted);
        expect(task.artifacts).toEqual([{ artifactId: 'a', parts: [{ data: { kept: 'yes' } }] }]);
      });

      it.each(NOT_JSON)('refuses %s and keeps nothing (STORE-09b)', async (_name, make) => {
        for (const draft of [
          draftOf({ metadata: { bad: make() as JsonValue } }),
          draftOf({ updates: [artifactOf('a', [{ data: make() as JsonValue }])] }),
        ]) {
          await expect(store.create(draft)).rejects.toThrow();
          await expect(other.read(keyOf(draft))).rejects.toMatchObject({ code: 'TASK_RECORD_NOT_FOUND' });
        }
      });

      it.each(ODD_JSON)('gives back %s as it was (STORE-16, S-17)', async (_name, value) => {
        const parts: Part[] = [{ data: value }, ...(typeof value === 'string' ? [{ text: value }] : [])];
        const draft = await created({
          history: [{ ...messageOf(parts), metadata: { value } }],
          metadata: { value },
          artifacts: [{ artifactId: 'created', parts }],
        });
        await store.append(appendTo(await store.read(keyOf(draft)), [artifactOf('appended', parts)]));
        const { history, metadata, artifacts } = (await other.read(keyOf(draft))).task;
        // The text tells key order, own `__proto__` keys and escapes apart, and takes -0 for 0 as JSON does.
        expect(jsonOf([history, metadata])).toBe(jsonOf([draft.task.history, draft.task.metadata]));
        expect(jsonOf(artifacts)).toBe(jsonOf(['created', 'appended'].map((artifactId) => ({ artifactId, parts }))));
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      });

      it('takes ids and owners that look like SQL, patterns or paths for data (STORE-13a, ISO-13)', async () => {
        const names = [
          "' OR '1'='1",
          '"; DROP TABLE a2a_task; --',
          '%',
          '_',
          '*',
          '[]',
          'a:b',
          'a/b',
          'a|b',
          'a\\',
          'ä漢😀',
        ];
        const tag = randomUUID();
        for (const owner of names) {
          for (const id of names) await created({ id: `${tag}${owner}${id}`, owner: `${tag}${owner}`, contextId: id });
        }
        for (const owner of names) {
          const page = await list({ owner: `${tag}${owner}` });
          expect(page.records.map(({ task }) => task.id).sort()).toEqual(
            names.map((id) => `${tag}${owner}${id}`).sort(),
          );
          for (const contextId of names) {
            const { records } = await list({ owner: `${tag}${owner}` }, { contextId });
            expect(records.map(({ task }) => task.contextId)).toEqual([contextId]);
          }
        }
      });

      it.each([
        [
          ['a', 'b:c'],
          ['a:b', 'c'],
        ],
        [
          ['a', 'b|c'],
          ['a|b', 'c'],
        ],
        [
          ['a', '","b'],
          ['a","', 'b'],
        ],
        [
          ['A', 'x'],
          ['a', 'X'],
        ],
        [
          ['é', 'x'],
          ['e\u0301', 'x'],
        ],
        [
          ['a', 'x'],
          ['a ', 'x'],
        ],
      ])('does not take owner and id %j for %j (ISO-13)', async ([ownerA, idA], [ownerB, idB]) => {
        const tag = randomUUID();
        const draft = await created({ owner: `${tag}${ownerA!}`, id: `${idA!}${tag}` });
        await expect(other.read({ owner: `${tag}${ownerB!}`, id: `${idB!}${tag}` })).rejects.toMatchObject({
          code: 'TASK_RECORD_NOT_FOUND',
        });
        expect((await list({ owner: `${tag}${ownerB!}` })).total).toBe(0);
        expect((await other.read(keyOf(draft))).owner).toBe(`${tag}${ownerA!}`);
      });
    });

    describe('read', () => {
      it('knows neither an unknown id nor a task of another owner, and tells them alike (STORE-02, ISO-03, S-14)', async () => {
        const draft = await created();
        const unknown = await rejectionOf(other.read({ id: randomUUID(), owner: draft.owner }));
        const foreign = await rejectionOf(other.read({ id: draft.task.id, owner: 'another owner' }));
        expect(unknown).toBeInstanceOf(TaskRecordNotFoundError);
        expect(foreign).toBeInstanceOf(TaskRecordNotFoundError);
        expect(foreign.message).toBe(unknown.message);
      });

      it('hands out copies (DM-15, B-70, STORE-09a)', async () => {
        const draft = await created({ artifacts: [{ artifactId: 'a', parts: [{ data: { deep: [1] } }] }] });
        const { task } = await other.read(keyOf(draft));
        task.status.state = Failed;
        task.history?.splice(0);
        (task.artifacts?.[0]?.parts[0] as { data: JsonObject }).data['deep'] = 'changed';
        expect((await other.read(keyOf(draft))).task).toEqual(draft.task);
      });

      it('keeps milliseconds of timestamps (STORE-16, DM-11a)', async () => {
        const at = DRAFT_TIME + 7;
        const draft = await created({ at });
        const record = await other.read(keyOf(draft));
        expect(record.task.status.timestamp).toBe('2026-01-01T12:00:00.007Z');
        expect(record).toMatchObject({ createdAt: at, updatedAt: at, statusAt: at });
      });
    });

    describe('append', () => {
      it('adds updates in their order and moves the version by their number (STORE-03a, STORE-04b, R-23)', async () => {
        const draft = await created();
        const record = await store.read(keyOf(draft));
        const updates = [
          statusOf(Working, DRAFT_TIME + 1, 'one'),
          artifactOf('a', [{ text: 'x' }]),
          artifactOf('a', [{ text: 'y' }], { append: true }),
          statusOf(Working, DRAFT_TIME + 2, 'two'),
        ];
        expect(await store.append(appendTo(record, updates))).toMatchObject({ version: 4 });
        const after = await other.read(keyOf(draft));
        expect(after.version).toBe(4);
        expect(textsOf(after).slice(1)).toEqual(['one', 'two']);
        expect(after.task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'x' }, { text: 'y' }] }]);
        expect(await store.append(appendTo(after, [statusOf(Completed)]))).toMatchObject({ version: 5 });
      });

      it.each([-1, 1, 2, 100])('refuses a version that is %i off and changes nothing (STORE-03a)', async (off) => {
        const draft = await created({ updates: [statusOf(Working), statusOf(Working)] });
        const before = await other.read(keyOf(draft));
        const stale = appendTo(before, [statusOf(Completed)], { expected: before.version + off, runId: null });
        await expect(store.append(stale)).rejects.toBeInstanceOf(TaskRecordConflictError);
        expect(await other.read(keyOf(draft))).toEqual(before);
      });

      it('tells absence from a lost race, and a foreign task from neither (STORE-03b, ISO-03)', async () => {
        const draft = await created();
        const before = await other.read(keyOf(draft));
        for (const key of [
          { id: randomUUID(), owner: draft.owner },
          { id: draft.task.id, owner: 'another owner' },
        ]) {
          for (const expected of [0, 9]) {
            const append = appendTo(before, [statusOf(Completed)], { key, expected });
            await expect(store.append(append)).rejects.toBeInstanceOf(TaskRecordNotFoundError);
          }
        }
        expect(await other.read(keyOf(draft))).toEqual(before);
      });

      it('lets one of a hundred parallel appends at one version win (STORE-14)', async () => {
        const draft = await created();
        const record = await store.read(keyOf(draft));
        const results = await Promise.allSettled(
          Array.from({ length: 100 }, (_, index) =>
            (index % 2 ? store : other).append(appendTo(record, [statusOf(Working, DRAFT_TIME, `writer ${index}`)])),
          ),
        );
        expect(codesOf(results)).toEqual(Array<string>(99).fill('TASK_RECORD_CONFLICT'));
        const winner = results.findIndex(({ status }) => status === 'fulfilled');
        const after = await other.read(keyOf(draft));
        expect(after.version).toBe(1);
        expect(textsOf(after).slice(1)).toEqual([`writer ${winner}`]);
      });

      it('lets writers of different tasks not stand in each other’s way', async () => {
        const drafts = await Promise.all(Array.from({ length: 50 }, () => created()));
        await Promise.all(
          drafts.map(async (draft, index) => {
            const append = appendTo(await store.read(keyOf(draft)), [statusOf(Working, DRAFT_TIME, `to ${index}`)]);
            await (index % 2 ? store : other).append(append);
          }),
        );
        const records = await Promise.all(drafts.map((draft) => other.read(keyOf(draft))));
        expect(records.map((record) => textsOf(record)[1])).toEqual(drafts.map((_, index) => `to ${index}`));
      });

      it('notes the run that may write, and none when the updates end the task (R-24)', async () => {
        const draft = await created({ runId: 'run-1' });
        expect((await appended(store, keyOf(draft), [statusOf(Working)], { runId: 'run-2' })).runId).toBe('run-2');
        expect((await appended(store, keyOf(draft), [statusOf(InputRequired)], { runId: null })).runId).toBeNull();
      });

      it('never changes owner, tenant, scope, skill and time of creation (ISO-07, STORE-04a)', async () => {
        const draft = await created({ tenant: 't', scope: '["a"]' });
        const before = await other.read(keyOf(draft));
        const after = await appended(store, keyOf(draft), [statusOf(Completed, DRAFT_TIME + 9)], {
          at: DRAFT_TIME + 9,
          runId: null,
        });
        for (const field of ['owner', 'tenant', 'scope', 'skillId', 'createdAt'] as const) {
          expect(after[field]).toBe(before[field]);
        }
        expect(after.updatedAt).toBe(DRAFT_TIME + 9);
      });

      it('never lets the time of the status or of the update go back (R-30)', async () => {
        const draft = await created({ at: DRAFT_TIME });
        const after = await appended(store, keyOf(draft), [statusOf(Working, DRAFT_TIME - 5_000)], {
          at: DRAFT_TIME - 5_000,
        });
        expect(after).toMatchObject({ statusAt: DRAFT_TIME, updatedAt: DRAFT_TIME, version: 1 });
        expect(after.task.status.state).toBe(Working);
      });

      it('leaves the time of the status alone when an artifact or a message comes (R-30)', async () => {
        const draft = await created();
        const updates = [artifactOf('a', []), messageUpdateOf('more')];
        const after = await appended(store, keyOf(draft), updates, { at: DRAFT_TIME + 60_000 });
        expect(after).toMatchObject({ statusAt: DRAFT_TIME, updatedAt: DRAFT_TIME + 60_000 });
        expect(after.task.status).toEqual(draft.task.status);
      });

      it('replaces an artifact, or adds to it (CTX-05, CTX-06b)', async () => {
        const draft = await created();
        await appended(store, keyOf(draft), [
          artifactOf('a', [{ text: 'old' }], { name: 'old' }),
          artifactOf('b', [{ text: 'other' }]),
        ]);
        await appended(store, keyOf(draft), [
          artifactOf('a', [{ text: 'new' }]),
          artifactOf('b', [{ text: 'more' }], { append: true }),
        ]);
        expect((await other.read(keyOf(draft))).task.artifacts).toEqual([
          { artifactId: 'a', parts: [{ text: 'new' }] },
          { artifactId: 'b', parts: [{ text: 'other' }, { text: 'more' }] },
        ]);
      });

      it('creates the artifact that an append does not find (B-43, CTX-06a)', async () => {
        const draft = await created();
        const { task } = await appended(store, keyOf(draft), [
          artifactOf('lost', [{ text: 'c0' }], { append: true }),
          artifactOf('lost', [{ text: 'c1' }], { append: true }),
        ]);
        expect(task.artifacts).toEqual([{ artifactId: 'lost', parts: [{ text: 'c0' }, { text: 'c1' }] }]);
      });

      it('keeps parts an array, in an empty artifact and in an empty delta (DM-09c)', async () => {
        const draft = await created();
        await appended(store, keyOf(draft), [artifactOf('a', [])]);
        const { task } = await appended(store, keyOf(draft), [artifactOf('a', [], { append: true })]);
        expect(task.artifacts).toEqual([{ artifactId: 'a', parts: [] }]);
      });

      it('merges metadata of status updates into the task’s, and of chunks into the artifact’s (B-42)', async () => {
        const draft = await created({ metadata: { a: 0, kept: true } });
        const { task } = await appended(store, keyOf(draft), [
          statusOf(Working, DRAFT_TIME, undefined, { a: 1 }),
          statusOf(Working, DRAFT_TIME, undefined, { b: 2 }),
          artifactOf('x', [], { metadata: { a: 1, b: 1 } }),
          artifactOf('x', [], { metadata: { b: 2 }, append: true }),
        ]);
        expect(task.metadata).toEqual({ a: 1, kept: true, b: 2 });
        expect(task.artifacts?.[0]?.metadata).toEqual({ a: 1, b: 2 });
      });

      it('puts each message into the history once, in order (B-41, LIFE-13b)', async () => {
        const draft = await created();
        const pause = statusOf(InputRequired, DRAFT_TIME, 'More?');
        await appended(store, keyOf(draft), [pause], { runId: null });
        const reply = messageUpdateOf('Here.');
        const { task } = await appended(store, keyOf(draft), [reply, statusOf(Working)]);
        expect(task.history?.map(({ messageId }) => messageId)).toEqual([
          draft.task.history?.[0]?.messageId,
          pause.status.message?.messageId,
          reply.message.messageId,
        ]);
        expect(task.status.message).toBeUndefined();
      });

      it('drops the oldest messages past 200 (LIFE-13a)', async () => {
        const draft = await created();
        const texts = Array.from({ length: 205 }, (_, index) => `step ${index}`);
        await appended(
          store,
          keyOf(draft),
          texts.slice(0, 100).map((text) => statusOf(Working, DRAFT_TIME, text)),
        );
        const record = await appended(
          store,
          keyOf(draft),
          texts.slice(100).map((text) => statusOf(Working, DRAFT_TIME, text)),
        );
        expect(textsOf(record)).toEqual(texts.slice(-200));
      });

      it('copies what it is given (DM-15, B-70, STORE-09a)', async () => {
        const draft = await created();
        const record = await store.read(keyOf(draft));
        const status = statusOf(Working, DRAFT_TIME, 'as written', { kept: 'yes' });
        const artifact = artifactOf('a', [{ text: 'as written' }], { metadata: { kept: 'yes' } });
        const message = messageUpdateOf('as written');
        await store.append(appendTo(record, [status, artifact, message]));
        status.status.state = Failed;
        status.status.message?.parts.push({ text: 'changed' });
        status.metadata!['kept'] = 'no';
        artifact.artifact.parts.push({ text: 'changed' });
        artifact.artifact.metadata!['kept'] = 'no';
        message.message.parts.splice(0);
        const { task } = await other.read(keyOf(draft));
        expect(task.status.state).toBe(Working);
        expect(task.status.message?.parts).toEqual([{ text: 'as written' }]);
        expect(task.metadata).toEqual({ kept: 'yes' });
        expect(task.artifacts).toEqual([
          { artifactId: 'a', parts: [{ text: 'as written' }], metadata: { kept: 'yes' } },
        ]);
        expect(task.history?.at(-1)?.parts).toEqual([{ text: 'as written' }]);
      });

      it.each(NOT_JSON)(
        'refuses %s and leaves task and version as they were (STORE-09b, CTX-11)',
        async (_name, make) => {
          const draft = await created();
          const before = await other.read(keyOf(draft));
          for (const bad of [
            artifactOf('a', [{ data: make() as JsonValue }]),
            artifactOf('a', [], { metadata: { bad: make() as JsonValue } }),
            statusOf(Working, DRAFT_TIME, undefined, { bad: make() as JsonValue }),
          ]) {
            const append = appendTo(before, [statusOf(Completed), bad], { runId: null });
            await expect(store.append({ ...append, task: () => before.task })).rejects.toThrow();
            expect(await other.read(keyOf(draft))).toEqual(before);
          }
        },
      );
    });

    describe('settle', () => {
      it('settles whatever the version is, and takes the right to write from the run (R-22)', async () => {
        const draft = await created({ updates: [statusOf(Working), artifactOf('a', [{ text: 'kept' }])] });
        const update = statusOf(Canceled, DRAFT_TIME + 5, 'Canceled.', { by: 'owner' });
        const written = await store.settle(settleOf(keyOf(draft), update, { at: DRAFT_TIME + 5 }));
        expect(written).toMatchObject({ version: 3 });
        const record = await other.read(keyOf(draft));
        expect(record).toMatchObject({ version: 3, runId: null, statusAt: DRAFT_TIME + 5, updatedAt: DRAFT_TIME + 5 });
        expect(record.task.status).toEqual(update.status);
        expect(record.task.metadata).toMatchObject({ by: 'owner' });
        expect(record.task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'kept' }] }]);
        expect(textsOf(record).at(-1)).toBe('Canceled.');
      });

      it.each([Submitted, Working, InputRequired, TaskState.AuthRequired])(
        'settles a task in %s (CAN-02, R-22)',
        async (state) => {
          const draft = await created({ state });
          expect(await store.settle(settleOf(keyOf(draft), statusOf(Canceled)))).toMatchObject({ version: 1 });
          expect((await other.read(keyOf(draft))).task.status.state).toBe(Canceled);
        },
      );

      it.each([Completed, Failed, Canceled, TaskState.Rejected])(
        'leaves a task in %s as it is (CAN-04a, R-22)',
        async (state) => {
          const draft = await created({ state });
          const before = await other.read(keyOf(draft));
          expect(await store.settle(settleOf(keyOf(draft), statusOf(Canceled, DRAFT_TIME + 1)))).toBeNull();
          expect(await other.read(keyOf(draft))).toEqual(before);
        },
      );

      it('heeds the guard alone, not what is terminal (R-22)', async () => {
        const draft = await created({ state: Working });
        const settle = settleOf(keyOf(draft), statusOf(Canceled), { guard: [InputRequired] });
        expect(await store.settle(settle)).toBeNull();
        expect((await other.read(keyOf(draft))).version).toBe(0);
      });

      it('settles no task that is not there, or not this owner’s (ISO-03)', async () => {
        const draft = await created();
        const before = await other.read(keyOf(draft));
        const unknown = { id: randomUUID(), owner: draft.owner };
        expect(await store.settle(settleOf(unknown, statusOf(Canceled)))).toBeNull();
        const foreign = { id: draft.task.id, owner: 'another owner' };
        expect(await store.settle(settleOf(foreign, statusOf(Canceled)))).toBeNull();
        expect(await other.read(keyOf(draft))).toEqual(before);
      });

      it('makes the run lose the next comparison (R-22, CAN-04a)', async () => {
        const draft = await created();
        const known = await store.read(keyOf(draft));
        await other.settle(settleOf(keyOf(draft), statusOf(Canceled)));
        await expect(store.append(appendTo(known, [statusOf(Completed)]))).rejects.toBeInstanceOf(
          TaskRecordConflictError,
        );
        expect((await other.read(keyOf(draft))).task.status.state).toBe(Canceled);
      });

      it('lets one of many parallel settles happen (R-22, CAN-07)', async () => {
        const draft = await created();
        const written = await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            (index % 2 ? store : other).settle(settleOf(keyOf(draft), statusOf(Canceled, DRAFT_TIME, `by ${index}`))),
          ),
        );
        const winners = written.filter((result) => result !== null);
        expect(winners.map(({ version }) => version)).toEqual([1]);
        const record = await other.read(keyOf(draft));
        expect(textsOf(record).slice(1)).toEqual([`by ${written.findIndex((result) => result !== null)}`]);
      });

      it('races with completions so that exactly one of both is stored (B-65, R-22)', async () => {
        await Promise.all(
          Array.from({ length: 40 }, async (_, index) => {
            const draft = await created();
            const completion = appendTo(await store.read(keyOf(draft)), [statusOf(Completed)], { runId: null });
            const complete = () => (index % 2 ? store : other).append(completion);
            const cancel = () => (index % 3 ? store : other).settle(settleOf(keyOf(draft), statusOf(Canceled)));
            const [first, second] = await Promise.allSettled(
              index % 4 < 2 ? [complete(), cancel()] : [cancel(), complete()],
            );
            const winners = [first, second].filter((result) => result.status === 'fulfilled' && result.value !== null);
            expect(winners).toHaveLength(1);
            const { task, version } = await other.read(keyOf(draft));
            const canceled = winners[0] === (index % 4 < 2 ? second : first);
            expect({ state: task.status.state, version }).toEqual({
              state: canceled ? Canceled : Completed,
              version: 1,
            });
          }),
        );
      });

      it('never changes owner, tenant, scope, skill and time of creation, nor lets time go back (ISO-07, R-30)', async () => {
        const draft = await created({ tenant: 't', scope: '[]' });
        const before = await other.read(keyOf(draft));
        const past = DRAFT_TIME - 1_000;
        await store.settle(settleOf(keyOf(draft), statusOf(Canceled, past), { at: past }));
        const { task: _task, runId: _runId, ...after } = await other.read(keyOf(draft));
        const { task: _before, runId: _run, ...expected } = before;
        expect(after).toEqual({ ...expected, version: 1 });
      });

      it('copies what it is given (DM-15, B-70)', async () => {
        const draft = await created();
        const update = statusOf(Canceled, DRAFT_TIME, 'as written');
        await store.settle(settleOf(keyOf(draft), update));
        update.status.message?.parts.push({ text: 'changed' });
        const { task } = await other.read(keyOf(draft));
        expect(task.status.message?.parts).toEqual([{ text: 'as written' }]);
      });

      it.each(NOT_JSON)('refuses %s and leaves task and version as they were (STORE-09b)', async (_name, make) => {
        const draft = await created();
        const before = await other.read(keyOf(draft));
        const bad: StatusUpdate = statusOf(Canceled, DRAFT_TIME, undefined, { bad: make() as JsonValue });
        await expect(store.settle(settleOf(keyOf(draft), bad))).rejects.toThrow();
        expect(await other.read(keyOf(draft))).toEqual(before);
      });
    });

    describe('settle of a run', () => {
      it('happens while that run may write, and not when another one does or none (R-08, R-22)', async () => {
        const states = await Promise.all(
          ['run-1', 'run-2', null].map(async (runId) => {
            const draft = await created({ runId, state: Working });
            const written = await store.settle(settleOf(keyOf(draft), statusOf(Failed), { runId: 'run-1' }));
            return [written?.version ?? null, (await other.read(keyOf(draft))).task.status.state];
          }),
        );
        expect(states).toEqual([
          [1, Failed],
          [null, Working],
          [null, Working],
        ]);
      });
    });

    describe('discard', () => {
      it('removes a task that is still at the expected version (R-21)', async () => {
        const draft = await created({ updates: [statusOf(Working)] });
        expect(await store.discard(keyOf(draft), 1)).toBe(true);
        await expect(other.read(keyOf(draft))).rejects.toBeInstanceOf(TaskRecordNotFoundError);
        expect((await list({ owner: draft.owner })).total).toBe(0);
        expect(await store.discard(keyOf(draft), 1)).toBe(false);
      });

      it('leaves a task that has changed, and one of another owner (R-21, ISO-03)', async () => {
        const draft = await created({ updates: [statusOf(Working)] });
        const before = await other.read(keyOf(draft));
        expect(await store.discard(keyOf(draft), 0)).toBe(false);
        expect(await store.discard(keyOf(draft), 2)).toBe(false);
        expect(await store.discard({ id: draft.task.id, owner: 'another owner' }, 1)).toBe(false);
        expect(await store.discard({ id: randomUUID(), owner: draft.owner }, 0)).toBe(false);
        expect(await other.read(keyOf(draft))).toEqual(before);
      });

      it('races with a cancel so that exactly one of both happens (R-21, R-22)', async () => {
        await Promise.all(
          Array.from({ length: 20 }, async (_, index) => {
            const draft = await created();
            const discard = () => store.discard(keyOf(draft), 0);
            const cancel = async () => (await other.settle(settleOf(keyOf(draft), statusOf(Canceled)))) !== null;
            const results = await Promise.all(index % 2 ? [discard(), cancel()] : [cancel(), discard()]);
            expect(results.filter(Boolean)).toHaveLength(1);
            const isGone = results[index % 2 ? 0 : 1];
            expect((await list({ owner: draft.owner })).total).toBe(isGone ? 0 : 1);
          }),
        );
      });
    });

    describe('list', () => {
      it('shows the newest status first, and total and rest of the page (STORE-07a, R-30)', async () => {
        const owner = randomUUID();
        for (const [id, at] of [
          ['m', 3],
          ['z', 1],
          ['a', 5],
          ['k', 4],
        ] as const) {
          await created({ id: `${id}-${owner}`, owner, at: DRAFT_TIME + at });
        }
        const page = await list({ owner }, { limit: 3 });
        expect(page.records.map(({ task }) => task.id)).toEqual([`a-${owner}`, `k-${owner}`, `m-${owner}`]);
        expect(page).toMatchObject({ total: 4, more: true });
        const rest = await list({ owner }, { limit: 3, after: placeOf(page.records.at(-1)!) });
        expect(rest.records.map(({ task }) => task.id)).toEqual([`z-${owner}`]);
        expect(rest).toMatchObject({ total: 4, more: false });
      });

      it('says that nothing is left when the page ends with the last task', async () => {
        const owner = randomUUID();
        for (let index = 0; index < 3; index++) await created({ owner });
        expect(await list({ owner }, { limit: 3 })).toMatchObject({ total: 3, more: false });
        expect(await list({ owner }, { limit: 2 })).toMatchObject({ total: 3, more: true });
      });

      it('is empty for an owner without tasks', async () => {
        expect(await list({ owner: randomUUID() })).toEqual({ records: [], total: 0, more: false });
      });

      it('neither skips nor repeats one of 60 tasks of one millisecond in pages of 7 (B-75, R-30)', async () => {
        const owner = randomUUID();
        const drafts = await Promise.all(Array.from({ length: 60 }, () => created({ owner })));
        const seen: string[] = [];
        let after: TaskQuery['after'];
        for (;;) {
          const page = await list({ owner }, { limit: 7, ...(after && { after }) });
          expect(page.total).toBe(60);
          expect(page.records.length).toBe(Math.min(7, 60 - seen.length));
          seen.push(...page.records.map(({ task }) => task.id));
          if (!page.more) break;
          after = placeOf(page.records.at(-1)!);
        }
        // Descending by code units, on every engine: a locale's order would not fit the cursor's.
        const ids = drafts
          .map(({ task }) => task.id)
          .sort()
          .reverse();
        expect(seen).toEqual(ids);
      });

      it('orders ids of one millisecond by their characters and no locale (R-30, B-75)', async () => {
        const owner = randomUUID();
        const ids = ['B', 'a', 'A', 'b', '_', '-', '1', '10', '2'].map((id) => `${id}${owner}`);
        for (const id of ids) await created({ id, owner });
        const expected = [...ids].sort().reverse();
        expect((await list({ owner })).records.map(({ task }) => task.id)).toEqual(expected);
        const walked: string[] = [];
        let after: TaskQuery['after'];
        for (let more = true; more;) {
          const page = await list({ owner }, { limit: 1, ...(after && { after }) });
          walked.push(...page.records.map(({ task }) => task.id));
          after = placeOf(page.records[0]!);
          more = page.more;
        }
        expect(walked).toEqual(expected);
      });

      it('goes on from a place whose task has moved or is gone (LIST-06, R-30)', async () => {
        const owner = randomUUID();
        const drafts = await Promise.all(
          Array.from({ length: 6 }, (_, index) => created({ owner, at: DRAFT_TIME - index })),
        );
        const first = await list({ owner }, { limit: 3 });
        const place = placeOf(first.records.at(-1)!);
        await store.discard(keyOf(drafts[2]!), 0);
        await created({ owner, at: DRAFT_TIME + 10 });
        const second = await list({ owner }, { limit: 3, after: place });
        expect(second.records.map(({ task }) => task.id)).toEqual(drafts.slice(3).map(({ task }) => task.id));
        expect(second).toMatchObject({ total: 6, more: false });
      });

      it('is behind every task when the place is', async () => {
        const owner = randomUUID();
        await created({ owner });
        const page = await list({ owner }, { after: { statusAt: 0, id: '' } });
        expect(page).toEqual({ records: [], total: 1, more: false });
      });

      it('moves a task to the front when its status changes', async () => {
        const owner = randomUUID();
        const old = await created({ owner, at: DRAFT_TIME });
        const young = await created({ owner, at: DRAFT_TIME + 1 });
        await appended(store, keyOf(old), [statusOf(Working, DRAFT_TIME + 2)]);
        const { records } = await list({ owner });
        expect(records.map(({ task }) => task.id)).toEqual([old.task.id, young.task.id]);
        expect(records.map(({ task }) => task.status.state)).toEqual([Working, Submitted]);
      });

      it('filters by context, state and time, and counts what passes (STORE-07b, CONF-04)', async () => {
        const owner = randomUUID();
        for (let index = 0; index < 12; index++) {
          await created({
            owner,
            contextId: index % 2 ? 'odd' : 'even',
            state: index % 3 ? Working : Completed,
            at: DRAFT_TIME + index,
            id: `${String(index).padStart(2, '0')}-${owner}`,
          });
        }
        const found = async (fields: Partial<TaskQuery>): Promise<[number[], number]> => {
          const { records, total } = await list({ owner }, fields);
          return [records.map(({ task }) => Number(task.id.slice(0, 2))), total];
        };
        expect(await found({ contextId: 'odd' })).toEqual([[11, 9, 7, 5, 3, 1], 6]);
        expect(await found({ contextId: 'Odd' })).toEqual([[], 0]);
        expect(await found({ state: Completed })).toEqual([[9, 6, 3, 0], 4]);
        expect(await found({ statusSince: DRAFT_TIME + 9 })).toEqual([[11, 10, 9], 3]);
        expect(await found({ contextId: 'odd', state: Completed, statusSince: DRAFT_TIME + 4 })).toEqual([[9], 1]);
        expect(await found({ state: Completed, limit: 2 })).toEqual([[9, 6], 4]);
        expect(await found({ state: Completed, after: { statusAt: DRAFT_TIME + 6, id: `06-${owner}` } })).toEqual([
          [3, 0],
          4,
        ]);
      });

      it('filters by the state a task has now (LIST-03)', async () => {
        const draft = await created();
        await appended(store, keyOf(draft), [statusOf(Working)]);
        await store.settle(settleOf(keyOf(draft), statusOf(Canceled)));
        const { owner } = draft;
        expect((await list({ owner }, { state: Submitted })).total).toBe(0);
        expect((await list({ owner }, { state: Working })).total).toBe(0);
        expect((await list({ owner }, { state: Canceled })).total).toBe(1);
      });

      it('shows only the owner’s tasks (ISO-03)', async () => {
        const draft = await created();
        await created();
        const page = await list({ owner: draft.owner });
        expect(page.records.map(({ task }) => task.id)).toEqual([draft.task.id]);
        expect(page.total).toBe(1);
      });

      it('gives artifacts when they are asked for, and else none (STORE-07b, B-78)', async () => {
        const draft = await created({ artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }] });
        await appended(store, keyOf(draft), [artifactOf('a', [{ text: 'y' }], { append: true })]);
        const bare = await list({ owner: draft.owner }, { artifacts: false });
        expect(bare.records[0]?.task).not.toHaveProperty('artifacts');
        const full = await list({ owner: draft.owner }, { artifacts: true });
        expect(full.records[0]?.task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'x' }, { text: 'y' }] }]);
      });

      it('gives records that are whole but for the artifacts, as read does (STORE-05)', async () => {
        const draft = await created({ tenant: 't', scope: '["a"]', runId: 'run-9', metadata: { m: 1 } });
        await appended(store, keyOf(draft), [statusOf(Working, DRAFT_TIME + 1, 'Working.')]);
        const { records } = await list({ owner: draft.owner, tenant: 't', scope: '["a"]' }, { artifacts: true });
        expect(records).toEqual([await other.read(keyOf(draft))]);
      });

      it('hands out copies (DM-15, B-70)', async () => {
        const draft = await created({ artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }] });
        const { records } = await list({ owner: draft.owner }, { artifacts: true });
        const { task } = records[0]!;
        task.status.state = Failed;
        task.history?.splice(0);
        task.artifacts?.[0]?.parts.splice(0);
        expect((await list({ owner: draft.owner }, { artifacts: true })).records[0]?.task).toEqual(draft.task);
      });

      it('says whether it filters tiers (STORE-17, ISO-10a)', () => {
        expect(store.filtersTiers).toBe(filtersTiers);
      });

      (filtersTiers ? describe : describe.skip)('by tier', () => {
        const owner = randomUUID();
        const tiers: readonly Omit<Tier, 'owner'>[] = [
          { tenant: '', scope: UNNARROWED },
          { tenant: '', scope: '[]' },
          { tenant: '', scope: '["a"]' },
          { tenant: '', scope: '["a","b"]' },
          { tenant: 't', scope: UNNARROWED },
          { tenant: 't', scope: '["a"]' },
        ];

        beforeAll(async () => {
          for (const tier of tiers) await created({ owner, ...tier });
        });

        it.each(tiers.filter(({ scope }) => scope !== UNNARROWED))(
          'shows a narrowed caller only the tasks of its own set: %j (ISO-04a, ISO-04c)',
          async (tier) => {
            const { records, total } = await list({ owner, ...tier });
            expect(total).toBe(1);
            expect(records.map(({ tenant, scope }) => ({ tenant, scope }))).toEqual([tier]);
          },
        );

        it('shows a session every task of its tenant, and of no other (ISO-04b, ISO-06b)', async () => {
          const scopesOf = async (tenant: string) => {
            const { records, total, more } = await list({ owner, tenant }, { limit: 2 });
            expect(records.every((record) => record.tenant === tenant)).toBe(true);
            return [total, more];
          };
          expect(await scopesOf('')).toEqual([4, true]);
          expect(await scopesOf('t')).toEqual([2, false]);
          expect(await scopesOf('elsewhere')).toEqual([0, false]);
        });
      });
    });

    it('says whether it trims (STORE-17, RET-06)', () => {
      expect(typeof store.trim === 'function').toBe(trims);
    });

    (trims ? describe : describe.skip)('trim', () => {
      const left = async (tier: Partial<Tier> & Pick<Tier, 'owner'>): Promise<string[]> =>
        (await list(tier)).records.map(({ task }) => task.id);

      it('keeps the newest settled tasks of the tier (RET-02a, RET-02c)', async () => {
        const owner = randomUUID();
        const states = [Completed, Failed, Canceled, TaskState.Rejected];
        const drafts = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            created({ owner, state: states[index % 4]!, at: DRAFT_TIME - index }),
          ),
        );
        await store.trim?.({ owner, tenant: '', scope: UNNARROWED }, 3);
        expect(await left({ owner })).toEqual(drafts.slice(0, 3).map(({ task }) => task.id));
      });

      it('never removes tasks that run or are paused (RET-02a)', async () => {
        const owner = randomUUID();
        const states = [Submitted, Working, InputRequired, TaskState.AuthRequired];
        for (const state of states) await created({ owner, state, at: DRAFT_TIME - 10_000 });
        for (let index = 0; index < 3; index++) await created({ owner, state: Completed, at: DRAFT_TIME + index });
        await store.trim?.({ owner, tenant: '', scope: UNNARROWED }, 0);
        const { records } = await list({ owner });
        expect(records.map(({ task }) => task.status.state).sort()).toEqual([...states].sort());
      });

      it('counts and removes in one tier alone: owner, tenant and scope set (RET-01a, RET-01b)', async () => {
        const [owner, stranger] = [randomUUID(), randomUUID()];
        const tiers: Tier[] = [
          { owner, tenant: '', scope: UNNARROWED },
          { owner, tenant: '', scope: '[]' },
          { owner, tenant: '', scope: '["a"]' },
          { owner, tenant: 't', scope: UNNARROWED },
          { owner: stranger, tenant: '', scope: UNNARROWED },
        ];
        const drafts = new Map<Tier, TaskDraft[]>();
        for (const tier of tiers) {
          drafts.set(tier, [
            await created({ ...tier, state: Completed }),
            await created({ ...tier, state: Completed }),
          ]);
        }
        await store.trim?.(tiers[0]!, 0);
        for (const tier of tiers) {
          const kept = await Promise.allSettled(drafts.get(tier)!.map((draft) => other.read(keyOf(draft))));
          const expected = tier === tiers[0] ? 'rejected' : 'fulfilled';
          expect(kept.map(({ status }) => status)).toEqual([expected, expected]);
        }
      });

      it('does nothing when there is no more than is to be kept (RET-02a)', async () => {
        const draft = await created({ state: Completed });
        await store.trim?.({ owner: draft.owner, tenant: '', scope: UNNARROWED }, 1);
        expect(await left({ owner: draft.owner })).toEqual([draft.task.id]);
      });

      it('removes more than one batch (RET-08b)', async () => {
        const owner = randomUUID();
        await Promise.all(
          Array.from({ length: 230 }, (_, index) => created({ owner, state: Completed, at: DRAFT_TIME + index })),
        );
        await store.trim?.({ owner, tenant: '', scope: UNNARROWED }, 5);
        const { records, total } = await list({ owner });
        expect(total).toBe(5);
        expect(records.map(({ statusAt }) => statusAt - DRAFT_TIME)).toEqual([229, 228, 227, 226, 225]);
      });
    });
  });
}

function placeOf({ statusAt, task }: TaskRecord): { statusAt: number; id: string } {
  return { statusAt, id: task.id };
}

function textsOf({ task }: TaskRecord): unknown[] {
  return (task.history ?? []).map(({ parts }) => (parts[0] as { text?: string }).text);
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value);
}

/** The codes of those that were rejected, which have to be errors of a store. */
function codesOf(results: readonly PromiseSettledResult<unknown>[]): unknown[] {
  const reasons = results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []));
  return reasons.map((reason) => (reason as { code?: unknown }).code ?? reason);
}

async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('It was not rejected.');
    },
    (error: unknown) => error as Error,
  );
}

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

function ownProto(): JsonValue {
  return JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":[1]}}') as JsonValue;
}

function nested(levels: number): JsonValue {
  let value: JsonValue = 'bottom';
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { below: value };
  return value;
}
