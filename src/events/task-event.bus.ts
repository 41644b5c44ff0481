import { Injectable, Logger } from '@nestjs/common';
import { Subject, type Observable, type Subscription } from 'rxjs';
import { scrub } from '#protocol';
import type { TaskKey } from '../store/task-key.js';
import type { StatusUpdate, VersionedUpdate } from '../store/task-update.js';
import type { TaskWritten } from '../store/task.store.js';
import type { StoredWrite } from './stored-write.js';
import type { TaskEvent } from './task-event.js';
import type { TaskEventRelay } from './task-event.relay.js';
import { TaskTopic, topicName, type TaskSignal } from './task-topic.js';

/** Where a follower stands, and what else it wants to hear of. */
export interface FollowOptions {
  /**
   * The version of the task as the follower knows it; 0 for a task that is still to be created. A follower that does not
   * know it yet calls {@link TaskEventBus.seen} as soon as it does: until then it hears of this process alone.
   */
  readonly after?: number;
  /** Updates up to this version can no longer be told one by one: read the task instead. */
  readonly missed?: (version: number) => void;
  /** The task is not there any more. Nothing follows. */
  readonly removed?: () => void;
}

/**
 * Carries stored updates to those who follow a task in this process, whichever process stored them.
 *
 * - Events of one task arrive in the order in which they were published. With a relay that is the order of versions, each
 *   one once; a gap that the store can no longer fill is told as such.
 * - A follower that throws disturbs neither the publisher nor the other followers.
 * - Nothing is kept for a task that nobody follows.
 *
 * @see A2A v1.0 §3.5.2 Streaming Event Delivery
 */
@Injectable()
export class TaskEventBus {
  private readonly logger = new Logger(TaskEventBus.name);
  private readonly topics = new Map<string, TaskTopic>();
  private followers = 0;
  private relay: TaskEventRelay | undefined;
  private readonly writes = new Subject<StoredWrite>();

  /** What this process has stored of any task, for those who bring it to the outside. */
  readonly writes$: Observable<StoredWrite> = this.writes.asObservable();

  /** How many subscriptions are open, over all tasks. */
  get subscriberCount(): number {
    return this.followers;
  }

  /** Connects the bus to other processes; with `undefined` it is on its own again. */
  connect(relay: TaskEventRelay | undefined): void {
    this.relay = relay;
  }

  /** Tells the followers of a task, here and elsewhere, of one update that this process has stored. */
  publish(event: TaskEvent): void {
    const topic = this.topics.get(topicName(event.key));
    if (!this.relay) {
      topic?.pass(event);
      return;
    }
    this.relay.announce(event.key, event.version);
    if (topic && !topic.take(event)) this.relay.wake(event.key, event.version);
  }

  /** Tells of a change of status by someone who is not the task's run. */
  publishSettle(key: TaskKey, contextId: string, update: StatusUpdate, { version, pushRev }: TaskWritten): void {
    this.publish({ key, version, update, runId: null });
    this.wrote({ key, contextId, version, updates: [update], pushRev });
  }

  /** Tells of a write as a whole, once its updates have been published. */
  wrote(write: StoredWrite): void {
    this.writes.next(write);
  }

  /**
   * Follows a task from now on.
   *
   * @returns what ends it
   */
  follow(key: TaskKey, follower: (event: TaskEvent) => void, options: FollowOptions = {}): Subscription {
    const name = topicName(key);
    const topic = this.topics.get(name) ?? new TaskTopic(key);
    const isFirst = !topic.isFollowed;
    this.topics.set(name, topic);
    this.followers++;
    if (options.after !== undefined) topic.begin(options.after);
    const subscription = topic.subscribe((signal) => {
      try {
        hand(signal, follower, options);
      } catch (error) {
        this.logger.error(`A follower of task ${scrub(key.id)} failed: ${scrub(String(error))}`);
      }
    });
    if (isFirst) this.relay?.watch(key);
    subscription.add(() => {
      this.followers--;
      if (topic.isFollowed) return;
      this.topics.delete(name);
      this.relay?.unwatch(key);
    });
    return subscription;
  }

  /** Notes as of which version a follower knows a task that it began to follow before. */
  seen(key: TaskKey, version: number): void {
    this.topics.get(topicName(key))?.begin(version);
  }

  /**
   * Writes to a task. Until that is done and what came of it is published, nothing of the task is taken from the store,
   * lest an update of this process be taken for one of another.
   *
   * @param write stores updates and publishes them
   */
  async whileWriting<T>(key: TaskKey, write: () => Promise<T>): Promise<T> {
    const topic = this.topics.get(topicName(key));
    if (!topic) return write();
    topic.writers++;
    try {
      return await write();
    } finally {
      topic.writers--;
      this.relay?.wake(key);
    }
  }

  /** The version of the last update that the followers of a task were told of, if that is known. */
  versionOf(key: TaskKey): number | undefined {
    return this.topics.get(topicName(key))?.version;
  }

  /** Whether a write of this process to a task is under way. */
  isWriting(key: TaskKey): boolean {
    return (this.topics.get(topicName(key))?.writers ?? 0) > 0;
  }

  /** Tells the followers of a task of updates that were read from the store; what they know already is left out. */
  deliver(key: TaskKey, updates: readonly VersionedUpdate[]): void {
    this.topics.get(topicName(key))?.deliver(updates);
  }

  /** Tells the followers of a task that updates up to a version are no longer to be had. */
  miss(key: TaskKey, version: number): void {
    this.topics.get(topicName(key))?.miss(version);
  }

  /** Tells the followers of a task that it is not there any more. */
  remove(key: TaskKey): void {
    this.topics.get(topicName(key))?.remove();
  }
}

function hand(signal: TaskSignal, follower: (event: TaskEvent) => void, { missed, removed }: FollowOptions): void {
  switch (signal.kind) {
    case 'event':
      follower(signal.event);
      return;
    case 'missed':
      missed?.(signal.version);
      return;
    case 'removed':
      removed?.();
  }
}
