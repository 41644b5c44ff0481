/**
 * Carries short texts between the processes that share a store.
 *
 * It may lose some: whoever depends on them looks for itself from time to time.
 */
export interface StoreChannel {
  /**
   * Sends a text to the other processes.
   *
   * @throws {Error} when it is not known to have been sent
   */
  send(text: string): Promise<void>;
  /** Ends the channel. Never rejects. */
  close(): Promise<void>;
}

/** What a channel tells. */
export interface ChannelListener {
  /** A text of another process. */
  message(text: string): void;
  /** Texts arrive from now on. Some may have been lost before. */
  opened(): void;
  /** No texts arrive until further notice. */
  lost(): void;
}
