import type { A2AError, Message } from '#protocol';

/** How a run ended, for those who wait for its answer. */
export type RunOutcome =
  /** The task is settled or paused, and stored so. */
  | { readonly kind: 'task' }
  /** Someone else settled the task: what it is now, the store knows. */
  | { readonly kind: 'elsewhere' }
  /** The skill answered with a Message, and no task is left. */
  | { readonly kind: 'message'; readonly message: Message }
  /** Neither could be had. */
  | { readonly kind: 'error'; readonly error: A2AError };
