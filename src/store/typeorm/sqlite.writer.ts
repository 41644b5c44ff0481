import type { DataSource } from 'typeorm';
import type { Tier } from '../../context/tier.js';
import type { TaskSnapshot } from './row-mapping.js';
import type {
  BatchWriter,
  ChangeOperation,
  CompactOperation,
  EventRow,
  InsertOperation,
  PushConfigRow,
  RemoveOperation,
  WriteOperation,
  WriteResult,
} from './write-operation.js';
import { nextPlace, othersBeyond, PUSH_CONFIG_COLUMNS, replacePushConfig } from './push-config.sql.js';
import { REPLICA_RETENTION, SQLITE_NOW } from './replica-rows.js';
import { SqliteTransactions, type SqliteStatement } from './sqlite-transactions.js';
import type { TableNames } from './table-names.js';

/**
 * Writes to SQLite on the DataSource's own handle.
 *
 * A batch is one transaction.
 */
export class SqliteWriter implements BatchWriter {
  private readonly transactions: SqliteTransactions;

  constructor(
    dataSource: DataSource,
    private readonly tables: TableNames,
  ) {
    this.transactions = new SqliteTransactions(dataSource);
  }

  write(operations: readonly WriteOperation[]): Promise<readonly WriteResult[]> {
    return this.transactions.run(() => operations.map((operation) => this.apply(operation)));
  }

  beat(replica: string, lease: number): Promise<boolean> {
    return this.transactions.run(() => {
      const { replica: table } = this.tables;
      const held = this.prepared(`SELECT 1 FROM ${table} WHERE id = ? AND expires_at > ${SQLITE_NOW}`).get(replica);
      this.prepared(
        `
        INSERT INTO ${table} (id, expires_at) VALUES (?, ${SQLITE_NOW} + ?)
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
      ).run(replica, lease);
      this.prepared(`DELETE FROM ${table} WHERE expires_at < ${SQLITE_NOW} - ${REPLICA_RETENTION}`).run();
      return held !== undefined;
    });
  }

  async leave(replica: string): Promise<void> {
    await this.transactions.run(() => this.prepared(`DELETE FROM ${this.tables.replica} WHERE id = ?`).run(replica));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private apply(operation: WriteOperation): WriteResult {
    switch (operation.kind) {
      case 'insert':
        return this.insert(operation);
      case 'change':
        return this.change(operation);
      case 'remove':
        return this.remove(operation);
      case 'compact':
        return this.compact(operation);
    }
  }

  private remove({ id, owner, expected }: RemoveOperation): WriteResult {
    const { task, snapshot, event, pushConfig } = this.tables;
    const row = this.prepared(
      `
      DELETE FROM ${task}
      WHERE id = :id AND (owner = :owner) IS TRUE AND (:expected IS NULL OR version = :expected)
      RETURNING version, push_rev, owner, tenant, scope`,
    ).get({ id, owner, expected }) as (Tier & WrittenRow) | undefined;
    if (!row) return null;
    for (const table of [snapshot, event, pushConfig]) this.prepared(`DELETE FROM ${table} WHERE task_id = ?`).run(id);
    this.count(row, -1);
    return resultOf(row);
  }

  private compact({ id, owner, expected, snapshot }: CompactOperation): WriteResult {
    const row = this.prepared(
      `SELECT version FROM ${this.tables.task} WHERE id = :id AND (owner = :owner) IS TRUE AND version = :expected`,
    ).get({ id, owner, expected });
    if (!row) return null;
    if (snapshot) this.writeSnapshot(id, expected, snapshot);
    this.prepared(`DELETE FROM ${this.tables.event} WHERE task_id = ?`).run(id);
    return { version: expected };
  }

  private insert(row: InsertOperation): WriteResult {
    const { id, owner, version, at, push } = row;
    const { changes } = this.prepared(
      `
      INSERT INTO ${this.tables.task}
        (id, owner, tenant, scope, context_id, skill_id, created_at, updated_at, status_at, version, state, status,
         run_id, replica, push_rev)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`,
    ).run(
      ...[id, owner, row.tenant, row.scope, row.contextId, row.skillId, at, at, row.statusAt],
      ...[version, row.state, row.status, row.runId, row.replica, push ? 1 : 0],
    );
    if (changes === 0) return null;
    this.writeSnapshot(id, row.snapshotVersion, row.snapshot);
    this.writeEvents(id, 0, row.events);
    if (push) this.writePushConfig(id, owner, 0, push);
    this.count(row, 1);
    return { version, pushRev: push ? 1 : 0 };
  }

  private change(change: ChangeOperation): WriteResult {
    const { id, owner, expected, guard, heldBy, events, at, status, runId, replica, snapshot, push } = change;
    const row = this.prepared(
      `
      UPDATE ${this.tables.task} SET
        version = version + :steps,
        state = COALESCE(:state, state),
        status = COALESCE(:status, status),
        status_at = MAX(status_at, COALESCE(:statusAt, status_at)),
        updated_at = MAX(updated_at, :at),
        run_id = :runId,
        replica = :replica,
        push_rev = push_rev + :asks
      WHERE id = :id AND (owner = :owner) IS TRUE
        AND (:expected IS NULL OR version = :expected)
        AND (:guard IS NULL OR instr(:guard, ',' || state || ',') > 0)
        AND (:heldBy IS NULL OR run_id = :heldBy)
      RETURNING version, push_rev`,
    ).get({
      ...{ id, owner, expected, heldBy, at, runId, replica, steps: events.length, asks: push ? 1 : 0 },
      ...{ state: status?.state ?? null, status: status?.json ?? null, statusAt: status?.at ?? null },
      guard: guard && `,${guard.join(',')},`,
    }) as WrittenRow | undefined;
    if (!row) return null;
    const base = row.version - events.length;
    this.writeEvents(id, base, events);
    if (snapshot) this.writeSnapshot(id, row.version, snapshot);
    if (push) this.writePushConfig(id, owner, base, push);
    return resultOf(row);
  }

  private writeEvents(id: string, base: number, events: readonly EventRow[]): void {
    const insert = this.prepared(`INSERT INTO ${this.tables.event} (task_id, version, kind, json) VALUES (?, ?, ?, ?)`);
    events.forEach(({ kind, json }, index) => {
      insert.run(id, base + index + 1, kind, json);
    });
  }

  private writePushConfig(taskId: string, owner: string, delivered: number, push: PushConfigRow): void {
    const { pushConfig } = this.tables;
    const { id, createdAt, config, sealed, durable, keep } = push;
    this.prepared(
      `
      INSERT INTO ${pushConfig} (${PUSH_CONFIG_COLUMNS})
      VALUES (:taskId, :id, :owner, ${nextPlace(pushConfig, ':taskId', ':createdAt')}, :config, :sealed, :durable, :delivered,
        CASE WHEN :durable THEN ${SQLITE_NOW} END)
      ${replacePushConfig(pushConfig)}`,
    ).run({ taskId, id, owner, createdAt, config, sealed, delivered, durable });
    this.prepared(
      `DELETE FROM ${pushConfig} WHERE task_id = :taskId AND id IN (${othersBeyond(pushConfig, ':taskId', ':id', ':keep')})`,
    ).run({ taskId, id, keep });
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

  private prepared(sql: string): SqliteStatement {
    return this.transactions.prepared(sql);
  }
}

interface WrittenRow {
  readonly version: number;
  readonly push_rev: number;
}

function resultOf({ version, push_rev: pushRev }: WrittenRow): WriteResult {
  return { version, pushRev };
}
