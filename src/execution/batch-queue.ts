import { setImmediate } from 'node:timers/promises';

/** For how long batches may follow one another without a pause, in milliseconds. */
const MAX_TURN = 10;

/** A call whose items wait for their batch. */
interface Waiting<T> {
  readonly items: readonly T[];
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Hands items on in batches: one batch at a time, in order, each with everything that waits by then.
 *
 * - Calls that follow one another at once share a batch.
 * - When a batch fails, what waits behind it fails with it: it was built on it.
 */
export class BatchQueue<T> {
  private waiting: Waiting<T>[] = [];
  private working: Promise<void> | undefined;
  private gaveWayAt = performance.now();

  /** @param handle takes one batch; it may throw */
  constructor(private readonly handle: (batch: readonly T[]) => Promise<void>) {}

  /** The items that no batch has taken yet. */
  get items(): readonly T[] {
    return this.waiting.flatMap(({ items }) => items);
  }

  /**
   * Adds the items of one call, which may be none. They share one batch.
   *
   * @throws {Error} what the batch threw. Nobody has to look at it.
   */
  add(items: readonly T[]): Promise<void> {
    const handled = new Promise<void>((resolve, reject) => {
      this.waiting.push({ items, resolve, reject });
    });
    handled.catch(() => undefined);
    this.working ??= this.work();
    return handled;
  }

  /** Rejects everything that no batch has taken yet. */
  reject(reason: unknown): void {
    const rejected = this.waiting;
    this.waiting = [];
    rejected.forEach(({ reject }) => {
      reject(reason);
    });
  }

  /** Waits until nothing is left to do. */
  async idle(): Promise<void> {
    await this.working;
  }

  private async work(): Promise<void> {
    // Gives calls that follow at once the time to join.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      await this.giveWay();
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.handle(batch.flatMap(({ items }) => items));
        batch.forEach(({ resolve }) => {
          resolve();
        });
      } catch (error) {
        batch.forEach(({ reject }) => {
          reject(error);
        });
        this.reject(error);
      }
    }
    this.working = undefined;
  }

  /** Batches that are handled without a pause would keep the process from everything else. */
  private async giveWay(): Promise<void> {
    const now = performance.now();
    if (now - this.gaveWayAt < MAX_TURN) return;
    await setImmediate();
    this.gaveWayAt = performance.now();
  }
}
