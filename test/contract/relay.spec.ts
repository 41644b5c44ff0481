import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import type { DataSource } from 'typeorm';
import { StoreEventRelay } from '../../src/events/store-event.relay.js';
import { TaskEventBus } from '../../src/events/task-event.bus.js';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { artifactOf, draftOf, keyOf } from 'nestjs-a2a/testing';
import { until } from '../support/until.js';

/** A process, as far as the relay is concerned. */
interface Replica {
  readonly dataSource: DataSource;
  readonly store: TypeOrmTaskStore;
  readonly bus: TaskEventBus;
  readonly close: () => Promise<void>;
}

async function replicaOn(database: TestDatabase): Promise<Replica> {
  const dataSource = await database.open({ poolSize: 3 });
  const store = new TypeOrmTaskStore(dataSource);
  const bus = new TaskEventBus();
  const relay = new StoreEventRelay(bus, store, 30_000);
  relay.start();
  return {
    dataSource,
    store,
    bus,
    close: async () => {
      await relay.stop();
      await store.close();
      await dataSource.destroy();
    },
  };
}

/** Stores updates of a task one by one, and publishes each. */
async function write(
  { store, bus }: Replica,
  draft: ReturnType<typeof draftOf>,
  from: number,
  to: number,
): Promise<void> {
  const key = keyOf(draft);
  for (let version = from + 1; version <= to; version++) {
    const update = artifactOf('a', [{ text: `${version};` }], { append: true });
    await store.append({
      ...{ key, expected: version - 1, runId: 'run-1', updates: [update], at: version },
      task: () => draft.task,
    });
    bus.publish({ key, version, update, runId: 'run-1' });
  }
}

const versionsTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe.each([
  ['PostgreSQL', postgresDatabase],
  ['a SQLite file', sqliteDatabase],
] as const)('Two processes on %s', (name, make) => {
  let database: TestDatabase;
  let replicas: Replica[];

  beforeAll(async () => {
    database = await make();
    replicas = await Promise.all([replicaOn(database), replicaOn(database)]);
  });

  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await database.drop();
  });

  it('tell each other every update of many tasks, in order and once (R-04, REP-01, REP-07)', async () => {
    const [writer, reader] = replicas as [Replica, Replica];
    const drafts = Array.from({ length: 10 }, () => draftOf());
    await Promise.all(drafts.map((draft) => writer.store.create(draft)));
    const told = drafts.map((draft) => {
      const versions: number[] = [];
      reader.bus.follow(keyOf(draft), ({ version }) => versions.push(version), { after: 0 });
      return versions;
    });
    await Promise.all(drafts.map((draft) => write(writer, draft, 0, 50)));
    await until(() => told.every((versions) => versions.at(-1) === 50), 'The last update');
    expect(told).toEqual(drafts.map(() => versionsTo(50)));
  });

  it('tell each other what was never announced (REP-01, R-25)', async () => {
    const [writer, reader] = replicas as [Replica, Replica];
    const draft = draftOf();
    await writer.store.create(draft);
    const told: number[] = [];
    reader.bus.follow(keyOf(draft), ({ version }) => told.push(version), { after: 0 });
    // A bus of its own, which no relay serves.
    await write({ ...writer, bus: new TaskEventBus() }, draft, 0, 5);
    await until(() => told.length === 5, 'The last update');
    expect(told).toEqual(versionsTo(5));
  });

  it('learn that a task is gone (REP-04)', async () => {
    const [writer, reader] = replicas as [Replica, Replica];
    const draft = draftOf();
    await writer.store.create(draft);
    await write(writer, draft, 0, 1);
    let isGone = false;
    reader.bus.follow(keyOf(draft), () => undefined, { after: 1, removed: () => (isGone = true) });
    await writer.store.discard(keyOf(draft), 1);
    await until(() => isGone, 'The removal');
  });

  if (name === 'PostgreSQL') {
    it('tell each other every update while the connections that carry them are killed (REP-01, R-25)', async () => {
      const [writer, reader] = replicas as [Replica, Replica];
      const draft = draftOf();
      await writer.store.create(draft);
      const told: number[] = [];
      reader.bus.follow(keyOf(draft), ({ version }) => told.push(version), { after: 0 });
      let killed = 0;
      for (let round = 0; round < 5; round++) {
        await write(writer, draft, round * 40, round * 40 + 20);
        killed += await killListeners(writer.dataSource);
        await write(writer, draft, round * 40 + 20, round * 40 + 40);
        await until(() => told.at(-1) === round * 40 + 40, 'The last update');
      }
      expect(told).toEqual(versionsTo(200));
      expect(killed).toBeGreaterThan(0);
    });

    it('hear of an update within milliseconds, not only when they look for themselves (R-25)', async () => {
      const [writer, reader] = replicas as [Replica, Replica];
      const draft = draftOf();
      await writer.store.create(draft);
      const told: number[] = [];
      reader.bus.follow(keyOf(draft), ({ version }) => told.push(version), { after: 0 });
      const began = performance.now();
      for (let version = 1; version <= 20; version++) {
        await write(writer, draft, version - 1, version);
        await until(() => told.length === version, 'The update');
      }
      // Twenty looks of one's own would take twenty seconds.
      expect(performance.now() - began).toBeLessThan(5_000);
    });
  }
});

/** Ends the connections of the relays on this database. */
async function killListeners(dataSource: DataSource): Promise<number> {
  const rows = await dataSource.query<unknown[]>(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'nestjs-a2a relay' AND datname = current_database()`,
  );
  return rows.length;
}
