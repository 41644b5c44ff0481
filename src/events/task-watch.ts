import { withinStoreTimeout } from '../store/store-deadline.js';
import type { TaskStore } from '../store/task.store.js';
import type { TaskKey } from '../store/task-key.js';
import type { TaskEventBus } from './task-event.bus.js';

/** A store that one process can ask what another one wrote. */
export type LoggingStore = TaskStore & Required<Pick<TaskStore, 'eventsAfter' | 'versionsOf'>>;

/** How many updates are read at once. */
const PAGE = 200;

/**
 * Looks after one task that is followed here, and takes from the store what other processes wrote to it.
 *
 * Nothing is taken while a write of this process is under way: the bus wakes the relay when it is done.
 */
export class TaskWatch {
  /** The version that the task is known to be at. */
  private target = 0;
  /** Whether the store is known to have had the task. One that is still to be created is not missed. */
  private wasStored = false;
  private isGone = false;

  constructor(
    readonly key: TaskKey,
    private readonly bus: TaskEventBus,
    private readonly store: LoggingStore,
    private readonly timeout: number,
  ) {}

  /** Whether the store has updates that the followers have not been told of. */
  get isBehind(): boolean {
    const version = this.bus.versionOf(this.key);
    return version !== undefined && version < this.target;
  }

  /** Called before the store is asked: a task that has updates by now is there, or gone, but not still to be created. */
  expect(): void {
    this.wasStored ||= (this.bus.versionOf(this.key) ?? 0) > 0;
  }

  /** Notes what version the task is at. */
  aim(version: number): void {
    this.wasStored = true;
    this.target = Math.max(this.target, version);
  }

  /** Notes that the store does not have the task. */
  miss(): void {
    if (!this.wasStored || this.isGone || this.bus.isWriting(this.key)) return;
    this.isGone = true;
    this.target = 0;
    this.bus.remove(this.key);
  }

  /**
   * Tells the followers what they have not been told.
   *
   * @throws {Error} what the store throws
   */
  async catchUp(): Promise<void> {
    while (this.isBehind && !this.bus.isWriting(this.key)) {
      if (!(await this.readOn())) await this.fillGap();
    }
  }

  /** @returns whether there was anything to read */
  private async readOn(): Promise<boolean> {
    const updates = await this.within(this.store.eventsAfter(this.key, this.bus.versionOf(this.key) ?? 0, PAGE));
    if (!this.bus.isWriting(this.key)) this.bus.deliver(this.key, updates);
    return updates.length > 0;
  }

  /** The updates are not there one by one, or somebody announced what never was. */
  private async fillGap(): Promise<void> {
    const versions = await this.within(this.store.versionsOf([this.key]));
    const version = versions.get(this.key.id);
    if (version === undefined) {
      this.target = 0;
      this.miss();
      return;
    }
    this.target = version;
    // What was stored since has its updates; only what was not there before either is missed.
    if (!this.isBehind || (await this.readOn()) || this.bus.isWriting(this.key)) return;
    this.bus.miss(this.key, version);
  }

  private within<T>(reading: Promise<T>): Promise<T> {
    return withinStoreTimeout(reading, this.timeout);
  }
}
