import { In, type DataSource, type Repository, type SelectQueryBuilder } from 'typeorm';
import { TERMINAL_STATES, toJson, type Task } from '#protocol';
import { UNNARROWED, type Tier } from '../../context/tier.js';
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
  type TaskKey,
  type TaskPage,
  type TaskQuery,
  type TaskSettle,
} from '../task.store.js';
import { AmbiguousWrites } from './ambiguous-writes.js';
import { PostgresChannel } from './postgres.channel.js';
import { PostgresWriter } from './postgres.writer.js';
import { recordOf, snapshotOf, type SnapshotRow, type TaskSnapshot } from './row-mapping.js';
import { SnapshotPolicy } from './snapshot.policy.js';
import { SqliteWriter } from './sqlite.writer.js';
import { tableNames } from './table-names.js';
import { TaskCountEntity, TaskEntity, TaskEventEntity, TaskSnapshotEntity } from './task.entity.js';
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

  private readonly tasks: Repository<TaskEntity>;
  private readonly events: Repository<TaskEventEntity>;
  private readonly counts: Repository<TaskCountEntity>;
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
    this.tasks = dataSource.getRepository(TaskEntity);
    this.events = dataSource.getRepository(TaskEventEntity);
    this.counts = dataSource.getRepository(TaskCountEntity);
    this.writer = this.isPostgres ? new PostgresWriter(dataSource, names) : new SqliteWriter(dataSource, names);
    this.writes = new AmbiguousWrites(new WriteQueue(this.writer), this.tasks, this.events);
  }

  async create({ task, updates, at, runId, ...fields }: TaskDraft): Promise<void> {
    const created = toJson(task) as unknown as Task;
    let statusAt = statusTime(created.status);
    for (const update of toJson(updates) as unknown as TaskUpdate[]) {
      applyUpdate(created, update, this.maxHistory);
      statusAt = Math.max(statusAt, statusTime(created.status));
    }
    const { owner, tenant, scope, skillId } = fields;
    const result = await this.writes.write({
      kind: 'insert',
      ...{ id: task.id, owner, tenant, scope, skillId, contextId: task.contextId, runId, at, statusAt },
      ...{ version: updates.length, state: created.status.state, status: JSON.stringify(created.status) },
      snapshot: snapshotOf(created),
    });
    if (result === null) throw new TaskRecordConflictError('A task of this id exists.');
  }

  async append({ key, expected, runId, updates, at, task }: TaskAppend): Promise<number> {
    const events = updates.map(eventOf);
    const snapshot = this.snapshotDue(key.id, runId, events) ? this.takeSnapshot(key.id, task()) : null;
    const version = await this.writes.write({
      ...{ kind: 'change', id: key.id, owner: key.owner, expected, guard: null, events, at, runId, snapshot },
      status: lastStatus(updates),
    });
    if (runId === null || version === null) this.snapshots.forget(key.id);
    if (version !== null) return version;
    const { id, owner } = key;
    throw (await this.tasks.existsBy({ id, owner })) ? new TaskRecordConflictError() : new TaskRecordNotFoundError();
  }

  async settle({ key, guard, update, at }: TaskSettle): Promise<number | null> {
    const events = [eventOf(update)];
    return this.writes.write({
      ...{ kind: 'change', id: key.id, owner: key.owner, expected: null, guard, events, at },
      ...{ runId: null, snapshot: null, status: lastStatus([update]) },
    });
  }

  async discard({ id, owner }: TaskKey, expected: number): Promise<boolean> {
    return (await this.writes.write({ kind: 'remove', id, owner, expected })) !== null;
  }

  async read({ id, owner }: TaskKey): Promise<TaskRecord> {
    // Not `owner = …` alone: see the writer's statement.
    const query = this.tasks
      .createQueryBuilder('t')
      .where('t.id = :id')
      .andWhere('(t.owner = :owner) IS TRUE')
      .setParameters({ id, owner });
    const [record] = await this.records(query, true);
    if (!record) throw new TaskRecordNotFoundError();
    return record;
  }

  async list(query: TaskQuery): Promise<TaskPage> {
    const matching = this.matching(query);
    const total = await this.total(query, matching);
    if (query.after) {
      matching.andWhere('(t.statusAt, t.id) < (:statusAt, :id)').setParameters({ ...query.after });
    }
    matching
      .orderBy('t.statusAt', 'DESC')
      .addOrderBy('t.id', 'DESC')
      .limit(query.limit + 1);
    const records = await this.records(matching, query.artifacts);
    return { records: records.slice(0, query.limit), total, more: records.length > query.limit };
  }

  override async trim({ owner, tenant, scope }: Tier, keep: number): Promise<void> {
    for (;;) {
      const ended = await this.tasks
        .createQueryBuilder('t')
        .select(['t.id'])
        .where({ owner, tenant, scope })
        .andWhere('t.state IN (:...states)', { states: TERMINAL_STATES })
        .orderBy('t.statusAt', 'DESC')
        .addOrderBy('t.id', 'DESC')
        .offset(keep)
        .limit(TRIM_BATCH)
        .getMany();
      await Promise.all(ended.map(({ id }) => this.writes.write({ kind: 'remove', id, owner, expected: null })));
      if (ended.length < TRIM_BATCH) return;
    }
  }

  override async eventsAfter({ id, owner }: TaskKey, version: number, limit?: number): Promise<VersionedUpdate[]> {
    const rows = await this.events
      .createQueryBuilder('e')
      .innerJoin(TaskEntity, 't', 't.id = e.taskId AND (t.owner = :owner) IS TRUE')
      .where('e.taskId = :id AND e.version > :version')
      .setParameters({ id, owner, version })
      .orderBy('e.version')
      .limit(limit)
      .getMany();
    return rows.map((row) => ({ version: row.version, update: JSON.parse(row.json) as TaskUpdate }));
  }

  override async versionsOf(keys: readonly TaskKey[]): Promise<ReadonlyMap<string, number>> {
    if (keys.length === 0) return new Map();
    const rows = await this.tasks.find({
      select: { id: true, owner: true, version: true },
      where: { id: In(keys.map(({ id }) => id)) },
    });
    const owners = new Map(keys.map(({ id, owner }) => [id, owner]));
    return new Map(rows.filter(({ id, owner }) => owners.get(id) === owner).map(({ id, version }) => [id, version]));
  }

  override openChannel(listener: ChannelListener): StoreChannel | undefined {
    return this.isPostgres ? new PostgresChannel(this.dataSource, listener) : undefined;
  }

  override async close(): Promise<void> {
    await this.writer.close();
  }

  private matching({ tier, contextId, state, statusSince }: TaskQuery): SelectQueryBuilder<TaskEntity> {
    const { owner, tenant, scope } = tier;
    const query = this.tasks.createQueryBuilder('t').where({
      owner,
      tenant,
      ...(scope !== UNNARROWED && { scope }),
      ...(contextId !== undefined && { contextId }),
      ...(state !== undefined && { state }),
    });
    return statusSince === undefined ? query : query.andWhere('t.statusAt >= :statusSince', { statusSince });
  }

  /** How many tasks match. Those of a whole tier have been counted as they came and went. */
  private async total(query: TaskQuery, matching: SelectQueryBuilder<TaskEntity>): Promise<number> {
    const { tier, contextId, state, statusSince } = query;
    if (contextId !== undefined || state !== undefined || statusSince !== undefined) return matching.getCount();
    const { owner, tenant, scope } = tier;
    const where = { owner, tenant, ...(scope !== UNNARROWED && { scope }) };
    return (await this.counts.sum('count', where)) ?? 0;
  }

  /** Rows, their snapshots and the updates after those, in one statement, so that no write comes between. */
  private async records(query: SelectQueryBuilder<TaskEntity>, artifacts: boolean): Promise<TaskRecord[]> {
    const joined = this.isPostgres
      ? "'[' || string_agg(e.json, ',' ORDER BY e.version) || ']'"
      : "'[' || group_concat(e.json, ',' ORDER BY e.version) || ']'";
    query
      .innerJoin(TaskSnapshotEntity, 's', 's.taskId = t.id')
      .addSelect('s.history', 'history')
      .addSelect('s.metadata', 'metadata')
      .addSelect((events) => {
        events.select(joined).from(TaskEventEntity, 'e').where('e.taskId = t.id AND e.version > s.version');
        return artifacts ? events : events.andWhere("e.kind <> 'artifact'");
      }, 'events');
    if (artifacts) query.addSelect('s.artifacts', 'artifacts');
    const { entities, raw } = await query.getRawAndEntities<SnapshotRow>();
    return entities.map((row, index) => recordOf(row, raw[index] as SnapshotRow, this.maxHistory));
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
