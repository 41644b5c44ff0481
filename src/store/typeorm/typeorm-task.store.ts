import type { DataSource } from 'typeorm';
import { toJson, type Task } from '#protocol';
import type { Tier } from '../../context/tier.js';
import { statusTime } from '../status-time.js';
import type { ChannelListener, StoreChannel } from '../store-channel.js';
import { TaskRecordConflictError, TaskRecordNotFoundError } from '../store-errors.js';
import type { TaskRecord } from '../task-record.js';
import { applyUpdate } from '../task-reducer.js';
import type { TaskUpdate, VersionedUpdate } from '../task-update.js';
import {
  TaskStore,
  type TaskAppend,
  type TaskDraft,
  type TaskPage,
  type TaskQuery,
  type TaskSettle,
  type TaskWritten,
} from '../task.store.js';
import type { TaskKey } from '../task-key.js';
import { AmbiguousWrites } from './ambiguous-writes.js';
import { numberedSql } from './numbered-sql.js';
import { PostgresChannel } from './postgres.channel.js';
import { PostgresWriter } from './postgres.writer.js';
import { pushConfigRow } from './push-config.rows.js';
import { snapshotOf, type TaskSnapshot } from './row-mapping.js';
import { SnapshotPolicy } from './snapshot.policy.js';
import { SqliteWriter } from './sqlite.writer.js';
import { tableNames } from './table-names.js';
import { TaskEntity, TaskEventEntity } from './task.entity.js';
import { TaskRows } from './task.rows.js';
import { TypeOrmPushConfigStore } from './typeorm-push-config.store.js';
import { TypeOrmRunLeases } from './typeorm-run-leases.js';
import { UpdateSweeper } from './update.sweeper.js';
import type { BatchWriter, ChangeOperation, EventRow } from './write-operation.js';
import { WriteQueue } from './write-queue.js';

/** How many tasks a trim removes at once. */
const TRIM_BATCH = 100;

/**
 * Keeps tasks in PostgreSQL or SQLite, on a DataSource that knows `a2aEntities()`.
 *
 * - A task is a row, a snapshot as of one version, and a row for each update since: an append writes what is new.
 * - Reads go over the DataSource. Writes gather in one queue per process and leave in batches.
 * - Versions are compared in the statement that writes.
 */
export class TypeOrmTaskStore extends TaskStore {
  override readonly filtersTiers = true;

  override readonly leases: TypeOrmRunLeases;

  override readonly pushConfigs: TypeOrmPushConfigStore;

  private readonly rows: TaskRows;
  private readonly writer: BatchWriter;
  private readonly writes: AmbiguousWrites;
  private readonly snapshots = new SnapshotPolicy();
  private readonly isPostgres: boolean;

