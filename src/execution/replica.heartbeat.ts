import { Inject, Injectable, Logger } from '@nestjs/common';
import { describeError } from '../context/describe-error.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { withinStoreTimeout } from '../store/store-deadline.js';
import { TaskStore } from '../store/task.store.js';

/**
 * Says in the store, three times a lease, that this process lives.
 *
 * - Never rejects: a store that cannot be reached is asked again, and that is logged once.
 * - Knows for how long this process has been believed to live without a break.
 */
@Injectable()
export class ReplicaHeartbeat {
  private readonly logger = new Logger(ReplicaHeartbeat.name);
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> | undefined;
  private isStopped = false;
  private isFailing = false;
  /** Since when, and when last, on the clock of `performance`. */
  private held: { readonly since: number; readonly last: number } | undefined;

  constructor(
    private readonly store: TaskStore,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** Whether this process has been believed to live for a whole lease, and still is. */
  get hasHeld(): boolean {
    if (!this.held) return false;
    const { since, last } = this.held;
    return last - since >= this.settings.lease && performance.now() - last < this.settings.lease;
  }

  /** Says so for the first time: from then on runs of this process are known to be its own. */
  async start(): Promise<void> {
    if (!this.store.leases) return;
    await this.beat();
    this.schedule();
  }

  /** Says that this process ends. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.beating;
    await this.store.leases?.leave().catch(() => undefined);
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.beating = this.beat().then(() => {
        this.schedule();
      });
    }, this.settings.lease / 3);
    this.timer.unref();
  }

  private async beat(): Promise<void> {
    // Before it is sent: the database counts the lease from a later moment.
    const now = performance.now();
    try {
      const { lease, storeTimeout } = this.settings;
      const isHeld = await withinStoreTimeout(this.store.leases?.beat(lease) ?? Promise.resolve(false), storeTimeout);
      this.held = { since: isHeld && this.held ? this.held.since : now, last: now };
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.logger.warn(`The store does not know that this process lives: ${describeError(error)}`);
      this.isFailing = true;
    }
  }
}
