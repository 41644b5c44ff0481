import type { TaskKey } from '../store/task-key.js';
import type { TaskUpdate } from '../store/task-update.js';

/** An update that has been stored, on its way to those who follow the task. Never changed by anyone. */
export interface TaskEvent {
  readonly key: TaskKey;
  /** The version that the update gave the task. */
  readonly version: number;
  readonly update: TaskUpdate;
  /** The run that made the update; `null` when someone else settled the task. */
  readonly runId: string | null;
}
