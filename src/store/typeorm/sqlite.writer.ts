import type { DataSource } from 'typeorm';
import type { Tier } from '../../context/tier.js';
import type { TaskSnapshot } from './row-mapping.js';
import type {
  BatchWriter,
  ChangeOperation,
  InsertOperation,
  RemoveOperation,
  WriteOperation,
  WriteResult,
} from './write-operation.js';
import type { TableNames } from './table-names.js';

/** The parts of a better-sqlite3 database that are used here. */
interface Database {
  readonly inTransaction: boolean;
  prepare(sql: string): Statement;
  exec(sql: string): void;
}

interface Statement {
  run(...parameters: unknown[]): { readonly changes: number };
  get(...parameters: unknown[]): unknown;
}

/** How long a busy database is waited for, in milliseconds. */
const MAX_WAIT = 5_000;
/** Between two looks, in milliseconds. */
const PAUSE = 2;

/**
 * Writes to SQLite on the DataSource's own handle.
 *
 * A DataSource has one connection, on which somebody's transaction may be open. We wait until none is, and then write
 * in one synchronous transaction that nothing can come between.
 */
export class SqliteWriter implements BatchWriter {
  private readonly database: Database;
  private readonly statements = new Map<string, Statement>();

  constructor(
    dataSource: DataSource,
    private readonly tables: TableNames,
  ) {
    this.database = (dataSource.driver as unknown as { databaseConnection: Database }).databaseConnection;
  }

  async write(operations: readonly WriteOperation[]): Promise<readonly WriteResult[]> {
    const deadline = performance.now() + MAX_WAIT;
    for (;;) {
      const results = this.database.inTransaction ? undefined : this.tryWrite(operations);
      if (results) return results;
      if (performance.now() > deadline) {
        throw new Error(`The SQLite database was in a transaction of someone else for ${MAX_WAIT} ms.`);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** @returns `undefined` when another process is writing */
  private tryWrite(operations: readonly WriteOperation[]): readonly WriteResult[] | undefined {
    const { database } = this;
    try {
      database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
    try {
      const results = operations.map((operation) => this.apply(operation));
      database.exec('COMMIT');
      return results;
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  private apply(operation: WriteOperation): WriteResult {
    switch (operation.kind) {
      case 'insert':
        return this.insert(operation);
      case 'change':
        return this.change(operation);
      case 'remove':
        return this.remove(operation);
    }
  }

  private remove({ id, owner, expected }: RemoveOperation): WriteResult {
    const { task, snapshot, event, pushConfig } = this.tables;
    const row = this.prepared(
      `
      DELETE FROM ${task}
      WHERE id = :id AND (owner = :owner) IS TRUE AND (:expected IS NULL OR version = :expected)
      RETURNING version, owner, tenant, scope`,
    ).get({ id, owner, expected }) as (Tier & { version: number }) | undefined;
    if (!row) return null;
    for (const table of [snapshot, event, pushConfig]) this.prepared(`DELETE FROM ${table} WHERE task_id = ?`).run(id);
    this.count(row, -1);
    return row.version;
  }

  private insert(row: InsertOperation): WriteResult {
    const { id, version, at } = row;
    const { changes } = this.prepared(
      `
      INSERT INTO ${this.tables.task}
        (id, owner, tenant, scope, context_id, skill_id, created_at, updated_at, status_at, version, state, status,
         run_id, push_rev)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
      ON CONFLICT (id) DO NOTHING`,
    ).run(
      ...[id, row.owner, row.tenant, row.scope, row.contextId, row.skillId, at, at, row.statusAt],
      ...[version, row.state, row.status, row.runId],
    );
    if (changes === 0) return null;
    this.writeSnapshot(id, version, row.snapshot);
    this.count(row, 1);
    return version;
  }

  private change(change: ChangeOperation): WriteResult {
    const { id, owner, expected, guard, events, at, status, runId, snapshot } = change;
    const row = this.prepared(
      `
      UPDATE ${this.tables.task} SET
        version = version + :steps,
        state = COALESCE(:state, state),
        status = COALESCE(:status, status),
        status_at = MAX(status_at, COALESCE(:statusAt, status_at)),
        updated_at = MAX(updated_at, :at),
        run_id = :runId
      WHERE id = :id AND (owner = :owner) IS TRUE
        AND (:expected IS NULL OR version = :expected)
        AND (:guard IS NULL OR instr(:guard, ',' || state || ',') > 0)
      RETURNING version`,
    ).get({
      ...{ id, owner, expected, at, runId, steps: events.length },
      ...{ state: status?.state ?? null, status: status?.json ?? null, statusAt: status?.at ?? null },
      guard: guard && `,${guard.join(',')},`,
    }) as { version: number } | undefined;
    if (!row) return null;
    const insertEvent = this.prepared(
      `INSERT INTO ${this.tables.event} (task_id, version, kind, json) VALUES (?, ?, ?, ?)`,
    );
    events.forEach(({ kind, json }, index) => {
      insertEvent.run(id, row.version - events.length + index + 1, kind, json);
    });
    if (snapshot) this.writeSnapshot(id, row.version, snapshot);
    return row.version;
  }

  private writeSnapshot(id: string, version: number, { history, artifacts, metadata }: TaskSnapshot): void {
    this.prepared(
      `
      INSERT OR REPLACE INTO ${this.tables.snapshot} (task_id, version, history, artifacts, metadata)
      VALUES (?, ?, ?, ?, ?)`,
    ).run(id, version, history, artifacts, metadata);
  }

  private count({ owner, tenant, scope }: Tier, step: number): void {
    this.prepared(
      `
      INSERT INTO ${this.tables.count} (owner, tenant, scope, count) VALUES (?, ?, ?, ?)
      ON CONFLICT (owner, tenant, scope) DO UPDATE SET count = count + excluded.count`,
    ).run(owner, tenant, scope, step);
  }

  private prepared(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}
