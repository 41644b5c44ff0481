import { cloneJson, isTerminal, toJson, type Task } from '#protocol';
import { isSameTier, isVisible, type Tier } from '../../context/tier.js';
import { compareCursors, placeOf } from '../cursor.js';
import { statusTime } from '../status-time.js';
import { TaskRecordConflictError, TaskRecordNotFoundError } from '../store-errors.js';
import type { TaskRecord } from '../task-record.js';
import { applyUpdate } from '../task-reducer.js';
import type { TaskUpdate } from '../task-update.js';
import { MemoryPushConfigStore } from './memory-push-config.store.js';
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

/** A stored task. Changed in place, and never handed out. */
type Row = { -readonly [K in keyof TaskRecord]: TaskRecord[K] };

/**
 * Keeps tasks in the memory of the process, and forgets them with it.
 *
 * An append costs the same however large the task has grown: it copies what is new, not what is there.
 */
export class MemoryTaskStore extends TaskStore {
  override readonly filtersTiers = true;

  /** By task id; ids are unique across owners. */
  private readonly rows = new Map<string, Row>();

  override readonly pushConfigs = new MemoryPushConfigStore((id, owner) => this.find({ id, owner }) !== undefined);

  /** @param maxHistory how many messages a task's history keeps */
  constructor(private readonly maxHistory = 200) {
    super();
  }

  create({ task, updates, skillId, runId, at, owner, tenant, scope, push }: TaskDraft): Promise<void> {
    return settled(() => {
      if (this.rows.has(task.id)) throw new TaskRecordConflictError('A task of this id exists.');
      const copies = copyUpdates(updates);
      const row: Row = {
        task: copyTask(task),
        owner,
        tenant,
        scope,
        skillId,
        runId,
        version: 0,
        createdAt: at,
        updatedAt: at,
        statusAt: statusTime(task.status),
      };
      this.apply(row, copies, at);
      this.rows.set(task.id, row);
      if (push) this.pushConfigs.put(push.record, push.keep);
    });
  }

  append({ key, expected, runId, updates, at, push }: TaskAppend): Promise<TaskWritten> {
    return settled(() => {
      const row = this.find(key);
      if (!row) throw new TaskRecordNotFoundError();
      if (row.version !== expected) throw new TaskRecordConflictError();
      const copies = copyUpdates(updates);
      row.runId = runId;
      if (push) this.pushConfigs.put(push.record, push.keep);
      return this.apply(row, copies, at);
    });
  }

  settle({ key, guard, update, runId, at }: TaskSettle): Promise<TaskWritten | null> {
    return settled(() => {
      const row = this.find(key);
      if (!row || !guard.includes(row.task.status.state)) return null;
      if (runId !== undefined && row.runId !== runId) return null;
      const copies = copyUpdates([update]);
      row.runId = null;
      return this.apply(row, copies, at);
    });
  }

  discard(key: TaskKey, expected: number): Promise<boolean> {
    return settled(() => this.find(key)?.version === expected && this.delete(key.id));
  }

  read(key: TaskKey): Promise<TaskRecord> {
    return settled(() => {
      const row = this.find(key);
      if (!row) throw new TaskRecordNotFoundError();
      return { ...row, task: cloneJson(row.task) };
    });
  }

  list(query: TaskQuery): Promise<TaskPage> {
    return settled(() => {
      const { after, limit } = query;
      const matching = [...this.rows.values()].filter((row) => matches(row, query)).sort(byPlace);
      const start = after ? matching.findIndex((row) => compareCursors(placeOf(row), after) > 0) : 0;
      const page = start < 0 ? [] : matching.slice(start, start + limit);
      return {
        records: page.map((row) => ({ ...row, task: listedTask(row.task, query.artifacts) })),
        total: matching.length,
        more: start >= 0 && start + limit < matching.length,
      };
    });
  }

  override trim(tier: Tier, keep: number): Promise<void> {
    return settled(() => {
      const ended = [...this.rows.values()].filter((row) => isTerminal(row.task.status.state) && isSameTier(row, tier));
      for (const row of ended.sort(byPlace).slice(keep)) this.delete(row.task.id);
    });
  }

  private delete(id: string): boolean {
    this.pushConfigs.forget(id);
    return this.rows.delete(id);
  }

  private find({ id, owner }: TaskKey): Row | undefined {
    const row = this.rows.get(id);
    return row?.owner === owner ? row : undefined;
  }

  private apply(row: Row, updates: readonly TaskUpdate[], at: number): TaskWritten {
    for (const update of updates) {
      applyUpdate(row.task, update, this.maxHistory);
      if (update.kind === 'status') row.statusAt = Math.max(row.statusAt, statusTime(update.status));
    }
    row.updatedAt = Math.max(row.updatedAt, at);
    row.version += updates.length;
    return { version: row.version, pushRev: this.pushConfigs.revisionOf(row.task.id) };
  }
}

/** Runs a synchronous operation so that its error becomes a rejection. */
function settled<T>(operation: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(operation());
  });
}

/** @throws {NotJsonError} before anything has been written */
function copyUpdates(updates: readonly TaskUpdate[]): TaskUpdate[] {
  return updates.map((update) => toJson(update) as unknown as TaskUpdate);
}

/** @throws {NotJsonError} before anything has been written */
function copyTask(task: Task): Task {
  return toJson(task) as unknown as Task;
}

/** Copies a task for a list, its artifacts only when they are asked for. */
function listedTask({ artifacts, ...task }: Task, withArtifacts: boolean): Task {
  return cloneJson(withArtifacts && artifacts ? { ...task, artifacts } : task);
}

function matches(row: Row, { tier, contextId, state, statusSince }: TaskQuery): boolean {
  return (
    isVisible(row, tier) &&
    (contextId === undefined || row.task.contextId === contextId) &&
    (state === undefined || row.task.status.state === state) &&
    (statusSince === undefined || row.statusAt >= statusSince)
  );
}

function byPlace(a: Row, b: Row): number {
  return compareCursors(placeOf(a), placeOf(b));
}
