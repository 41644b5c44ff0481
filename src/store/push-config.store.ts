import type { PushConfigKey, PushConfigRecord } from './push-config.record.js';
import type { PushCursors } from './push-cursors.js';

/**
 * Keeps push notification configs. The port that every store implements, and the token under which it is injected.
 *
 * - A config is known by its task and its id; the same id on another task is another config.
 * - Records are copies on the way in and on the way out.
 * - The configs of a task that is removed go with it.
 *
 * @see A2A v1.0 §4.3.1 PushNotificationConfig
 */
export abstract class PushConfigStore {
  /** What follows the configs from one update to the next, for deliveries that outlive the process. */
  readonly cursors?: PushCursors;

  /**
   * Keeps a config, as the newest of its task.
   *
   * @param keep how many configs the task may have; the oldest beyond go. At least 1.
   * @throws {PushConfigConflictError} when the task has a config of this id; nothing is overwritten
   * @throws {TaskRecordNotFoundError} when the store sees that there is no such task of this owner
   */
  abstract create(record: PushConfigRecord, keep: number): Promise<void>;

  /**
   * @param signal aborts when nobody waits for the answer any more
   * @returns `undefined` for an unknown config and for one of another owner alike
   */
  abstract read(key: PushConfigKey, signal?: AbortSignal): Promise<PushConfigRecord | undefined>;

  /**
   * The configs of a task, oldest first.
   *
   * @param signal aborts when nobody waits for the answer any more
   */
  abstract list(
    task: Pick<PushConfigKey, 'taskId' | 'owner'>,
    signal?: AbortSignal,
  ): Promise<readonly PushConfigRecord[]>;

  /** Removes a config, if it is there. */
  abstract remove(key: PushConfigKey): Promise<void>;
}
