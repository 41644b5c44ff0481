import { cloneJson } from '#protocol';
import { PushConfigStore, type PushConfigKey, type PushConfigRecord } from '../push-config.store.js';
import { PushConfigConflictError } from '../store-errors.js';

/** Keeps push notification configs in the memory of the process, and forgets them with it. */
export class MemoryPushConfigStore extends PushConfigStore {
  /** By task, in the order of creation. */
  private readonly byTask = new Map<string, PushConfigRecord[]>();

  async create(record: PushConfigRecord): Promise<void> {
    await Promise.resolve();
    const { id, taskId } = record.config;
    const configs = this.byTask.get(taskId) ?? [];
    if (configs.some(({ config }) => config.id === id)) throw new PushConfigConflictError();
    this.byTask.set(taskId, [...configs, copyOf(record)]);
  }

  async read({ id, ...task }: PushConfigKey): Promise<PushConfigRecord | undefined> {
    return (await this.list(task)).find(({ config }) => config.id === id);
  }

  list({ taskId, owner }: Pick<PushConfigKey, 'taskId' | 'owner'>): Promise<readonly PushConfigRecord[]> {
    const configs = this.byTask.get(taskId) ?? [];
    return Promise.resolve(configs.filter((record) => record.owner === owner).map(copyOf));
  }

  remove({ id, taskId, owner }: PushConfigKey): Promise<void> {
    const left = (this.byTask.get(taskId) ?? []).filter((record) => record.owner !== owner || record.config.id !== id);
    if (left.length > 0) this.byTask.set(taskId, left);
    else this.byTask.delete(taskId);
    return Promise.resolve();
  }

  /** Forgets the configs of a task that was removed. */
  forget(taskId: string): void {
    this.byTask.delete(taskId);
  }
}

function copyOf(record: PushConfigRecord): PushConfigRecord {
  return { ...record, config: cloneJson(record.config) };
}
