import type { Artifact, JsonObject, Message, Task, TaskStatus } from '#protocol';
import type { TaskRecord } from '../task-record.js';
import { applyUpdate } from '../task-reducer.js';
import type { TaskUpdate } from '../task-update.js';
import type { TaskEntity } from './task.entity.js';

/** The columns that hold a task as of one version. */
export interface TaskSnapshot {
  readonly history: string;
  readonly artifacts: string;
  readonly metadata: string | null;
}

/** Writes a task into the columns of a snapshot. */
export function snapshotOf({ history = [], artifacts = [], metadata }: Task): TaskSnapshot {
  return {
    history: JSON.stringify(history),
    artifacts: JSON.stringify(artifacts),
    metadata: metadata ? JSON.stringify(metadata) : null,
  };
}

/** A snapshot, whose artifacts may not have been asked for, and the updates after it. */
export interface SnapshotRow {
  readonly history: string;
  readonly artifacts?: string;
  readonly metadata: string | null;
  /** A JSON array; `null` for none. */
  readonly events: string | null;
}

/**
 * Makes a record of a task's rows.
 *
 * @param maxHistory how many messages the history keeps
 */
export function recordOf(row: TaskEntity, snapshot: SnapshotRow, maxHistory: number): TaskRecord {
  const { history, artifacts = '[]', metadata, events } = snapshot;
  const task: Task = {
    id: row.id,
    contextId: row.contextId,
    status: JSON.parse(row.status) as TaskStatus,
    artifacts: JSON.parse(artifacts) as Artifact[],
    history: JSON.parse(history) as Message[],
    ...(metadata !== null && { metadata: JSON.parse(metadata) as JsonObject }),
  };
  const updates = events === null ? [] : (JSON.parse(events) as TaskUpdate[]);
  for (const update of updates) applyUpdate(task, update, maxHistory);
  const { owner, tenant, scope, skillId, runId, version, createdAt, updatedAt, statusAt } = row;
  return {
    task: withoutEmptyLists(task),
    owner,
    tenant,
    scope,
    skillId,
    runId,
    version,
    createdAt,
    updatedAt,
    statusAt,
  };
}

/** A task that has nothing of a kind has no list of it either. */
function withoutEmptyLists({ artifacts = [], history = [], ...task }: Task): Task {
  return { ...task, ...(artifacts.length > 0 && { artifacts }), ...(history.length > 0 && { history }) };
}
