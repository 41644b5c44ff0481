import { Table, type DataSource, type EntityMetadata, type QueryRunner } from 'typeorm';
import { TABLE_ENTITIES, TaskEntity } from './task.entity.js';

/**
 * Creates what is not there yet of the tables of the task store, as the entities of the DataSource describe them. For
 * the `up` of a migration.
 */
export async function upTables(runner: QueryRunner): Promise<void> {
  const { driver, options } = runner.dataSource;
  for (const metadata of metadataOf(runner.dataSource)) {
    const table = Table.create(metadata, driver);
    const existing = await runner.getTable(metadata.tablePath);
    if (existing) {
      await addWhatIsMissing(runner, existing, table);
      continue;
    }
    await runner.createTable(table);
    if (options.type === 'postgres' && metadata.target === TaskEntity) {
      // Room for the next version of a row in its own page.
      const path = metadata.tablePath.split('.').map((part) => driver.escape(part));
      await runner.query(`ALTER TABLE ${path.join('.')} SET (fillfactor = 80)`);
    }
  }
}

/** Brings a table of an older release up to date. What is new in it can be empty. */
async function addWhatIsMissing(runner: QueryRunner, existing: Table, { columns, indices }: Table): Promise<void> {
  for (const column of columns) if (!existing.findColumnByName(column.name)) await runner.addColumn(existing, column);
  const names = new Set(existing.indices.map(({ name }) => name));
  for (const index of indices) if (!names.has(index.name)) await runner.createIndex(existing, index);
}

/** Drops the tables of the task store, with everything in them. For the `down` of a migration. */
export async function downTables(runner: QueryRunner): Promise<void> {
  for (const metadata of metadataOf(runner.dataSource)) {
    await runner.dropTable(Table.create(metadata, runner.dataSource.driver), true);
  }
}

/** Creates what is missing, one process at a time. */
export async function createTables(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const isPostgres = dataSource.options.type === 'postgres';
  try {
    if (isPostgres) await runner.query('SELECT pg_advisory_lock($1)', [LOCK]);
    try {
      // SQLite has no lock to wait for: who comes second is told so, and then finds what is there.
      await upTables(runner).catch((error: unknown) => {
        if (isPostgres) throw error;
        return upTables(runner);
      });
    } finally {
      if (isPostgres) await runner.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    }
  } finally {
    await runner.release();
  }
}

/** "a2a" in ASCII, and the number of the first schema: processes of every version of the package take the same lock. */
const LOCK = 0x61_32_61_01;

function metadataOf(dataSource: DataSource): EntityMetadata[] {
  return Object.values(TABLE_ENTITIES).map((entity) => dataSource.getMetadata(entity));
}
