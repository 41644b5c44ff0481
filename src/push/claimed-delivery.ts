import { Logger } from '@nestjs/common';
import { encode, isInterrupted, isTerminal, scrub, type TaskState } from '#protocol';
import { describeError } from '../context/describe-error.js';
import { streamEntry } from '../events/stream-entry.js';
import type { PushConfigKey } from '../store/push-config.record.js';
import type { ClaimedPushConfig, PushCursors } from '../store/push-cursors.js';
import { isRecordNotFound } from '../store/store-errors.js';
import type { VersionedUpdate } from '../store/task-update.js';
import type { TaskKey } from '../store/task-key.js';
import { describeFailure } from './describe-failure.js';
import type { DispatcherDependencies } from './dispatcher-dependencies.js';

/** Who has a claimed config. */
export interface ClaimHolder {
  readonly cursors: PushCursors;
  readonly worker: string;
  /** For how long a step keeps the config, in milliseconds. */
  readonly lease: number;
}

/** How many updates a config gets before others have their turn. */
const BATCH = 64;
/** For how long the config of a paused task is left alone when nobody says that the task goes on, in milliseconds. */
const PARKED = 300_000;

/** Brings a claimed config what its task has for it, from its cursor on, and lets it go. Its turn is bounded in number and time. */
export class ClaimedDelivery {
  readonly key: PushConfigKey;
  private readonly logger = new Logger('PushDispatcher');
  private readonly task: TaskKey;
  private attempts: number;
  private failingFor: number;
  /** Until when the config is surely ours, by the monotonic clock. */
  private heldUntil: number;
  private readonly began = performance.now();
  /** Aborts when nothing more is to be sent. */
  private readonly ending = new AbortController();

  constructor(
    private readonly deps: DispatcherDependencies,
    private readonly holder: ClaimHolder,
    private readonly claim: ClaimedPushConfig,
    claimedAt: number,
  ) {
    const { config, owner } = claim.record;
    this.key = { id: config.id, taskId: config.taskId, owner };
    this.task = { id: config.taskId, owner };
    this.attempts = claim.attempts;
    this.failingFor = claim.failingFor;
    this.heldUntil = claimedAt + holder.lease;
  }

  /** Sends nothing more, not even what is under way, and lets the config go. */
  end(): void {
    this.ending.abort();
  }

  /**
   * Never rejects.
   *
   * @returns how long to wait until the config is due again, in milliseconds; 0: it may be so already
   */
  async run(): Promise<number> {
    try {
      return await this.bring().catch((error: unknown) => this.fail(error));
    } catch (error) {
      // It comes up again when the lease ends.
      this.logger.warn(`A push config could not be let go: ${scrub(describeError(error))}`);
      return this.holder.lease;
    }
  }

  private async bring(): Promise<number> {
    const { delivered } = this.claim;
    const updates = (await this.deps.store.eventsAfter?.(this.task, delivered, BATCH)) ?? [];
    // What is no longer there one by one is told as the task that it led to.
    const state =
      updates[0]?.version === delivered + 1 ? await this.bringUpdates(updates) : await this.bringTask(delivered);
    const { cursors, worker } = this.holder;
    if (state !== undefined && isTerminal(state)) await cursors.finish(this.key, worker);
    else await cursors.release(this.key, worker, state !== undefined && isInterrupted(state) ? PARKED : 0);
    return 0;
  }

  /** @returns the state that the last of them set */
  private async bringUpdates(updates: readonly VersionedUpdate[]): Promise<TaskState | undefined> {
    let last: TaskState | undefined;
    for (const { version, update } of updates) {
      const { json, state } = streamEntry(this.task.id, this.claim.contextId, version, update);
      if (!(await this.step(version, json))) return undefined;
      last = state;
      // A receiver that is slow has a turn like every other one.
      if (performance.now() - this.began > this.deps.settings.timeout) return undefined;
    }
    return last;
  }

  private async bringTask(delivered: number): Promise<TaskState | undefined> {
    try {
      const { task, version } = await this.deps.store.read(this.task);
      if (version === delivered) return undefined;
      const json = JSON.stringify(encode('StreamResponse', { task }));
      return (await this.step(version, json)) ? task.status.state : undefined;
    } catch (error) {
      if (isRecordNotFound(error)) return undefined;
      throw error;
    }
  }

  /** @returns whether to go on */
  private async step(version: number, json: string | null): Promise<boolean> {
    const { signal } = this.ending;
    // Another process may have taken the config over from one that was not heard of.
    if (signal.aborted || performance.now() + this.deps.settings.timeout > this.heldUntil) return false;
    if (json !== null) await this.deps.sender.send(this.claim.record, json, signal);
    this.attempts = 0;
    this.failingFor = 0;
    const { cursors, worker, lease } = this.holder;
    const at = performance.now();
    const isHeld = await cursors.advance(this.key, worker, version, lease);
    this.heldUntil = at + lease;
    return isHeld;
  }

  private async fail(error: unknown): Promise<number> {
    const { cursors, worker } = this.holder;
    if (this.ending.signal.aborted) {
      await cursors.release(this.key, worker, 0);
      return 0;
    }
    const { giveUpAfter } = this.deps.settings;
    const isGivenUp = this.failingFor > giveUpAfter;
    if (this.attempts === 0 || isGivenUp) {
      const what = isGivenUp ? 'are given up' : 'wait';
      const reason = describeFailure(this.claim.record.config.url, error);
      this.logger.warn(`The notifications of task ${scrub(this.task.id)} ${what}${reason}`);
    }
    if (isGivenUp) {
      await cursors.finish(this.key, worker);
      return 0;
    }
    const delay = this.retryDelay();
    await cursors.postpone(this.key, worker, delay);
    return delay;
  }

  /** Twice as long after each failure; spread, so that receivers that failed together are not tried together. */
  private retryDelay(): number {
    const { minRetryDelay, maxRetryDelay } = this.deps.settings;
    return Math.min(maxRetryDelay, minRetryDelay * 2 ** Math.min(this.attempts, 30)) * (0.5 + Math.random() / 2);
  }
}
