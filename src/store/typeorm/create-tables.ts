import { Table, type DataSource, type QueryRunner } from 'typeorm';
import { checkedPrefix, DEFAULT_TABLE_PREFIX, type A2ATableOptions } from './a2a-entities.js';

const text = { type: 'text' } as const;
const int = { type: 'integer' } as const;
const bigint = { type: 'bigint' } as const;

/** The tables of the task store, as the entities describe them. */
function tables(prefix: string): Table[] {
  const task = `${prefix}task`;
  const snapshot = `${prefix}task_snapshot`;
  const event = `${prefix}task_event`;
  const count = `${prefix}task_count`;
  const pushConfig = `${prefix}push_config`;
  const replica = `${prefix}replica`;
  return [
    new Table({
      name: task,
      columns: [
        { name: 'id', ...text, isPrimary: true, primaryKeyConstraintName: `${task}_pk` },
        { name: 'owner', ...text },
        { name: 'tenant', ...text },
        { name: 'scope', ...text },
        { name: 'context_id', ...text },
        { name: 'skill_id', ...text },
        { name: 'created_at', ...bigint },
        { name: 'updated_at', ...bigint },
        { name: 'status_at', ...bigint },
        { name: 'version', ...int },
        { name: 'state', ...text },
        { name: 'status', ...text },
        { name: 'run_id', ...text, isNullable: true },
        { name: 'replica', ...text, isNullable: true },
        { name: 'push_rev', ...int, default: 0 },
      ],
      indices: [
        { name: `${task}_by_owner`, columnNames: ['owner', 'status_at', 'id'] },
        { name: `${task}_by_context`, columnNames: ['owner', 'context_id', 'status_at', 'id'] },
        { name: `${task}_by_state`, columnNames: ['owner', 'state', 'status_at', 'id'] },
        { name: `${task}_by_replica`, columnNames: ['replica'], where: 'replica IS NOT NULL' },
      ],
    }),
    new Table({
      name: snapshot,
      columns: [
        { name: 'task_id', ...text, isPrimary: true, primaryKeyConstraintName: `${snapshot}_pk` },
        { name: 'version', ...int },
        { name: 'history', ...text },
        { name: 'artifacts', ...text },
        { name: 'metadata', ...text, isNullable: true },
      ],
    }),
    new Table({
      name: count,
      columns: [
        { name: 'owner', ...text, isPrimary: true, primaryKeyConstraintName: `${count}_pk` },
        { name: 'tenant', ...text, isPrimary: true, primaryKeyConstraintName: `${count}_pk` },
        { name: 'scope', ...text, isPrimary: true, primaryKeyConstraintName: `${count}_pk` },
        { name: 'count', ...int },
      ],
    }),
    new Table({
      name: event,
      columns: [
        { name: 'task_id', ...text, isPrimary: true, primaryKeyConstraintName: `${event}_pk` },
        { name: 'version', ...int, isPrimary: true, primaryKeyConstraintName: `${event}_pk` },
        { name: 'kind', ...text },
        { name: 'json', ...text },
      ],
    }),
    new Table({
      name: pushConfig,
      columns: [
        { name: 'task_id', ...text, isPrimary: true, primaryKeyConstraintName: `${pushConfig}_pk` },
        { name: 'id', ...text, isPrimary: true, primaryKeyConstraintName: `${pushConfig}_pk` },
        { name: 'owner', ...text },
        { name: 'created_at', ...bigint },
        { name: 'config', ...text },
      ],
    }),
    new Table({
      name: replica,
      columns: [
        { name: 'id', ...text, isPrimary: true, primaryKeyConstraintName: `${replica}_pk` },
        { name: 'expires_at', ...bigint },
      ],
    }),
  ];
}

/** Creates the tables of the task store that are not there yet. */
export async function upTables(runner: QueryRunner, options: A2ATableOptions = {}): Promise<void> {
  const prefix = checkedPrefix(options.tablePrefix ?? DEFAULT_TABLE_PREFIX);
  for (const table of tables(prefix)) {
    const existing = await runner.getTable(table.name);
    if (existing) {
      await addWhatIsMissing(runner, existing, table);
      continue;
    }
    await runner.createTable(table);
    if (runner.dataSource.options.type === 'postgres' && table.name === `${prefix}task`) {
      // Room for the next version of a row in its own page.
      await runner.query(`ALTER TABLE ${runner.dataSource.driver.escape(table.name)} SET (fillfactor = 80)`);
    }
  }
}

/** Brings a table of an older release up to date. What is new in it can be empty. */
async function addWhatIsMissing(runner: QueryRunner, existing: Table, { columns, indices }: Table): Promise<void> {
  for (const column of columns) if (!existing.findColumnByName(column.name)) await runner.addColumn(existing, column);
  const names = new Set(existing.indices.map(({ name }) => name));
  for (const index of indices) if (!names.has(index.name)) await runner.createIndex(existing, index);
}

/** Drops the tables of the task store, with everything in them. */
export async function downTables(runner: QueryRunner, options: A2ATableOptions = {}): Promise<void> {
  const prefix = checkedPrefix(options.tablePrefix ?? DEFAULT_TABLE_PREFIX);
  for (const table of tables(prefix).reverse()) await runner.dropTable(table.name, true);
}

/** Creates what is missing, one process at a time. */
export async function createTables(dataSource: DataSource, options: A2ATableOptions = {}): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const isPostgres = dataSource.options.type === 'postgres';
  try {
    if (isPostgres) await runner.query('SELECT pg_advisory_lock($1)', [LOCK]);
    try {
      await upTables(runner, options);
    } finally {
      if (isPostgres) await runner.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    }
  } finally {
    await runner.release();
  }
}

/** "a2a" in ASCII, and the number of the first schema: processes of every version of the package take the same lock. */
const LOCK = 0x61_32_61_01;
