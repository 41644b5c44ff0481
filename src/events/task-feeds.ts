import { Injectable } from '@nestjs/common';
import type { TaskKey } from '../store/task-key.js';
import { TaskEventBus } from './task-event.bus.js';
import { TaskFeed } from './task-feed.js';
import { topicName } from './task-topic.js';

/** A feed in the hands of one reader. */
export interface FeedLease {
  readonly feed: TaskFeed;
  /** Gives the feed back. It ends with its last reader. */
  release(): void;
}

/** Holds the feeds of the tasks that are streamed in this process: one per task, as long as somebody reads it. */
@Injectable()
export class TaskFeeds {
  private readonly feeds = new Map<string, { readonly feed: TaskFeed; readers: number }>();

  constructor(private readonly bus: TaskEventBus) {}

  /**
   * Opens the feed of a task. What is published from now on is in it.
   *
   * @param after the version of the task as it is known; absent: not yet
   */
  open(key: TaskKey, contextId: string, after?: number): FeedLease {
    const name = topicName(key);
    const shared = this.feeds.get(name) ?? { feed: new TaskFeed(this.bus, key, contextId, after), readers: 0 };
    this.feeds.set(name, shared);
    shared.readers++;
    let isHeld = true;
    return {
      feed: shared.feed,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        if (--shared.readers > 0) return;
        shared.feed.close();
        this.feeds.delete(name);
      },
    };
  }
}
