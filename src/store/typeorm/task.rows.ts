import { In, type DataSource, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import { TERMINAL_STATES } from '#protocol';
import { UNNARROWED, type Tier } from '../../context/tier.js';
import type { ListCursor } from '../cursor.js';
import { TaskRecordNotFoundError } from '../store-errors.js';
import type { TaskRecord } from '../task-record.js';
import type { TaskUpdate, VersionedUpdate } from '../task-update.js';
import type { TaskPage, TaskQuery } from '../task.store.js';
import type { TaskKey } from '../task-key.js';
import { recordOf, type SnapshotRow } from './row-mapping.js';
import { PushConfigEntity, TaskCountEntity, TaskEntity, TaskEventEntity, TaskSnapshotEntity } from './task.entity.js';

/** A place before every task. */
const BEFORE_ALL: ListCursor = { statusAt: Number.MAX_SAFE_INTEGER, id: '' };

/** Reads tasks from their rows, over the DataSource. */
export class TaskRows {
  private readonly tasks: Repository<TaskEntity>;
  private readonly events: Repository<TaskEventEntity>;
  private readonly counts: Repository<TaskCountEntity>;
  private readonly isPostgres: boolean;

  /** @param maxHistory how many messages a task's history keeps */
  constructor(
    dataSource: DataSource,
    private readonly maxHistory: number,
  ) {
    this.isPostgres = dataSource.options.type === 'postgres';
    this.tasks = dataSource.getRepository(TaskEntity);
    this.events = dataSource.getRepository(TaskEventEntity);
    this.counts = dataSource.getRepository(TaskCountEntity);
  }

  exists({ id, owner }: TaskKey): Promise<boolean> {
    return this.tasks.existsBy({ id, owner });
  }

  /** @throws {TaskRecordNotFoundError} for an unknown id and for a task of another owner alike */
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

  /** A page of tasks, newest status first. */
  async list(query: TaskQuery): Promise<TaskPage> {
    const matching = this.matching(query);
    const total = await this.total(query, matching);
    // The first page has a bound too: it leads a plan that was made without statistics to the index in whose order we ask.
    const { statusAt, id } = query.after ?? BEFORE_ALL;
    matching.andWhere('(t.statusAt, t.id) < (:statusAt, :id)').setParameters({ statusAt, id });
    matching
      .orderBy('t.statusAt', 'DESC')
      .addOrderBy('t.id', 'DESC')
      .limit(query.limit + 1);
    const records = await this.records(matching, query.artifacts);
    return { records: records.slice(0, query.limit), total, more: records.length > query.limit };
  }

  /** The updates of a task after a version, as far as they are there one by one. */
  async updatesAfter({ id, owner }: TaskKey, version: number, limit?: number): Promise<VersionedUpdate[]> {
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

  /** The versions of the tasks that there are, by id. */
  async versionsOf(keys: readonly TaskKey[]): Promise<ReadonlyMap<string, number>> {
    if (keys.length === 0) return new Map();
    const rows = await this.tasks.find({
      select: { id: true, owner: true, version: true },
      where: { id: In(keys.map(({ id }) => id)) },
    });
    const owners = new Map(keys.map(({ id, owner }) => [id, owner]));
    return new Map(rows.filter(({ id, owner }) => owners.get(id) === owner).map(({ id, version }) => [id, version]));
  }

  /** The ids of the oldest settled tasks of a tier, beyond so many of the newest; without those that a webhook waits for. */
  async settledBeyond({ owner, tenant, scope }: Tier, keep: number, limit: number): Promise<string[]> {
    const rows = await this.tasks
      .createQueryBuilder('t')
      .select(['t.id'])
      .where({ owner, tenant, scope })
      .andWhere('t.state IN (:...states)', { states: TERMINAL_STATES })
      .andWhere((query) => {
        const waiting = query.subQuery().select('p.id').from(PushConfigEntity, 'p');
        waiting.where('p.taskId = t.id AND p.dueAt IS NOT NULL AND p.delivered < t.version');
        return `NOT EXISTS ${waiting.getQuery()}`;
      })
      .orderBy('t.statusAt', 'DESC')
      .addOrderBy('t.id', 'DESC')
      .offset(keep)
      .limit(limit)
      .getMany();
    return rows.map(({ id }) => id);
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
    // One by one and not joined: a plan that was made without statistics would join all before it takes a page.
    const columns = ['history', 'metadata', ...(artifacts ? ['artifacts'] : [])];
    for (const column of columns) query.addSelect((from) => snapshotColumn(from, column), column);
    query.addSelect((from) => {
      const events = from.select(joined).from(TaskEventEntity, 'e').where('e.taskId = t.id');
      events.andWhere(`e.version > ${snapshotColumn(events.subQuery(), 'version').getQuery()}`);
      return artifacts ? events : events.andWhere("e.kind <> 'artifact'");
    }, 'events');
    const { entities, raw } = await query.getRawAndEntities<SnapshotRow>();
    return entities.map((row, index) => recordOf(row, raw[index] as SnapshotRow, this.maxHistory));
  }
}

function snapshotColumn<T extends ObjectLiteral>(from: SelectQueryBuilder<T>, column: string) {
  return from.select(`s.${column}`).from(TaskSnapshotEntity, 's').where('s.taskId = t.id');
}
