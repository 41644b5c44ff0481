import { ReplayStore, ReplayStoreFullError } from './replay-store.js';

/** How {@link MemoryReplayStore} differs from the usual one. */
export interface MemoryReplayStoreOptions {
  /** How many ids it holds at most. @default 100,000 */
  readonly maxEntries?: number;
  /** Epoch milliseconds. @default the clock of the machine */
  readonly now?: () => number;
}

const DEFAULT_MAX_ENTRIES = 100_000;

/**
 * A {@link ReplayStore} in the memory of one process.
 *
 * - It is bounded, and refuses when it is full: nothing is forgotten before its time.
 * - It forgets what the age of a notification refuses anyway, at most a second late.
 * - A process that starts anew remembers nothing: what was accepted in the last minutes before could be replayed once.
 */
export class MemoryReplayStore extends ReplayStore {
  private readonly ids = new Set<string>();
  /** The ids by the second in which they are forgotten, so that nobody has to look through all of them. */
  private readonly bySecond = new Map<number, string[]>();
  private readonly maxEntries: number;
  private readonly now: () => number;
  private sweptIn = -Infinity;

  /** @throws {TypeError} When it could hold nothing. */
  constructor({ maxEntries = DEFAULT_MAX_ENTRIES, now = Date.now }: MemoryReplayStoreOptions = {}) {
    super();
    if (!(maxEntries >= 1)) throw new TypeError('maxEntries has to be 1 or more');
    this.maxEntries = maxEntries;
    this.now = now;
  }

  /** How many ids it holds. */
  get size(): number {
    return this.ids.size;
  }

  /** @throws {ReplayStoreFullError} */
  remember(id: string, until: number): boolean {
    this.sweep();
    if (this.ids.has(id)) return false;
    if (this.ids.size >= this.maxEntries) {
      throw new ReplayStoreFullError('There is no room to remember another notification.');
    }
    this.ids.add(id);
    const second = Math.floor(until / 1_000);
    const ids = this.bySecond.get(second);
    if (ids) ids.push(id);
    else this.bySecond.set(second, [id]);
    return true;
  }

  private sweep(): void {
    const current = Math.floor(this.now() / 1_000);
    if (current === this.sweptIn) return;
    this.sweptIn = current;
    for (const [second, ids] of this.bySecond) {
      if (second >= current) continue;
      for (const id of ids) this.ids.delete(id);
      this.bySecond.delete(second);
    }
  }
}
