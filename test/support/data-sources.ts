import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { a2aEntities, createTables } from 'nestjs-a2a/typeorm';
import { DataSource } from 'typeorm';

/** A database of a test's own, with the tables of the task store. */
export interface TestDatabase {
  /** Opens another DataSource on it. */
  readonly open: (options?: { readonly poolSize?: number }) => Promise<DataSource>;
  /** Removes it. Every DataSource on it must have been closed. */
  readonly drop: () => Promise<void>;
}

/** The URL of the tests' PostgreSQL. */
export function postgresUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (!url) throw new Error('There is no PostgreSQL: run the tests with jest.config.js, which starts one.');
  return url;
}

/** A schema of its own on the tests' PostgreSQL. */
export async function postgresDatabase(url = postgresUrl()): Promise<TestDatabase> {
  const schema = `t_${randomUUID().replaceAll('-', '')}`;
  const admin = await new DataSource({ type: 'postgres', url }).initialize();
  await admin.query(`CREATE SCHEMA ${schema}`);
  const open = ({ poolSize = 10 } = {}): Promise<DataSource> =>
    new DataSource({
      type: 'postgres',
      url,
      schema,
      poolSize,
      entities: a2aEntities(),
      extra: { options: `-c search_path=${schema}` },
    }).initialize();
  const first = await open();
  await createTables(first);
  await first.destroy();
  return {
    open,
    drop: async () => {
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.destroy();
    },
  };
}

/** A SQLite file of its own. */
export async function sqliteDatabase(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-a2a-sqlite-'));
  const database = join(folder, 'tasks.sqlite');
  const open = (): Promise<DataSource> =>
    new DataSource({ type: 'better-sqlite3', database, entities: a2aEntities(), enableWAL: true }).initialize();
  const first = await open();
  await createTables(first);
  await first.destroy();
  return {
    open,
    drop: async () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A SQLite database in memory: one DataSource, which takes it along. */
export async function sqliteMemory(): Promise<DataSource> {
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    entities: a2aEntities(),
  }).initialize();
  await createTables(dataSource);
  return dataSource;
}
