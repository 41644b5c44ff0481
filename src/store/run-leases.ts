import type { Tier } from '../context/tier.js';

/** A run whose process has not been heard of for too long. */
export interface LostRun extends Tier {
  readonly taskId: string;
  readonly contextId: string;
  readonly runId: string;
  /** Epoch milliseconds of the last change of status. */
  readonly statusAt: number;
}

/**
 * Which processes are alive, and so which runs are. Times are told by the clock of the store alone.
 *
 * A run belongs to a process from {@link beat} on: runs that were begun before it are nobody's, and never lost.
 */
export interface RunLeases {
  /**
   * Notes that this process lives.
   *
   * @param lease for how long it is believed to, in milliseconds
   * @returns whether it was believed to live until now
   */
  beat(lease: number): Promise<boolean>;
  /** Notes that this process ends: whatever it still runs is lost. */
  leave(): Promise<void>;
  /**
   * Finds runs of processes that are not believed to live.
   *
   * @param limit how many at most
   */
  lost(limit: number): Promise<readonly LostRun[]>;
  /** Does something unless another process is just doing something in this way. */
  exclusively(work: () => Promise<void>): Promise<void>;
  /**
   * Removes the updates, one by one, of tasks that settled before a time. The tasks stay as they are.
   *
   * @param settledBefore epoch milliseconds
   */
  sweepUpdates(settledBefore: number): Promise<void>;
}
