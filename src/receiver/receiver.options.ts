/** The injection token of the {@link ReceiverOptions}, which need not be there. */
export const A2A_RECEIVER_OPTIONS = Symbol('A2A_RECEIVER_OPTIONS');

/** How notifications are received. */
export interface ReceiverOptions {
  /** The largest notification that is read, in bytes: an agent may send whole tasks. @default 16 MiB */
  readonly maxBodyBytes?: number;
}

/** 16 MiB, which is also the largest task of an agent of this package. */
export const DEFAULT_MAX_NOTIFICATION_BYTES = 16 * 1024 * 1024;
