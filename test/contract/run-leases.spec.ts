import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TaskState } from 'nestjs-a2a';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import type { DataSource } from 'typeorm';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { appended, artifactOf, DRAFT_TIME, draftOf, keyOf, settleOf, statusOf } from 'nestjs-a2a/testing';
import { until } from '../support/until.js';

const { Working, Canceled, Completed, InputRequired } = TaskState;

describe.each([
  ['PostgreSQL', postgresDatabase],
  ['a SQLite file', sqliteDatabase],
] as const)('The leases on %s', (name, make) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let store: TypeOrmTaskStore;
  let other: TypeOrmTaskStore;

  beforeAll(async () => {
    database = await make();
    dataSource = await database.open();
    store = new TypeOrmTaskStore(dataSource);
    other = new TypeOrmTaskStore(await database.open());
  });

  afterAll(async () => {
    const others = Reflect.get(other, 'dataSource') as DataSource;
    await Promise.all([store.close(), other.close()]);
    await Promise.all([dataSource.destroy(), others.destroy()]);
    await database.drop();
  });

  async function lostIds(): Promise<string[]> {
    return (await other.leases.lost(1_000)).map(({ taskId }) => taskId);
  }

  it('know how long a process has been believed to live (R-08)', async () => {
    const process = new TypeOrmTaskStore(dataSource);
    expect(await process.leases.beat(60_000)).toBe(false);
    expect(await process.leases.beat(1)).toBe(true);
    await until(async () => !(await process.leases.beat(1)), 'The end of the lease');
    await process.leases.leave();
    expect(await process.leases.beat(1)).toBe(false);
    await process.leases.leave();
    await process.close();
  });

  it('find the runs of a process that is not heard of, and of no other (R-08, LIFE-14)', async () => {
    const early = draftOf();
    await store.create(early);
    await store.leases.beat(60_000);
    const drafts = [
      draftOf({ owner: 'alice', tenant: 't', scope: '["a"]' }),
      draftOf({ runId: null, state: InputRequired }),
      draftOf({ runId: null, state: Completed }),
    ];
    const resumed = draftOf({ runId: null, state: InputRequired });
    const paused = draftOf();
    for (const draft of [...drafts, resumed, paused]) await store.create(draft);
    await appended(store, keyOf(resumed), [statusOf(Working)], { runId: 'run-2' });
    await appended(store, keyOf(paused), [statusOf(InputRequired)], { runId: null });
    expect(await lostIds()).toEqual([]);

    await store.leases.beat(1);
    await until(async () => (await lostIds()).length > 0, 'The end of the lease');
    const lost = await other.leases.lost(1_000);
    expect(lost.map(({ taskId }) => taskId).sort()).toEqual([drafts[0]!.task.id, resumed.task.id].sort());
    expect(lost.find(({ runId }) => runId === 'run-1')).toEqual({
      ...{ taskId: drafts[0]!.task.id, contextId: drafts[0]!.task.contextId, runId: 'run-1', statusAt: DRAFT_TIME },
      ...{ owner: 'alice', tenant: 't', scope: '["a"]' },
    });
    expect(await other.leases.lost(1)).toHaveLength(1);

    await store.leases.beat(60_000);
    expect(await lostIds()).toEqual([]);
    await store.leases.leave();
    expect(await lostIds()).toHaveLength(2);
    for (const { taskId: id, owner } of lost) await other.settle(settleOf({ id, owner }, statusOf(Canceled)));
    expect(await lostIds()).toEqual([]);
  });

  it('remove the updates of tasks that have settled, and leave the tasks as they are (R-25)', async () => {
    const updates = [
      statusOf(Working),
      artifactOf('a', [{ text: 'one' }]),
      artifactOf('b', [{ data: { z: 1, a: 2 } }]),
    ];
    const at = DRAFT_TIME + 1_000;
    const [bySelf, byOther, running, later] = [draftOf(), draftOf(), draftOf(), draftOf()] as const;
    for (const draft of [bySelf, byOther, running, later]) {
      await store.create(draft);
      await appended(store, keyOf(draft), updates);
    }
    await appended(store, keyOf(bySelf), [statusOf(Completed, at)], { runId: null, at });
    await store.settle(settleOf(keyOf(byOther), statusOf(Canceled, at, 'Stop.'), { at }));
    await store.settle(settleOf(keyOf(later), statusOf(Canceled, at + 1), { at: at + 1 }));
    const before = await Promise.all([bySelf, byOther, running, later].map((draft) => store.read(keyOf(draft))));

    await other.leases.sweepUpdates(at + 1);

    const left = await Promise.all(
      [bySelf, byOther, running, later].map(async (draft) => (await store.eventsAfter(keyOf(draft), 0)).length),
    );
    expect(left).toEqual([0, 0, 3, 4]);
    const after = await Promise.all([bySelf, byOther, running, later].map((draft) => store.read(keyOf(draft))));
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
  });

  it('remove more than one batch of updates, and none of a task that is just being removed', async () => {
    const drafts = Array.from({ length: 230 }, () => draftOf({ owner: 'many' }));
    await Promise.all(
      drafts.map(async (draft) => {
        await store.create(draft);
        await store.settle(settleOf(keyOf(draft), statusOf(Canceled)));
      }),
    );
    const trimmed = store.trim({ owner: 'many', tenant: '', scope: drafts[0]!.scope }, 100);
    await Promise.all([trimmed, other.leases.sweepUpdates(DRAFT_TIME + 1)]);
    await other.leases.sweepUpdates(DRAFT_TIME + 1);
    const rows = await dataSource.query<{ task_id: string }[]>('SELECT task_id FROM a2a_task_event');
    expect(rows.filter(({ task_id: id }) => drafts.some(({ task }) => task.id === id))).toEqual([]);
  });

  if (name === 'PostgreSQL') {
    it('lose no write that leaves together with a removal of updates which fails', async () => {
      const settled = draftOf();
      const running = draftOf();
      await store.create(settled);
      await store.create(running);
      await store.settle(settleOf(keyOf(settled), statusOf(Canceled)));
      await dataSource.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN IF OLD.task_id = '${settled.task.id}' THEN RAISE EXCEPTION 'refused'; END IF; RETURN OLD; END$$`);
      await dataSource.query(
        'CREATE TRIGGER refuse BEFORE DELETE ON a2a_task_event FOR EACH ROW EXECUTE FUNCTION refuse()',
      );
      const writes = Reflect.get(store, 'writes') as { write(operation: object): Promise<unknown> };
      const [compacted, written] = await Promise.allSettled([
        writes.write({ kind: 'compact', ...keyOf(settled), expected: 1, snapshot: null }),
        store.append({
          key: keyOf(running),
          expected: 0,
          runId: 'run-1',
          updates: [statusOf(Working)],
          at: 1,
          task: () => running.task,
        }),
      ]);
      await dataSource.query('DROP TRIGGER refuse ON a2a_task_event');
      expect([compacted.status, written]).toMatchObject(['rejected', { status: 'fulfilled', value: { version: 1 } }]);
    });

    it('let one process at a time do what is to be done once', async () => {
      let entered = 0;
      let leave = (): void => undefined;
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const first = store.leases.exclusively(async () => {
        entered++;
        await left;
      });
      await until(() => entered === 1);
      await other.leases.exclusively(async () => {
        entered++;
      });
      leave();
      await first;
      expect(entered).toBe(1);
      await until(async () => {
        await other.leases.exclusively(async () => {
          entered++;
        });
        return entered === 2;
      }, 'The release of the lock');
    });
  }
});
