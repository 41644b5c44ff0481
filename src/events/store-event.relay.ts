import { Logger } from '@nestjs/common';
import { describeError } from '../context/describe-error.js';
import type { ChannelListener, StoreChannel } from '../store/store-channel.js';
import { withinStoreTimeout } from '../store/store-deadline.js';
import type { TaskKey } from '../store/task-key.js';
import { decodeAnnouncement } from './announcement.js';
import { Announcer } from './announcer.js';
import type { TaskEventBus } from './task-event.bus.js';
import { TaskEventRelay, type RelayState } from './task-event.relay.js';
import { TaskWatch, type LoggingStore } from './task-watch.js';

/** How often the versions of watched tasks are looked up, in milliseconds, while a channel tells of them and without one. */
const PAUSE = { withChannel: 1_000, alone: 500 } as const;
/** How many versions are looked up at once. */
const LOOK_UP = 500;
/** How many tasks are read at once, so that something of the host's pool is left to the host. */
const READERS = 3;

/**
 * Relays updates through the store that all processes share.
 *
 * - Updates are read from the store, in the order of versions; what a channel says only tells when to look.
 * - A text that is lost costs at most a second, never an update.
 * - A store that fails is asked again, and its failure is logged once.
 */
export class StoreEventRelay extends TaskEventRelay implements ChannelListener {
  private readonly logger = new Logger('TaskEventRelay');
  private readonly watches = new Map<string, TaskWatch[]>();
  private readonly behind = new Set<TaskWatch>();
  private readers = 0;
  private channel: StoreChannel | undefined;
  private announcer: Announcer | undefined;
  private isOpen = false;
  private isStopped = false;
  private isFailing = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param timeout how long the store may take over one read, in milliseconds */
  constructor(
    private readonly bus: TaskEventBus,
    private readonly store: LoggingStore,
    private readonly timeout: number,
  ) {
    super();
  }

  get state(): RelayState {
    return this.isOpen ? 'connected' : 'polling';
  }

  start(): void {
    this.bus.connect(this);
    this.channel = this.store.openChannel?.(this);
    this.announcer = this.channel && new Announcer(this.channel);
    this.schedule();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.bus.connect(undefined);
    clearTimeout(this.timer);
    await this.announcer?.idle();
    await this.channel?.close();
  }

  announce({ id }: TaskKey, version: number): void {
    this.announcer?.add(id, version);
  }

  watch(key: TaskKey): void {
    const watch = new TaskWatch(key, this.bus, this.store, this.timeout);
    this.watches.set(key.id, [...(this.watches.get(key.id) ?? []), watch]);
  }

  unwatch({ id, owner }: TaskKey): void {
    const others = this.watches.get(id)?.filter(({ key }) => key.owner !== owner) ?? [];
    if (others.length > 0) this.watches.set(id, others);
    else this.watches.delete(id);
  }

  wake({ id, owner }: TaskKey, version?: number): void {
    const watch = this.watches.get(id)?.find(({ key }) => key.owner === owner);
    if (version !== undefined) watch?.aim(version);
    if (watch) this.attend(watch);
  }

  message(text: string): void {
    for (const [id, version] of decodeAnnouncement(text)) {
      for (const watch of this.watches.get(id) ?? []) this.wake(watch.key, version);
    }
  }

  opened(): void {
    this.isOpen = true;
    clearTimeout(this.timer);
    void this.reconcile();
  }

  lost(): void {
    this.isOpen = false;
    this.schedule();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.reconcile(), this.isOpen ? PAUSE.withChannel : PAUSE.alone);
    this.timer.unref();
  }

  /** Looks up the versions of all tasks that are watched. Never rejects. */
  private async reconcile(): Promise<void> {
    const watches = [...this.watches.values()].flat();
    try {
      for (let from = 0; from < watches.length; from += LOOK_UP)
        await this.compare(watches.slice(from, from + LOOK_UP));
      this.isFailing = false;
    } catch (error) {
      this.logFailure(error);
    }
    this.schedule();
  }

  private async compare(watches: readonly TaskWatch[]): Promise<void> {
    for (const watch of watches) watch.expect();
    const versions = await withinStoreTimeout(this.store.versionsOf(watches.map(({ key }) => key)), this.timeout);
    for (const watch of watches) {
      const version = versions.get(watch.key.id);
      if (version === undefined) watch.miss();
      else watch.aim(version);
      this.attend(watch);
    }
  }

  private attend(watch: TaskWatch): void {
    if (!watch.isBehind || this.isStopped) return;
    this.behind.add(watch);
    if (this.readers < READERS) void this.read();
  }

  private async read(): Promise<void> {
    this.readers++;
    for (const watch of this.behind) {
      this.behind.delete(watch);
      try {
        await watch.catchUp();
      } catch (error) {
        this.logFailure(error);
      }
    }
    this.readers--;
  }

  private logFailure(error: unknown): void {
    if (!this.isFailing && !this.isStopped) {
      this.logger.warn(`Updates of other processes could not be read: ${describeError(error)}`);
    }
    this.isFailing = true;
  }
}
