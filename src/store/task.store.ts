import type { Task, TaskState } from '#protocol';
import type { Tier } from '../context/tier.js';
import type { ListCursor } from './cursor.js';
import type { PushConfigRecord } from './push-config.record.js';
import type { PushConfigStore } from './push-config.store.js';
import type { ChannelListener, StoreChannel } from './store-channel.js';
import type { RunLeases } from './run-leases.js';
import type { TaskKey } from './task-key.js';
import type { TaskRecord } from './task-record.js';
import type { StatusUpdate, TaskUpdate, VersionedUpdate } from './task-update.js';

/** A task that is to be written for the first time, with the updates that were ready by then. */
export interface TaskDraft extends Tier {
  /** The task as created, before any of the updates. */
  readonly task: Task;
  readonly skillId: string;
  /** The run that may write to the task; `null` when the updates already end or pause it. */
  readonly runId: string | null;
  readonly updates: readonly TaskUpdate[];
  /** Epoch milliseconds. */
  readonly at: number;
  /** A push config that comes with the task, for a store that has {@link TaskStore.pushConfigs}. */
  readonly push?: PushConfigDraft;
}

/** A push config that is written together with its task. */
export interface PushConfigDraft {
  readonly record: PushConfigRecord;
  /** How many configs the task may have; the oldest beyond go. At least 1. */
  readonly keep: number;
}

/** What a write led to. */
export interface TaskWritten {
  readonly version: number;
  /** How often the push configs of the task have changed; 0: there has never been one. Absent: the store does not know. */
  readonly pushRev?: number;
}

/** Updates that the run of a task adds to it. */
export interface TaskAppend {
  readonly key: TaskKey;
  /** The version that the writer last knew. */
  readonly expected: number;
  /** The run that may write afterwards; `null` when the updates end or pause the task. */
  readonly runId: string | null;
  /** At least one. */
  readonly updates: readonly TaskUpdate[];
  /** Epoch milliseconds. */
  readonly at: number;
  /** The whole task after the updates, for stores that keep it whole. */
  readonly task: () => Task;
  /** A push config that comes with the updates, in the place of one of its id; see {@link TaskDraft.push}. */
  readonly push?: PushConfigDraft;
}

/** A change of status by someone who is not the task's run. */
export interface TaskSettle {
  readonly key: TaskKey;
  /** The states in which the task may be for this to happen. */
  readonly guard: readonly TaskState[];
  readonly update: StatusUpdate;
  /** The run that must be the one that may write. @default whichever it is */
  readonly runId?: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Which tasks a list shows, and from where. */
export interface TaskQuery {
  /** The caller's tier. A store that does not filter tiers may look at the owner alone. */
  readonly tier: Tier;
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Epoch milliseconds; tasks whose status is as old as this or newer. */
  readonly statusSince?: number;
  /** Only what stands behind this place. */
  readonly after?: ListCursor;
  /** How many records at most; at least 1. */
  readonly limit: number;
  /** Whether the artifacts are asked for. */
  readonly artifacts: boolean;
}

/** A page of tasks. */
export interface TaskPage {
  readonly records: readonly TaskRecord[];
  /** How many tasks match, on all pages. */
  readonly total: number;
  /** Whether more stand behind the last record. */
  readonly more: boolean;
}

/**
 * Keeps tasks. The port that every store implements, and the token under which it is injected.
 *
 * - What is written is visible to every later read, and whole: an operation happens or does not.
 * - Records are copies on the way in and on the way out.
 * - Owner, tenant and scope of a task never change.
 * - `status_at` of a task never decreases, and the version grows by one per update.
 *
 * A store that is written by hand is checked with the contract suite.
 */
export abstract class TaskStore {
  /**
   * Whether {@link list} shows a caller only the tasks of its own tier. A store that leaves this `false` is asked for
   * all tasks of the owner instead.
   */
  readonly filtersTiers: boolean = false;

  /** What tells which processes are alive, for a store that several of them may share. */
  readonly leases?: RunLeases;

  /**
   * The push configs of the tasks. A store that has it writes those that come with a task in the same write; without it
   * there are no push notifications.
   */
  readonly pushConfigs?: PushConfigStore;

  /**
   * Writes a new task at version `updates.length`.
   *
   * @throws {TaskRecordConflictError} when a task of this id exists; nothing is overwritten
   */
  abstract create(draft: TaskDraft): Promise<void>;

  /**
   * Adds updates to a task that is still at the expected version.
   *
   * @throws {TaskRecordConflictError} when the task has another version
   * @throws {TaskRecordNotFoundError} when there is no such task of this owner
   */
  abstract append(append: TaskAppend): Promise<TaskWritten>;

  /**
   * Changes the status of a task that is in one of the guard's states, whatever its version, and takes the right to
   * write from its run.
   *
   * @returns `null` when the task is in none of those states or not there
   */
  abstract settle(settle: TaskSettle): Promise<TaskWritten | null>;

  /**
   * Removes a task that is still at the expected version.
   *
   * @returns whether it was removed
   */
  abstract discard(key: TaskKey, expected: number): Promise<boolean>;

  /**
   * Reads a task.
   *
   * @param signal aborts when nobody waits for the answer any more
   * @throws {TaskRecordNotFoundError} for an unknown id and for a task of another owner alike
   */
  abstract read(key: TaskKey, signal?: AbortSignal): Promise<TaskRecord>;

  /**
   * Lists tasks, newest status first.
   *
   * @param signal aborts when nobody waits for the answer any more
   */
  abstract list(query: TaskQuery, signal?: AbortSignal): Promise<TaskPage>;

  /**
   * Reads the updates of a task after a version, oldest first and without a gap between them. Those that the store no
   * longer keeps one by one are missing at the beginning: that the first has the next version is for the caller to check.
   *
   * @param limit how many at most; at least 1. @default all of them
   * @returns none for an unknown id and for a task of another owner alike
   */
  eventsAfter?(key: TaskKey, version: number, limit?: number): Promise<readonly VersionedUpdate[]>;

  /**
   * Reads the current versions of many tasks at once, by id. A task that is not there, or is another owner's, is missing.
   */
  versionsOf?(keys: readonly TaskKey[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Opens a channel to the other processes that use this store, when it has one. Each call opens another one, which is
   * closed before the store is. Without a channel the versions of tasks are looked up twice a second.
   */
  openChannel?(listener: ChannelListener): StoreChannel | undefined;

  /** Gives up what the store holds of its own, such as a connection. Called when the application is closed. */
  close?(): Promise<void>;

  /**
   * Removes the oldest settled tasks of one tier. A store without it keeps a retention policy of its own.
   *
   * @param keep how many settled tasks of the tier stay
   */
  trim?(tier: Tier, keep: number): Promise<void>;
}
