import type { TaskPushNotificationConfig } from '#protocol';

/** A push notification config as a store knows it. */
export interface PushConfigRecord {
  /** What the client asked for; without what is in {@link sealed}. */
  readonly config: TaskPushNotificationConfig & { readonly id: string; readonly taskId: string };
  /** Its secrets, encrypted. Absent: they stand in the config. */
  readonly sealed?: string;
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Whether its deliveries go on from where they were, in any process; see `PushConfigStore.cursors`. */
  readonly durable?: true;
}

/** Which config: its id, that of its task, and the owner in whose name it is asked for. */
export interface PushConfigKey {
  readonly id: string;
  readonly taskId: string;
  readonly owner: string;
}
