import { cloneJson } from '#protocol';
import type { PushConfigKey, PushConfigRecord } from '../push-config.record.js';
import { PushConfigStore } from '../push-config.store.js';
import { PushConfigConflictError, TaskRecordNotFoundError } from '../store-errors.js';

/** Keeps push notification configs in the memory of the process, and forgets them with it. */
export class MemoryPushConfigStore extends PushConfigStore {
  /** By task, in the order of creation. */
  private readonly byTask = new Map<string, readonly PushConfigRecord[]>();
  /** How often the configs of a task have changed, for tasks that have had one. */
  private readonly revisions = new Map<string, number>();

  /** @param hasTask whether there is such a task of this owner; without it every task is taken to be there */
  constructor(private readonly hasTask: (taskId: string, owner: string) => boolean = () => true) {
    super();
  }

  async create(record: PushConfigRecord, keep: number): Promise<void> {
    await Promise.resolve();
    const { id, taskId } = record.config;
    // Nobody would remove what is kept for a task that has gone.
    if (!this.hasTask(taskId, record.owner)) throw new TaskRecordNotFoundError();
    const configs = this.byTask.get(taskId) ?? [];
    if (configs.some(({ config }) => config.id === id)) throw new PushConfigConflictError();
    this.change(taskId, [...configs, copyOf(record)].slice(-keep));
  }

  /** Keeps a config that comes with an update of its task, in the place of one of its id. */
  put(record: PushConfigRecord, keep: number): void {
    const { id, taskId } = record.config;
    const configs = this.byTask.get(taskId) ?? [];
    const isKnown = configs.some(({ config }) => config.id === id);
    const replaced = configs.map((known) => (known.config.id === id ? copyOf(record) : known));
    this.change(taskId, isKnown ? replaced : [...configs, copyOf(record)].slice(-keep));
  }

  async read({ id, ...task }: PushConfigKey): Promise<PushConfigRecord | undefined> {
    return (await this.list(task)).find(({ config }) => config.id === id);
  }

  list({ taskId, owner }: Pick<PushConfigKey, 'taskId' | 'owner'>): Promise<readonly PushConfigRecord[]> {
    const configs = this.byTask.get(taskId) ?? [];
    return Promise.resolve(configs.filter((record) => record.owner === owner).map(copyOf));
  }

  remove({ id, taskId, owner }: PushConfigKey): Promise<void> {
    const configs = this.byTask.get(taskId) ?? [];
    const left = configs.filter((record) => record.owner !== owner || record.config.id !== id);
    if (left.length < configs.length) this.change(taskId, left);
    return Promise.resolve();
  }

  /** How often the configs of a task have changed. */
  revisionOf(taskId: string): number {
    return this.revisions.get(taskId) ?? 0;
  }

  /** Forgets the configs of a task that was removed. */
  forget(taskId: string): void {
    this.byTask.delete(taskId);
    this.revisions.delete(taskId);
  }

  private change(taskId: string, configs: readonly PushConfigRecord[]): void {
    this.byTask.set(taskId, configs);
    this.revisions.set(taskId, this.revisionOf(taskId) + 1);
  }
}

function copyOf(record: PushConfigRecord): PushConfigRecord {
  return { ...record, config: cloneJson(record.config) };
}
