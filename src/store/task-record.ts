import type { Task } from '#protocol';
import type { Tier } from '../context/tier.js';

/** A task as a store knows it. Nothing but `task` ever goes on the wire. */
export interface TaskRecord extends Tier {
  readonly task: Task;
  /** The skill that runs the task; `''` when no skill could be found for it. */
  readonly skillId: string;
  /** How many updates the task has seen since it was created. */
  readonly version: number;
  /** The run that may write to the task; `null` when it is paused or settled. */
  readonly runId: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
  /** Epoch milliseconds of the last change of status. Never decreases. */
  readonly statusAt: number;
}
