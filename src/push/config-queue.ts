import type { PushConfigKey } from '../store/push-config.record.js';

/** An update of a task as webhooks get it. */
export interface Notification {
  /** The version that the update gave the task. */
  readonly version: number;
  /** A StreamResponse. */
  readonly json: string;
}

/**
 * What one config is still to get.
 *
 * - Versions only go up: what comes behind a newer one is dropped.
 * - A queue that is collapsed holds nothing: its receiver gets the task as it is when its turn comes.
 */
export class ConfigQueue {
  /** Whether a delivery is under way. */
  isActive = false;
  isCollapsed = false;
  /** Whether the config is not there any more. */
  isForgotten = false;
  private items: Notification[] = [];
  private newest = -1;

  constructor(readonly key: PushConfigKey) {}

  get length(): number {
    return this.items.length;
  }

  get hasWork(): boolean {
    return !this.isForgotten && (this.isCollapsed || this.items.length > 0);
  }

  /** @returns whether anything was added */
  add(notification: Notification): boolean {
    if (notification.version <= this.newest) return false;
    this.newest = notification.version;
    if (this.isCollapsed || this.isForgotten) return false;
    this.items.push(notification);
    return true;
  }

  /** Takes what is next; `undefined` stands for the task as it is. */
  take(): Notification | undefined {
    if (!this.isCollapsed) return this.items.shift();
    this.isCollapsed = false;
    return undefined;
  }

  /** Drops what a receiver knows that has seen a version. */
  skipTo(version: number): void {
    // The task as it is would be the one that the receiver has just got.
    if (version >= this.newest) this.isCollapsed = false;
    this.newest = Math.max(this.newest, version);
    this.items = this.items.filter((item) => item.version > version);
  }

  /**
   * Drops everything for the task as it will be.
   *
   * @param version what is left out goes up to here; when it is missing, to what was added last
   */
  collapse(version = this.newest): void {
    this.newest = Math.max(this.newest, version);
    this.items = [];
    this.isCollapsed = true;
  }

  /** Drops everything that waits; what comes later is taken again. */
  clear(): void {
    this.items = [];
    this.isCollapsed = false;
  }

  forget(): void {
    this.items = [];
    this.isForgotten = true;
  }
}
