import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Subscription } from 'rxjs';
import { isTerminal, scrub } from '#protocol';
import { describeError } from '../context/describe-error.js';
import { within } from '../context/within.js';
import type { StoredWrite } from '../events/stored-write.js';
import type { PushConfigKey } from '../store/push-config.record.js';
import type { ClaimedPushConfig, PushCursors } from '../store/push-cursors.js';
import { ClaimedDelivery } from './claimed-delivery.js';
import type { DispatcherDependencies } from './dispatcher-dependencies.js';
import { PushDispatcher } from './push.dispatcher.js';

/** How often configs are looked for that another process, or a failure, has left behind, in milliseconds. */
const PAUSE = 1_000;
/** The same where no new configs are durable. */
const LEFTOVER_PAUSE = 30_000;
/** How much later than due a config is looked for, in milliseconds: clocks are rounded, and the store's is another. */
const CLOCK_MARGIN = 5;
/** How long letting go of what is left may take when the process ends, in milliseconds. It comes up again by itself. */
const RELEASE_TIMEOUT = 1_000;

/**
 * Brings every update to its receivers, however often they, or processes, fail.
 *
 * - The log of updates is the queue: a config has a cursor in it, which moves once the receiver has taken an update.
 * - One process at a time has a config. When it dies another one goes on from the cursor, so a receiver may get an update
 *   twice, and never out of order.
 * - A receiver that fails is tried again later and later, and given up after a while.
 */
export class DurableDispatcher extends PushDispatcher {
  private readonly logger = new Logger('PushDispatcher');
  /** The name of this process among those that deliver. */
  private readonly worker = randomUUID();
  private readonly deliveries = new Map<ClaimedDelivery, Promise<void>>();
  /** Whether nothing is looked for any more but what this process stores. */
  private isEnding = false;
  private isStopped = false;
  private subscription: Subscription | undefined;
  private looking: Promise<void> | undefined;
  /** Whether something has come about since the last look began. */
  private isWoken = false;
  private isFailing = false;
  private readonly pause: number;
  private timer: NodeJS.Timeout | undefined;
  /** When the timer ends, by the monotonic clock. */
  private nextLook = Infinity;

  /**
   * @param lease for how long a process is believed to live that is not heard of, in milliseconds
   * @param isLeading whether new configs are durable; else only what is left of older ones is brought, without haste
   */
  constructor(
    private readonly deps: DispatcherDependencies,
    private readonly cursors: PushCursors,
    private readonly lease: number,
    private readonly isLeading = true,
  ) {
    super();
    this.pause = isLeading ? PAUSE : LEFTOVER_PAUSE;
  }

  start(): void {
    if (this.isLeading) {
      this.subscription = this.deps.bus.writes$.subscribe((write) => {
        if (write.pushRev !== 0) void this.take(write);
      });
    }
    this.wake();
  }

  private async take({ key, updates }: StoredWrite): Promise<void> {
    // A task that goes on, or ends, may have been left alone while it was paused.
    const isChange = updates.some(
      (each) => each.kind === 'message' || (each.kind === 'status' && isTerminal(each.status.state)),
    );
    if (isChange) await this.cursors.awaken(key).catch(() => undefined);
    this.wake();
  }

  forget({ id, taskId, owner }: PushConfigKey): void {
    for (const delivery of this.deliveries.keys()) {
      const { key } = delivery;
      if (key.id === id && key.taskId === taskId && key.owner === owner) delivery.end();
    }
  }

  async stop(timeout: number): Promise<void> {
    this.isEnding = true;
    this.wake();
    await within(this.idle(), timeout);
    this.isStopped = true;
    this.subscription?.unsubscribe();
    clearTimeout(this.timer);
    for (const delivery of this.deliveries.keys()) delivery.end();
    await within(this.idle(), RELEASE_TIMEOUT);
  }

  private async idle(): Promise<void> {
    while (this.looking || this.deliveries.size > 0) await Promise.all([this.looking, ...this.deliveries.values()]);
  }

  /** Looks for what is to be delivered, and once more when it is called meanwhile. */
  private wake(): void {
    this.isWoken = true;
    this.looking ??= this.look().finally(() => {
      this.looking = undefined;
      if (this.isWoken) this.wake();
    });
  }

  private async look(): Promise<void> {
    // What comes in the same turn needs one look.
    await Promise.resolve();
    this.isWoken = false;
    const { maxInFlight, maxInFlightPerOwner, timeout } = this.deps.settings;
    const limit = maxInFlight - this.deliveries.size;
    this.lookWithin(this.pause);
    if (limit <= 0 || this.isStopped) return;
    // An attempt is no sign of life.
    const lease = timeout + this.lease;
    const askedAt = performance.now();
    try {
      const busy = this.busyOwners();
      const claims = await this.cursors.claim({
        ...{ worker: this.worker, lease, limit, busy, perOwner: maxInFlightPerOwner },
      });
      for (const claim of claims) this.begin(claim, lease, askedAt);
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.logger.warn(`Notifications could not be looked for: ${scrub(describeError(error))}`);
      this.isFailing = true;
    }
  }

  private busyOwners(): ReadonlyMap<string, number> {
    const busy = new Map<string, number>();
    for (const { key } of this.deliveries.keys()) busy.set(key.owner, (busy.get(key.owner) ?? 0) + 1);
    return busy;
  }

  private begin(claim: ClaimedPushConfig, lease: number, askedAt: number): void {
    const holder = { cursors: this.cursors, worker: this.worker, lease };
    const delivery = new ClaimedDelivery(this.deps, holder, claim, askedAt);
    // Claimed while the process was told to stop: let go at once.
    if (this.isStopped) delivery.end();
    this.deliveries.set(delivery, this.finish(delivery));
  }

  private async finish(delivery: ClaimedDelivery): Promise<void> {
    const pause = await delivery.run();
    this.deliveries.delete(delivery);
    // Others may have been waiting for the place.
    if (!this.isEnding) this.wake();
    if (pause > 0) this.lookWithin(pause + CLOCK_MARGIN);
  }

  private lookWithin(pause: number): void {
    const at = performance.now() + pause;
    if (this.isEnding || at >= this.nextLook) return;
    clearTimeout(this.timer);
    this.nextLook = at;
    this.timer = setTimeout(() => {
      this.nextLook = Infinity;
      this.wake();
    }, pause).unref();
  }
}
