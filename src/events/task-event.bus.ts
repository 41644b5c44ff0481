import { Injectable, Logger } from '@nestjs/common';
import { Subject, type Subscription } from 'rxjs';
import { scrub } from '#protocol';
import type { TaskKey } from '../store/task.store.js';
import type { TaskEvent } from './task-event.js';

/**
 * Carries stored updates to those who follow a task in this process.
 *
 * - Events of one task arrive in the order in which they were published.
 * - A follower that throws disturbs neither the publisher nor the other followers.
 * - Nothing is kept for a task that nobody follows.
 *
 * @see A2A v1.0 §3.5.2 Streaming Event Delivery
 */
@Injectable()
export class TaskEventBus {
  private readonly logger = new Logger(TaskEventBus.name);
  private readonly topics = new Map<string, Subject<TaskEvent>>();
  private followers = 0;

  /** How many subscriptions are open, over all tasks. */
  get subscriberCount(): number {
    return this.followers;
  }

  /** Tells the followers of a task of one stored update. */
  publish(event: TaskEvent): void {
    this.topics.get(topicOf(event.key))?.next(event);
  }

  /**
   * Follows a task from now on.
   *
   * @returns what ends it
   */
  follow(key: TaskKey, follower: (event: TaskEvent) => void): Subscription {
    const topic = topicOf(key);
    const events = this.topics.get(topic) ?? new Subject<TaskEvent>();
    this.topics.set(topic, events);
    this.followers++;
    const subscription = events.subscribe((event) => {
      try {
        follower(event);
      } catch (error) {
        this.logger.error(`A follower of task ${scrub(key.id)} failed: ${scrub(String(error))}`);
      }
    });
    subscription.add(() => {
      this.followers--;
      if (!events.observed) this.topics.delete(topic);
    });
    return subscription;
  }
}

/** The owner is part of it, so that no event can reach another owner's follower. */
function topicOf({ owner, id }: TaskKey): string {
  return JSON.stringify([owner, id]);
}
