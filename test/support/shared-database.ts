import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { postgresUrl } from './data-sources.js';

/** A database for processes that are told of it by `DATABASE_URL`. */
export interface SharedDatabase {
  readonly url: string;
  /** Removes it, whoever is on it. */
  readonly drop: () => Promise<void>;
}

/** A database of its own on the tests' PostgreSQL. */
export async function sharedPostgres(): Promise<SharedDatabase> {
  const admin = await new DataSource({ type: 'postgres', url: postgresUrl() }).initialize();
  const name = `shared_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE DATABASE ${name}`);
  return {
    url: postgresUrl().replace(/[^/]+$/u, name),
    drop: async () => {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.destroy();
    },
  };
}

/** A SQLite file of its own. */
export async function sharedSqlite(): Promise<SharedDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-a2a-replicas-'));
  return {
    url: `sqlite:${join(folder, 'tasks.sqlite')}`,
    drop: async () => {
      rmSync(folder, { recursive: true });
    },
  };
}
