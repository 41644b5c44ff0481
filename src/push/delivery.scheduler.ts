import type { ConfigQueue, Notification } from './config-queue.js';

/** How much may be under way, and wait, in the process and for one owner. */
export interface DeliveryBounds {
  readonly maxInFlight: number;
  readonly maxInFlightPerOwner: number;
  readonly maxWaiting: number;
  readonly maxWaitingPerOwner: number;
}

/**
 * Makes one delivery.
 *
 * @param notification `undefined`: the task as it is
 * @returns the version that the receiver has seen; rejections are the deliverer's own affair
 */
export type Deliver = (queue: ConfigQueue, notification: Notification | undefined) => Promise<number>;

/** The queues of one owner. */
interface Lane {
  readonly ready: ConfigQueue[];
  inFlight: number;
  waiting: number;
}

/** How many configs of one owner may wait for their turn. */
const MAX_READY = 1_000;

/**
 * Decides which delivery is next.
 *
 * - One delivery of a config at a time; owners take turns, and so do the configs of one.
 * - What would wait past a bound collapses: the config gets the task as it is instead, when its turn comes.
 */
export class DeliveryScheduler {
  private readonly lanes = new Map<string, Lane>();
  private inFlight = 0;
  private waiting = 0;
  private waiters: (() => void)[] = [];

  /** @param overflowed told of a queue that is dropped, since too many of its owner wait */
  constructor(
    private readonly bounds: DeliveryBounds,
    private readonly deliver: Deliver,
    private readonly overflowed: (queue: ConfigQueue) => void,
  ) {}

  get isIdle(): boolean {
    return this.lanes.size === 0;
  }

  /** Adds to what a config is to get. */
  add(queue: ConfigQueue, notification: Notification): void {
    const lane = this.laneOf(queue);
    if (queue.add(notification)) this.count(lane, 1);
    this.schedule(queue, lane);
    const { maxWaiting, maxWaitingPerOwner } = this.bounds;
    const isBeyond = this.waiting > maxWaiting || lane.waiting > maxWaitingPerOwner;
    if (isBeyond && queue.length > 0) {
      this.uncount(lane, queue);
      queue.collapse();
    }
    this.tidy(queue.key.owner, lane);
  }

  /** Lets a config get the task as it is, in the place of everything that waits and of what was left out up to a version. */
  collapse(queue: ConfigQueue, version: number): void {
    const lane = this.laneOf(queue);
    this.uncount(lane, queue);
    queue.collapse(version);
    this.schedule(queue, lane);
    this.tidy(queue.key.owner, lane);
  }

  /** Drops everything that a config was to get. */
  forget(queue: ConfigQueue): void {
    const lane = this.laneOf(queue);
    this.uncount(lane, queue);
    queue.forget();
    const place = lane.ready.indexOf(queue);
    if (place >= 0) lane.ready.splice(place, 1);
    this.tidy(queue.key.owner, lane);
  }

  /** Waits until there is nothing left to deliver. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.waiters.push(resolve));
  }

  private laneOf({ key: { owner } }: ConfigQueue): Lane {
    const lane = this.lanes.get(owner) ?? { ready: [], inFlight: 0, waiting: 0 };
    this.lanes.set(owner, lane);
    return lane;
  }

  private schedule(queue: ConfigQueue, lane: Lane): void {
    if (queue.hasWork && !queue.isActive && !lane.ready.includes(queue)) {
      if (lane.ready.length >= MAX_READY) {
        this.uncount(lane, queue);
        queue.clear();
        this.overflowed(queue);
        return;
      }
      lane.ready.push(queue);
    }
    this.pump();
  }

  private pump(): void {
    for (const [owner, lane] of this.lanes) {
      if (this.inFlight >= this.bounds.maxInFlight) return;
      if (lane.inFlight >= this.bounds.maxInFlightPerOwner) continue;
      const queue = lane.ready.shift();
      if (!queue) continue;
      // Behind the others, whose turn is next.
      this.lanes.delete(owner);
      this.lanes.set(owner, lane);
      void this.run(queue, lane);
    }
  }

  private async run(queue: ConfigQueue, lane: Lane): Promise<void> {
    queue.isActive = true;
    lane.inFlight++;
    this.inFlight++;
    const notification = queue.take();
    if (notification) this.count(lane, -1);
    const version = await this.deliver(queue, notification).catch(() => -1);
    queue.isActive = false;
    lane.inFlight--;
    this.inFlight--;
    const before = queue.length;
    queue.skipTo(version);
    this.count(lane, queue.length - before);
    this.schedule(queue, lane);
    this.tidy(queue.key.owner, lane);
  }

  private uncount(lane: Lane, queue: ConfigQueue): void {
    this.count(lane, -queue.length);
  }

  private count(lane: Lane, change: number): void {
    lane.waiting += change;
    this.waiting += change;
  }

  private tidy(owner: string, lane: Lane): void {
    if (lane.inFlight === 0 && lane.ready.length === 0) this.lanes.delete(owner);
    if (!this.isIdle) return;
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}
