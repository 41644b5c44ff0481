import type { Subscription } from 'rxjs';
import type { TaskKey } from '../store/task-key.js';
import { streamEntry, type StreamEntry } from './stream-entry.js';
import type { TaskEventBus } from './task-event.bus.js';

/** How much of a task's newest updates is kept for those who stream it, in UTF-16 units of JSON. */
const CAPACITY = 256 * 1024;

/**
 * What a feed has for someone who has seen a task up to a version: the next entry, nothing yet, no longer, or nothing any
 * more, since the task was removed.
 */
export type FeedAnswer = StreamEntry | 'nothing yet' | 'gone' | 'ended';

/**
 * The newest updates of one task, encoded once for all who stream it.
 *
 * - Entries have consecutive versions; a version that is skipped empties the feed.
 * - What a reader sees depends on where it stands, and never on how fast another one is.
 */
export class TaskFeed {
  private entries: StreamEntry[] = [];
  private size = 0;
  private readonly waiting = new Set<() => void>();
  private readonly following: Subscription;

  /** Up to this version updates have gone by unseen. */
  private missedUpTo = 0;
  private isRemoved = false;

  /** @param after the version of the task as it is known; absent: not yet, see {@link seen} */
  constructor(
    private readonly bus: TaskEventBus,
    private readonly key: TaskKey,
    contextId: string,
    after?: number,
  ) {
    this.following = bus.follow(
      key,
      ({ version, update }) => {
        this.add(streamEntry(key.id, contextId, version, update));
      },
      {
        ...(after !== undefined && { after }),
        missed: (version) => {
          this.miss(version);
        },
        removed: () => {
          this.isRemoved = true;
          this.wake();
        },
      },
    );
  }

  /** Says as of which version the task is known: what others do to it from then on is in the feed, too. */
  seen(version: number): void {
    this.bus.seen(this.key, version);
  }

  /** The version of the newest entry; 0 when there is none. */
  get newest(): number {
    return this.entries.at(-1)?.version ?? 0;
  }

  /** @param version what the reader has seen */
  after(version: number): FeedAnswer {
    const first = this.entries[0];
    if (version < this.missedUpTo) return 'gone';
    if (this.isRemoved && version >= this.newest) return 'ended';
    if (!first || version >= first.version + this.entries.length - 1) return 'nothing yet';
    return this.entries[version + 1 - first.version] ?? 'gone';
  }

  /** Waits for the next entry, or until the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      if (signal.aborted) {
        resolve();
        return;
      }
      this.waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  close(): void {
    this.following.unsubscribe();
  }

  private add(entry: StreamEntry): void {
    const last = this.entries.at(-1);
    if (last && entry.version <= last.version) return;
    if (last && entry.version !== last.version + 1) this.clear();
    this.entries.push(entry);
    this.size += sizeOf(entry);
    this.forget();
    this.wake();
  }

  private miss(version: number): void {
    this.missedUpTo = version;
    this.clear();
    this.wake();
  }

  private wake(): void {
    for (const wake of [...this.waiting]) wake();
  }

  /** Drops the oldest entries past the capacity, but never the newest one. */
  private forget(): void {
    let count = 0;
    while (this.size > CAPACITY && count < this.entries.length - 1) {
      const oldest = this.entries[count];
      if (oldest) this.size -= sizeOf(oldest);
      count++;
    }
    if (count > 0) this.entries.splice(0, count);
  }

  private clear(): void {
    this.entries = [];
    this.size = 0;
  }
}

function sizeOf({ json }: StreamEntry): number {
  return json?.length ?? 0;
}