  /**
   * @param dataSource initialised, of type `postgres` or `better-sqlite3`
   * @param maxHistory how many messages a task's history keeps
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly maxHistory = 200,
  ) {
    super();
    const names = tableNames(dataSource);
    this.isPostgres = dataSource.options.type === 'postgres';
    this.rows = new TaskRows(dataSource, maxHistory);
    this.writer = this.isPostgres ? new PostgresWriter(dataSource, names) : new SqliteWriter(dataSource, names);
    this.writes = new AmbiguousWrites(
      new WriteQueue(this.writer),
      dataSource.getRepository(TaskEntity),
      dataSource.getRepository(TaskEventEntity),
    );
    const sql = numberedSql(dataSource);
    const sweeper = new UpdateSweeper(dataSource, names, this.rows, this.writes, sql);
    this.pushConfigs = new TypeOrmPushConfigStore(dataSource, names, sql);
    this.leases = new TypeOrmRunLeases(dataSource, this.writer, sweeper);
  }

  async create({ task, updates, at, runId, push, ...fields }: TaskDraft): Promise<void> {
    const created = toJson(task) as unknown as Task;
    // Only who delivers one by one needs the first updates so; everybody else reads the task.
    const isLogged = push?.record.durable === true;
    const first = isLogged ? snapshotOf(created) : null;
    let statusAt = statusTime(created.status);
    for (const update of toJson(updates) as unknown as TaskUpdate[]) {
      applyUpdate(created, update, this.maxHistory);
      statusAt = Math.max(statusAt, statusTime(created.status));
    }
    const { owner, tenant, scope, skillId } = fields;
    const result = await this.writes.write({
      kind: 'insert',
      ...{ id: task.id, owner, tenant, scope, skillId, contextId: task.contextId, at, statusAt },
      ...{ runId, replica: this.replicaOf(runId) },
      ...{ version: updates.length, state: created.status.state, status: JSON.stringify(created.status) },
      snapshot: first ?? snapshotOf(created),
      ...{ snapshotVersion: isLogged ? 0 : updates.length, events: isLogged ? updates.map(eventOf) : [] },
      push: push ? pushConfigRow(push) : null,
    });
    if (result === null) throw new TaskRecordConflictError('A task of this id exists.');
  }

  async append({ key, expected, runId, updates, at, task, push }: TaskAppend): Promise<TaskWritten> {
    const events = updates.map(eventOf);
    const snapshot = this.snapshotDue(key.id, runId, events) ? this.takeSnapshot(key.id, task()) : null;
    const written = await this.writes.write({
      ...{ kind: 'change', id: key.id, owner: key.owner, expected, guard: null, heldBy: null, events, at, snapshot },
      ...{
        runId,
        replica: this.replicaOf(runId),
        status: lastStatus(updates),
        push: push ? pushConfigRow(push) : null,
      },
    });
    if (runId === null || written === null) this.snapshots.forget(key.id);
    if (written !== null) return written;
    throw (await this.rows.exists(key)) ? new TaskRecordConflictError() : new TaskRecordNotFoundError();
  }

  async settle({ key, guard, update, runId, at }: TaskSettle): Promise<TaskWritten | null> {
    const events = [eventOf(update)];
    return this.writes.write({
      ...{ kind: 'change', id: key.id, owner: key.owner, expected: null, guard, heldBy: runId ?? null, events, at },
      ...{ runId: null, replica: null, snapshot: null, status: lastStatus([update]), push: null },
    });
  }

  async discard({ id, owner }: TaskKey, expected: number): Promise<boolean> {
    return (await this.writes.write({ kind: 'remove', id, owner, expected })) !== null;
  }

  read(key: TaskKey): Promise<TaskRecord> {
    return this.rows.read(key);
  }

  list(query: TaskQuery): Promise<TaskPage> {
    return this.rows.list(query);
  }

  override eventsAfter(key: TaskKey, version: number, limit?: number): Promise<readonly VersionedUpdate[]> {
    return this.rows.updatesAfter(key, version, limit);
  }

  override versionsOf(keys: readonly TaskKey[]): Promise<ReadonlyMap<string, number>> {
    return this.rows.versionsOf(keys);
  }

  override async trim({ owner, tenant, scope }: Tier, keep: number): Promise<void> {
    for (;;) {
      const ended = await this.rows.settledBeyond({ owner, tenant, scope }, keep, TRIM_BATCH);
      await Promise.all(ended.map((id) => this.writes.write({ kind: 'remove', id, owner, expected: null })));
      if (ended.length < TRIM_BATCH) return;
    }
  }

  override openChannel(listener: ChannelListener): StoreChannel | undefined {
    return this.isPostgres ? new PostgresChannel(this.dataSource, listener) : undefined;
  }

  override async close(): Promise<void> {
    await this.writer.close();
  }

  private replicaOf(runId: string | null): string | null {
    return runId === null ? null : this.leases.replica;
  }

  private snapshotDue(id: string, runId: string | null, events: readonly EventRow[]): boolean {
    const size = events.reduce((sum, { json }) => sum + json.length, 0);
    return this.snapshots.isDue(id, size) || runId === null;
  }

  private takeSnapshot(id: string, task: Task): TaskSnapshot {
    const snapshot = snapshotOf(task);
    this.snapshots.written(id, snapshot.history.length + snapshot.artifacts.length);
    return snapshot;
  }
}

function eventOf(update: TaskUpdate): EventRow {
  return { kind: update.kind, json: JSON.stringify(toJson(update)) };
}

function lastStatus(updates: readonly TaskUpdate[]): ChangeOperation['status'] {
  const last = updates.findLast((update) => update.kind === 'status');
  return last ? { state: last.status.state, json: JSON.stringify(last.status), at: statusTime(last.status) } : null;
}
