import type { TaskKey } from '../store/task-key.js';

/**
 * How updates of other processes come: as soon as a channel tells of them, when they are looked for, or not at all, since
 * the store is this process's alone.
 */
export type RelayState = 'connected' | 'polling' | 'none';

/**
 * Brings the updates that other processes store to the followers in this one, and tells the others of its own.
 *
 * The bus calls it; it never keeps the bus waiting.
 */
export abstract class TaskEventRelay {
  abstract get state(): RelayState;
  /** Begins to serve the bus. */
  abstract start(): void;
  /** Ends it, once what was announced has been sent. Never rejects. */
  abstract stop(): Promise<void>;
  /** Tells other processes that a task has been brought to a version. */
  abstract announce(key: TaskKey, version: number): void;
  /** Begins to look after a task that somebody follows here. */
  abstract watch(key: TaskKey): void;
  /** Ends that. */
  abstract unwatch(key: TaskKey): void;
  /**
   * Looks at a watched task again.
   *
   * @param version what it is known to be at, when that is known
   */
  abstract wake(key: TaskKey, version?: number): void;
}

/** Nothing to do where no other process can see the tasks. */
export class SilentEventRelay extends TaskEventRelay {
  readonly state = 'none';

  start(): void {
    return;
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  announce(): void {
    return;
  }

  watch(): void {
    return;
  }

  unwatch(): void {
    return;
  }

  wake(): void {
    return;
  }
}
