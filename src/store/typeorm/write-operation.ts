import type { TaskWritten } from '../task.store.js';
import type { TaskSnapshot } from './row-mapping.js';

/** An update on its way to its row. */
export interface EventRow {
  readonly kind: string;
  readonly json: string;
}

/** A push config on its way to its row, together with its task. */
export interface PushConfigRow {
  readonly id: string;
  readonly createdAt: number;
  readonly config: string;
  readonly sealed: string | null;
  /** 1 or 0. */
  readonly durable: number;
  /** How many configs the task may have; the oldest beyond go. */
  readonly keep: number;
}

/** A task that is to be inserted. */
export interface InsertOperation {
  readonly kind: 'insert';
  readonly id: string;
  readonly owner: string;
  readonly tenant: string;
  readonly scope: string;
  readonly contextId: string;
  readonly skillId: string;
  readonly at: number;
  readonly statusAt: number;
  readonly version: number;
  readonly state: string;
  readonly status: string;
  readonly runId: string | null;
  /** The process of that run, when it is known to live. */
  readonly replica: string | null;
  readonly snapshot: TaskSnapshot;
  /** The version of the snapshot. */
  readonly snapshotVersion: number;
  /** The updates after the snapshot, from version 1 on. */
  readonly events: readonly EventRow[];
  readonly push: PushConfigRow | null;
}

/** A task that is to be changed, if it is as expected. */
export interface ChangeOperation {
  readonly kind: 'change';
  readonly id: string;
  readonly owner: string;
  /** The version that it must have; `null` when it does not matter. */
  readonly expected: number | null;
  /** The states in which it must be; `null` when it does not matter. */
  readonly guard: readonly string[] | null;
  /** The run that must be the one that may write; `null` when it does not matter. */
  readonly heldBy: string | null;
  readonly events: readonly EventRow[];
  readonly at: number;
  /** The new status; `null` when it stays. */
  readonly status: { readonly state: string; readonly json: string; readonly at: number } | null;
  readonly runId: string | null;
  /** The process of that run, when it is known to live. */
  readonly replica: string | null;
  /** The task after the change, when it is time to write it whole. */
  readonly snapshot: TaskSnapshot | null;
  readonly push: PushConfigRow | null;
}

/** A task that is to be removed with its updates, if it is as expected. */
export interface RemoveOperation {
  readonly kind: 'remove';
  readonly id: string;
  readonly owner: string;
  /** The version that it must have; `null` when it does not matter. */
  readonly expected: number | null;
}

/** A task whose updates are to be removed, if it is as expected. */
export interface CompactOperation {
  readonly kind: 'compact';
  readonly id: string;
  readonly owner: string;
  /** The version that it must have. */
  readonly expected: number;
  /** The task as a whole; `null` when it is written so already. */
  readonly snapshot: TaskSnapshot | null;
}

/** A write to one task. */
export type WriteOperation = InsertOperation | ChangeOperation | RemoveOperation | CompactOperation;

/** What became of a write: what it led to or found, or `null` when the task was not as expected. */
export type WriteResult = TaskWritten | null;

/** Writes operations, each on another task, all in one go. */
export interface BatchWriter {
  /**
   * @param operations each on another task, in the order of their ids
   * @returns a result for each
   * @throws {Error} when none of them is known to have been written
   */
  write(operations: readonly WriteOperation[]): Promise<readonly WriteResult[]>;
  /**
   * Notes that a process lives.
   *
   * @param lease for how long, in milliseconds
   * @returns whether it was believed to live until now
   */
  beat(replica: string, lease: number): Promise<boolean>;
  /** Notes that a process does not live any more. */
  leave(replica: string): Promise<void>;
  close(): Promise<void>;
}
