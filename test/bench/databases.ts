import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { a2aEntities, createTables, TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import { DataSource } from 'typeorm';
import type * as Postgres from '../support/postgres.mjs';

/** A database under measurement. */
export interface BenchDatabase {
  readonly name: string;
  readonly dataSource: DataSource;
  readonly store: TypeOrmTaskStore;
  /** Bytes written to the log of the database since it was made. */
  readonly bytesWritten: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** A fresh PostgreSQL, never analysed. */
export async function postgres(): Promise<BenchDatabase> {
  // Plain JavaScript, which the build leaves where it is.
  const { startPostgres } = (await import(pathToFileURL('test/support/postgres.mjs').href)) as typeof Postgres;
  const server = await startPostgres();
  const dataSource = await new DataSource({
    type: 'postgres',
    url: server.url,
    entities: a2aEntities(),
  }).initialize();
  await dataSource.query('ALTER SYSTEM SET autovacuum = off');
  await dataSource.query('SELECT pg_reload_conf()');
  await createTables(dataSource);
  const store = new TypeOrmTaskStore(dataSource);
  return {
    name: 'PostgreSQL',
    dataSource,
    store,
    bytesWritten: async () => {
      const [row] = await dataSource.query<{ bytes: string }[]>(
        `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS bytes`,
      );
      return Number(row?.bytes);
    },
    close: async () => {
      await store.close();
      await dataSource.destroy();
      await server.stop();
    },
  };
}

/** A fresh SQLite file with a write-ahead log that is never taken in. */
export async function sqlite(): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-a2a-bench-'));
  const database = join(folder, 'tasks.sqlite');
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database,
    entities: a2aEntities(),
    enableWAL: true,
  }).initialize();
  await createTables(dataSource);
  const store = new TypeOrmTaskStore(dataSource);
  await dataSource.query('PRAGMA wal_autocheckpoint = 0');
  return {
    name: 'SQLite',
    dataSource,
    store,
    bytesWritten: () => Promise.resolve(statSync(`${database}-wal`).size),
    close: async () => {
      await store.close();
      await dataSource.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
