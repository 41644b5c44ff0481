import { cloneJson, formatTimestamp, TaskState, type Message, type Task } from '#protocol';
import type { Tier } from '../context/tier.js';
import type { TaskRecord } from '../store/task-record.js';
import type { PushConfigDraft } from '../store/task.store.js';

/** A task as its run takes it over: one not yet written, or one that the store holds. */
export interface TaskSeed extends Tier {
  readonly task: Task;
  readonly skillId: string;
  /** `null` while no row has been written. */
  readonly version: number | null;
  /** Epoch milliseconds. */
  readonly statusAt: number;
  /** A push config that is written with the first write of the run. */
  readonly push?: PushConfigDraft | undefined;
}

/** What a new task is made of. */
export interface NewTask extends Tier {
  readonly id: string;
  readonly contextId: string;
  /** The message that starts it, with the ids of the task on it. */
  readonly message: Message;
  readonly skillId: string;
  readonly skillMetadataKey: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly push?: PushConfigDraft | undefined;
}

/** Makes the seed of a task that nobody has been told of yet. */
export function seedTask(draft: NewTask): TaskSeed {
  const { id, contextId, message, skillId, skillMetadataKey, now, owner, tenant, scope, push } = draft;
  return {
    task: {
      id,
      contextId,
      status: { state: TaskState.Submitted, timestamp: formatTimestamp(now) },
      history: [cloneJson(message)],
      ...(skillId && { metadata: { [skillMetadataKey]: skillId } }),
    },
    owner,
    tenant,
    scope,
    skillId,
    version: null,
    statusAt: now,
    push,
  };
}

/** Takes over a task that has been read from the store. The record must not be used otherwise from then on. */
export function seedFromRecord(
  { task, owner, tenant, scope, skillId, version, statusAt }: TaskRecord,
  push?: PushConfigDraft,
): TaskSeed {
  return { task, owner, tenant, scope, skillId, version, statusAt, push };
}
