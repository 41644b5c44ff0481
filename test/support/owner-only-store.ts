import {
  applyUpdate,
  statusTime,
  TaskRecordConflictError,
  TaskRecordNotFoundError,
  TaskStore,
  type Task,
  type TaskAppend,
  type TaskDraft,
  type TaskKey,
  type TaskPage,
  type TaskQuery,
  type TaskRecord,
  type TaskSettle,
  type TaskWritten,
} from 'nestjs-a2a';

/**
 * A store as a host may write it: it keeps whole tasks, tells owners apart and knows nothing of tenants and scopes.
 *
 * With `claim` it says that it filters tiers, which it does not.
 */
export class OwnerOnlyStore extends TaskStore {
  override readonly filtersTiers: boolean;
  /** How often it was asked for a list. */
  listed = 0;
  private readonly records = new Map<string, TaskRecord>();

  constructor(claim = false) {
    super();
    this.filtersTiers = claim;
  }

  async create({ task, updates, at, ...rest }: TaskDraft): Promise<void> {
    if (this.records.has(task.id)) throw new TaskRecordConflictError();
    const whole = structuredClone(task);
    updates.forEach((update) => {
      applyUpdate(whole, structuredClone(update), 200);
    });
    this.put({ ...rest, task: whole, version: updates.length, createdAt: at, updatedAt: at, statusAt: 0 });
  }

  async append({ key, expected, runId, updates, at, task }: TaskAppend): Promise<TaskWritten> {
    const record = this.find(key);
    if (!record) throw new TaskRecordNotFoundError();
    if (record.version !== expected) throw new TaskRecordConflictError();
    this.put({ ...record, task: task(), runId, version: expected + updates.length, updatedAt: at });
    return { version: expected + updates.length };
  }

  async settle({ key, guard, update, at }: TaskSettle): Promise<TaskWritten | null> {
    const record = this.find(key);
    if (!record || !guard.includes(record.task.status.state)) return null;
    const whole = structuredClone(record.task);
    applyUpdate(whole, structuredClone(update), 200);
    this.put({ ...record, task: whole, runId: null, version: record.version + 1, updatedAt: at });
    return { version: record.version + 1 };
  }

  async discard(key: TaskKey, expected: number): Promise<boolean> {
    return this.find(key)?.version === expected && this.records.delete(key.id);
  }

  async read(key: TaskKey): Promise<TaskRecord> {
    const record = this.find(key);
    if (!record) throw new TaskRecordNotFoundError();
    return structuredClone(record);
  }

  async list({ tier, contextId, state, statusSince = 0, after, limit }: TaskQuery): Promise<TaskPage> {
    this.listed++;
    const matching = [...this.records.values()]
      .filter(({ owner }) => owner === tier.owner)
      .filter(({ task }) => contextId === undefined || task.contextId === contextId)
      .filter(({ task }) => state === undefined || task.status.state === state)
      .filter(({ statusAt }) => statusAt >= statusSince)
      .sort((a, b) => b.statusAt - a.statusAt || compareIds(b.task, a.task));
    const behind = matching.filter(({ statusAt, task }) => {
      if (!after) return true;
      return statusAt < after.statusAt || (statusAt === after.statusAt && task.id < after.id);
    });
    const records = structuredClone(behind.slice(0, limit));
    return { records, total: matching.length, more: behind.length > limit };
  }

  private find({ id, owner }: TaskKey): TaskRecord | undefined {
    const record = this.records.get(id);
    return record?.owner === owner ? record : undefined;
  }

  private put(record: TaskRecord): void {
    const statusAt = Math.max(record.statusAt, statusTime(record.task.status));
    this.records.set(record.task.id, { ...record, statusAt });
  }
}

function compareIds(a: Task, b: Task): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
