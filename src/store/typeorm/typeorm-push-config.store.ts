import { QueryFailedError, type DataSource, type Repository } from 'typeorm';
import { toJson } from '#protocol';
import { PushConfigStore, type PushConfigKey, type PushConfigRecord } from '../push-config.store.js';
import { PushConfigConflictError } from '../store-errors.js';
import { PushConfigEntity, TaskEntity } from './task.entity.js';

/** Keeps push notification configs on a DataSource that knows `a2aEntities()`. */
export class TypeOrmPushConfigStore extends PushConfigStore {
  private readonly configs: Repository<PushConfigEntity>;
  private readonly tasks: Repository<TaskEntity>;

  /** @param dataSource initialised, of type `postgres` or `better-sqlite3` */
  constructor(dataSource: DataSource) {
    super();
    this.configs = dataSource.getRepository(PushConfigEntity);
    this.tasks = dataSource.getRepository(TaskEntity);
  }

  async create({ config, owner, createdAt }: PushConfigRecord): Promise<void> {
    const { id, taskId } = config;
    try {
      await this.configs.insert({ id, taskId, owner, createdAt, config: JSON.stringify(toJson(config)) });
    } catch (error) {
      if (isUniqueViolation(error)) throw new PushConfigConflictError(undefined, { cause: error });
      throw error;
    }
    await this.noteChange(taskId);
  }

  async read(key: PushConfigKey): Promise<PushConfigRecord | undefined> {
    const row = await this.configs.findOneBy({ id: key.id, taskId: key.taskId, owner: key.owner });
    return row ? recordOf(row) : undefined;
  }

  async list({ taskId, owner }: Pick<PushConfigKey, 'taskId' | 'owner'>): Promise<readonly PushConfigRecord[]> {
    const rows = await this.configs.find({ where: { taskId, owner }, order: { createdAt: 'ASC', id: 'ASC' } });
    return rows.map(recordOf);
  }

  async remove({ id, taskId, owner }: PushConfigKey): Promise<void> {
    const { affected } = await this.configs.delete({ id, taskId, owner });
    if (affected) await this.noteChange(taskId);
  }

  /** Tells the writers of the task, which see the number with every write, that there is something to look up. */
  private async noteChange(id: string): Promise<void> {
    await this.tasks.increment({ id }, 'pushRev', 1);
  }
}

function recordOf({ config, owner, createdAt }: PushConfigEntity): PushConfigRecord {
  return { config: JSON.parse(config) as PushConfigRecord['config'], owner, createdAt };
}

/** PostgreSQL says 23505, SQLite says it in words. */
function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { code } = error.driverError as { code?: unknown };
  return code === '23505' || (typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT'));
}
