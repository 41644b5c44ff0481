/** Below this much of updates, in characters, a task is not written whole. */
const MIN_LOG = 64 * 1024;

/** What is known of a task's rows. */
interface Sizes {
  readonly log: number;
  readonly snapshot: number;
}

/**
 * Decides when a task is written whole: when the updates since the last time outweigh it. As both double, the total that
 * is written grows with the task and not with its square.
 */
export class SnapshotPolicy {
  private readonly sizes = new Map<string, Sizes>();

  /**
   * Notes updates that are about to be added to a task.
   *
   * @param size the length of their JSON texts
   * @returns whether the task is to be written whole along with them
   */
  isDue(id: string, size: number): boolean {
    const { log, snapshot } = this.sizes.get(id) ?? { log: 0, snapshot: 0 };
    this.sizes.set(id, { log: log + size, snapshot });
    return log + size > Math.max(MIN_LOG, snapshot);
  }

  /** Notes that a task was written whole. */
  written(id: string, size: number): void {
    this.sizes.set(id, { log: 0, snapshot: size });
  }

  /** Forgets a task that has no run here any more. */
  forget(id: string): void {
    this.sizes.delete(id);
  }
}
