import type { PushConfigKey, PushConfigRecord } from './push-config.record.js';
import type { TaskKey } from './task-key.js';

/** A config that a worker has taken, and where its deliveries stand. */
export interface ClaimedPushConfig {
  readonly record: PushConfigRecord;
  /** The context of its task. */
  readonly contextId: string;
  /** The version of the last update that was delivered. */
  readonly delivered: number;
  /** How many attempts have failed since. */
  readonly attempts: number;
  /** For how long they have been failing, in milliseconds. */
  readonly failingFor: number;
}

/** What a claim asks for. */
export interface PushClaim {
  /** Who claims; every process has another name. */
  readonly worker: string;
  /** For how long the configs are the worker's, in milliseconds, unless it says more. */
  readonly lease: number;
  /** How many configs at most. */
  readonly limit: number;
  /** How many configs of one owner at most. */
  readonly perOwner: number;
  /** How many configs of an owner the worker has already. */
  readonly busy: ReadonlyMap<string, number>;
}

/**
 * Follows durable configs from one update of their tasks to the next.
 *
 * - One worker at a time has a config, and only who has it moves its cursor.
 * - Times are those of the store, so that the clocks of processes do not matter.
 * - While a config is not finished, the updates after its cursor are kept.
 */
export interface PushCursors {
  /** Takes configs that are due and whose tasks have updates after their cursor. */
  claim(claim: PushClaim): Promise<readonly ClaimedPushConfig[]>;

  /**
   * Notes that everything up to a version has been delivered, and keeps the config for another while.
   *
   * @param lease in milliseconds
   * @returns whether the config was still the worker's
   */
  advance(key: PushConfigKey, worker: string, version: number, lease: number): Promise<boolean>;

  /**
   * Lets a config go after an attempt has failed.
   *
   * @param delay how long it is left alone, in milliseconds
   */
  postpone(key: PushConfigKey, worker: string, delay: number): Promise<void>;

  /**
   * Lets a config go until its task has another update.
   *
   * @param rest for how long nobody looks whether it has, in milliseconds; {@link awaken} ends that, and an update
   *   that has come already lets it not begin
   */
  release(key: PushConfigKey, worker: string, rest: number): Promise<void>;

  /** Lets the configs of a task be looked at again that were left to rest, where it has an update for them. */
  awaken(task: TaskKey): Promise<void>;

  /** Lets a config go for good: its task has settled, or it was given up. */
  finish(key: PushConfigKey, worker: string): Promise<void>;
}
