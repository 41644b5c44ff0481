import type { Agent } from 'node:http';
import type { TargetPolicy } from '#outbound';
import type { PortOption } from '../context/port-option.js';

/**
 * How the agent notifies webhooks.
 *
 * @see A2A v1.0 §4.3 Push Notification Objects, §13.2 Push Notification Security
 */
export interface PushOptions {
  /**
   * `best-effort`: one attempt for each update, by the process that made it. `durable`: until the receiver has taken it, by
   * any process on the database; needs a database.
   * @default 'best-effort'
   */
  readonly delivery?: 'best-effort' | 'durable';
  /** Lets webhooks be on this machine and in private networks. For development and tests only. @default false */
  readonly allowPrivate?: boolean;
  /** Whether webhooks must be https. Credentials are not sent over http anyway, but with `allowPrivate`. @default false */
  readonly requireHttps?: boolean;
  /** Decides which webhooks may be called, in the place of `allowPrivate` and `requireHttps`. @default public hosts */
  readonly policy?: PortOption<TargetPolicy>;
  /**
   * A plain `http.Agent` or `https.Agent` is a template for connections: client certificates, TLS versions. Any other, such as
   * one with a proxy, is used as it is, after a check of the host that is weaker than the built-in one.
   */
  readonly agent?: Agent;
  /** How long one attempt may take altogether, in milliseconds. @default 10 seconds */
  readonly timeoutMs?: number;
  /** Configs that a task may have; the oldest beyond are removed. @default 8 */
  readonly maxConfigsPerTask?: number;
  /** Deliveries that may be under way at once in this process. @default 16 */
  readonly maxInFlight?: number;
  /** Deliveries of one owner that may be under way at once in this process. @default 4 */
  readonly maxInFlightPerOwner?: number;
  /** Best-effort notifications that may wait in this process; past that, a receiver gets the whole task instead. @default 16 */
  readonly maxWaiting?: number;
  /** Best-effort notifications of one owner that may wait; past that, a receiver gets the whole task instead. @default 4 */
  readonly maxWaitingPerOwner?: number;
  /** The headers that carry a config's token. @default ['A2A-Notification-Token'] */
  readonly tokenHeaders?: readonly string[];
  /** Whether Create, Get and List show the credentials of a config to who may see its task. @default false */
  readonly revealCredentials?: boolean;
  /**
   * Encrypts tokens and credentials at rest: keys of 32 bytes, as bytes or base64. The first one encrypts, all decrypt.
   * @default stored as they are
   */
  readonly encryptionKeys?: readonly (string | Uint8Array)[];
  /** Signs each notification with the keys of the card. Needs `signing`. @default false */
  readonly signed?: boolean;
  /** When a durable delivery is tried again. */
  readonly retry?: {
    /** After the first failure, in milliseconds; twice as long after each further one. @default 1 second */
    readonly minDelayMs?: number;
    /** In milliseconds. @default 5 minutes */
    readonly maxDelayMs?: number;
    /** For how long a receiver may fail until it is given up, in milliseconds. @default 24 hours */
    readonly giveUpAfterMs?: number;
  };
}
