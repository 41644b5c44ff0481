import type { DataSource, Repository } from 'typeorm';
import type { PushConfigKey, PushConfigRecord } from '../push-config.record.js';
import { PushConfigStore } from '../push-config.store.js';
import { PushConfigConflictError, TaskRecordNotFoundError } from '../store-errors.js';
import type { NumberedSql } from './numbered-sql.js';
import { pushConfigRecord, pushConfigRow } from './push-config.rows.js';
import { addPushConfig, removePushConfig, type AddPushConfig, type RemovePushConfig } from './push-config.sql.js';
import type { TableNames } from './table-names.js';
import { PushConfigEntity } from './task.entity.js';
import { TypeOrmPushCursors } from './typeorm-push-cursors.js';

/**
 * Keeps push notification configs beside the tasks of a store.
 *
 * Each change of them is counted on the row of their task, whose writers see the number with every write.
 */
export class TypeOrmPushConfigStore extends PushConfigStore {
  override readonly cursors: TypeOrmPushCursors;
  private readonly configs: Repository<PushConfigEntity>;
  private readonly add: AddPushConfig;
  private readonly removal: RemovePushConfig;

  constructor(
    dataSource: DataSource,
    tables: TableNames,
    private readonly sql: NumberedSql,
  ) {
    super();
    this.configs = dataSource.getRepository(PushConfigEntity);
    this.add = addPushConfig(tables, sql.now);
    this.removal = removePushConfig(tables);
    this.cursors = new TypeOrmPushCursors(sql, tables);
  }

  async create(record: PushConfigRecord, keep: number): Promise<void> {
    const { noted, inserted, evicted } = this.add;
    const task = [record.config.taskId, record.owner] as const;
    const { id, createdAt, config, sealed, durable } = pushConfigRow({ record, keep });
    const [known = [], added = []] = await this.sql.run(
      // First: it also keeps others from adding to the same task meanwhile.
      [noted, task],
      [inserted, [...task, id, createdAt, config, sealed, durable]],
      [evicted, [record.config.taskId, id, keep]],
    );
    if (known.length === 0) throw new TaskRecordNotFoundError();
    if (added.length === 0) throw new PushConfigConflictError();
  }

  async read({ id, taskId, owner }: PushConfigKey): Promise<PushConfigRecord | undefined> {
    const row = await this.configs.findOneBy({ id, taskId, owner });
    return row ? pushConfigRecord(row) : undefined;
  }

  async list({ taskId, owner }: Pick<PushConfigKey, 'taskId' | 'owner'>): Promise<readonly PushConfigRecord[]> {
    const rows = await this.configs.find({ where: { taskId, owner }, order: { createdAt: 'ASC', id: 'ASC' } });
    return rows.map(pushConfigRecord);
  }

  async remove({ id, taskId, owner }: PushConfigKey): Promise<void> {
    const { noted, removed } = this.removal;
    const config = [taskId, owner, id] as const;
    await this.sql.run([noted, config], [removed, config]);
  }
}
