import type { TaskPushNotificationConfig } from '#protocol';

/** A push notification config as a store knows it. Nothing but `config` ever goes on the wire. */
export interface PushConfigRecord {
  readonly config: TaskPushNotificationConfig & { readonly id: string; readonly taskId: string };
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Which config: its id, that of its task, and the owner in whose name it is asked for. */
export interface PushConfigKey {
  readonly id: string;
  readonly taskId: string;
  readonly owner: string;
}

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
  /** @throws {PushConfigConflictError} when the task has a config of this id; nothing is overwritten */
  abstract create(record: PushConfigRecord): Promise<void>;

  /** @returns `undefined` for an unknown config and for one of another owner alike */
  abstract read(key: PushConfigKey): Promise<PushConfigRecord | undefined>;

  /** The configs of a task, oldest first. */
  abstract list(task: Pick<PushConfigKey, 'taskId' | 'owner'>): Promise<readonly PushConfigRecord[]>;

  /** Removes a config, if it is there. */
  abstract remove(key: PushConfigKey): Promise<void>;
}
