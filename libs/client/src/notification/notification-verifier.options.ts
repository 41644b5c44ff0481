import type { JwkSet } from '../jwk-set.js';
import type { JwksFetch } from '../jwks-fetch.js';
import type { ReplayStore } from './replay-store.js';

/** Whom a `NotificationVerifier` believes. A token, or keys, have to be there. */
export interface NotificationVerifierOptions {
  /**
   * The token that was given to the agent with the webhook: one, or that of each task. A task without one has no
   * notifications. @default none is asked for
   */
  readonly token?: string | ((taskId: string) => string | undefined | Promise<string | undefined>);
  /** The header that carries the token. @default 'A2A-Notification-Token' */
  readonly tokenHeader?: string;
  /** The public keys of the agent, when they are known. */
  readonly keys?: JwkSet;
  /** Where the agent publishes its public keys; over https. Asked for the `kid`s that `keys` does not have. */
  readonly jwksUrl?: string | URL;
  /** Reads the key set. @default over https, from public hosts, without redirects, at most 64 KiB */
  readonly fetchJwks?: JwksFetch;
  /** Whether notifications without a signature are refused. @default true when there are keys */
  readonly requireSignature?: boolean;
  /** Whether we have sent off a task of that id, and may hear of it. It is asked only for senders who are known. */
  readonly isExpected: (taskId: string) => boolean | Promise<boolean>;
  /** How old a signature may be, in milliseconds. @default 5 minutes */
  readonly maxAgeMs?: number;
  /** How far the clock of the agent may be ahead of ours, in milliseconds. @default 30 seconds */
  readonly clockToleranceMs?: number;
  /** Remembers the signed notifications that were accepted. @default in the memory of this process */
  readonly replays?: ReplayStore;
  /** Epoch milliseconds. @default the clock of the machine */
  readonly now?: () => number;
}
