import type { TaskKey } from '../store/task-key.js';
import type { TaskUpdate } from '../store/task-update.js';

/** Updates of a task that this process has stored in one write. Never changed by anyone. */
export interface StoredWrite {
  readonly key: TaskKey;
  readonly contextId: string;
  /** The version that the last of the updates gave the task. */
  readonly version: number;
  /** In order, at least one. */
  readonly updates: readonly TaskUpdate[];
  /** How often the push configs of the task have changed; 0: there has never been one. `undefined`: not known. */
  readonly pushRev: number | undefined;
}
