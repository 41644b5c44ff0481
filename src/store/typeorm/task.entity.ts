import type { TaskState } from '#protocol';

/**
 * A row of `a2a_task`: what is changed with every update of a task, and what lists are made by.
 *
 * The columns of JSON are text here, so that what was written is read back to the letter.
 */
export class TaskEntity {
  id!: string;
  owner!: string;
  /** `''` for none. */
  tenant!: string;
  /** The scope set as canonical JSON, or `*` for an unnarrowed session. */
  scope!: string;
  contextId!: string;
  skillId!: string;
  /** Epoch milliseconds. */
  createdAt!: number;
  /** Epoch milliseconds. */
  updatedAt!: number;
  /** Epoch milliseconds of the last change of status. */
  statusAt!: number;
  version!: number;
  state!: TaskState;
  /** The current TaskStatus, as JSON. */
  status!: string;
  /** The run that may write; `null` when the task is paused or settled. */
  runId!: string | null;
  /** The process of that run; `null` when there is no run, or its process has never said that it lives. */
  replica!: string | null;
  /** How often push notification configs of the task have changed; 0 when it never had one. */
  pushRev!: number;
}

/** A row of `a2a_task_snapshot`: the rest of a task, as it was at one version. Apart, since SQLite writes rows whole. */
export class TaskSnapshotEntity {
  taskId!: string;
  version!: number;
  /** The Messages, as JSON. */
  history!: string;
  /** The Artifacts, as JSON. */
  artifacts!: string;
  /** The metadata, as JSON; `null` for none. */
  metadata!: string | null;
}

/** A row of `a2a_task_event`: one update of a task. */
export class TaskEventEntity {
  taskId!: string;
  /** The version that the update gave the task. */
  version!: number;
  /** `status`, `artifact` or `message`. */
  kind!: string;
  /** The update, as JSON. */
  json!: string;
}

/** A row of `a2a_push_config`: where somebody wants to be told of a task's updates. */
export class PushConfigEntity {
  taskId!: string;
  id!: string;
  owner!: string;
  /** Epoch milliseconds. */
  createdAt!: number;
  /** The TaskPushNotificationConfig, as JSON; without what is sealed. */
  config!: string;
  /** Its secrets, encrypted; `null` when they stand in the config. */
  sealed!: string | null;
  /** 1 when it is kept book of what was delivered, else 0. */
  durable!: number;
  /** The version of the last update that was delivered. */
  delivered!: number;
  /** When the next delivery may begin, in epoch milliseconds; `null` when there is none to come. */
  dueAt!: number | null;
  /** How many attempts at the next delivery have failed. */
  attempts!: number;
  /** Epoch milliseconds since when they have; `null` when none has. */
  failingSince!: number | null;
  /** The process that delivers. */
  claimedBy!: string | null;
  /** Epoch milliseconds until when no other one may. */
  claimedUntil!: number | null;
}

/** A row of `a2a_task_count`: how many tasks a tier has, so that a list need not count them. */
export class TaskCountEntity {
  owner!: string;
  tenant!: string;
  scope!: string;
  count!: number;
}

/** A row of `a2a_replica`: a process, and until when it is believed to live. */
export class ReplicaEntity {
  id!: string;
  /** Epoch milliseconds by the clock of the database. */
  expiresAt!: number;
}

/** The entities of all tables, by what the tables hold. */
export const TABLE_ENTITIES = {
  task: TaskEntity,
  snapshot: TaskSnapshotEntity,
  event: TaskEventEntity,
  count: TaskCountEntity,
  pushConfig: PushConfigEntity,
  replica: ReplicaEntity,
} as const;
