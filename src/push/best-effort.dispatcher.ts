import { Logger } from '@nestjs/common';
import type { Subscription } from 'rxjs';
import { scrub } from '#protocol';
import { describeError } from '../context/describe-error.js';
import { within } from '../context/within.js';
import { streamEntry } from '../events/stream-entry.js';
import type { StoredWrite } from '../events/stored-write.js';
import { topicName } from '../events/task-topic.js';
import type { PushConfigKey } from '../store/push-config.record.js';
import { withinStoreTimeout } from '../store/store-deadline.js';
import type { Notification } from './config-queue.js';
import { DeliveryAttempts, LOOKUP_TIMEOUT } from './delivery-attempts.js';
import { DeliveryScheduler } from './delivery.scheduler.js';
import type { DispatcherDependencies } from './dispatcher-dependencies.js';
import { PushDispatcher } from './push.dispatcher.js';
import { TaskConfigs } from './task-configs.js';

/** How many tasks are remembered whose notifications have all been sent. */
const MAX_TASKS = 1_024;

/**
 * Makes one attempt for each update that this process stores.
 *
 * - Bounded: past the bounds a receiver gets the whole task instead of the updates that led to it.
 * - A task without configs costs nothing, as far as the store tells that it has none.
 */
export class BestEffortDispatcher extends PushDispatcher {
  private readonly logger = new Logger('PushDispatcher');
  private readonly tasks = new Map<string, TaskConfigs>();
  private readonly scheduler: DeliveryScheduler;
  private readonly attempts: DeliveryAttempts;
  private subscription: Subscription | undefined;

  constructor(private readonly deps: DispatcherDependencies) {
    super();
    this.attempts = new DeliveryAttempts(deps);
    this.scheduler = new DeliveryScheduler(
      deps.settings,
      (queue, notification) => this.attempts.make(queue, notification),
      ({ key }) => {
        this.logger.warn(
          `Too many receivers wait: config ${scrub(key.id)} of task ${scrub(key.taskId)} misses updates.`,
        );
      },
    );
  }

  start(): void {
    this.subscription = this.deps.bus.writes$.subscribe((write) => {
      if (write.pushRev !== 0) this.take(write);
    });
  }

  forget({ taskId, owner, id }: PushConfigKey): void {
    this.tasks.get(topicName({ id: taskId, owner }))?.remove(id);
  }

  async stop(timeout: number): Promise<void> {
    await within(this.bringHome(), timeout);
    this.subscription?.unsubscribe();
    for (const task of this.tasks.values()) task.clear();
    this.attempts.stop();
    await this.scheduler.idle();
  }

  private async bringHome(): Promise<void> {
    await Promise.all([...this.tasks.values()].map((task) => task.idle()));
    await this.scheduler.idle();
  }

  private take(write: StoredWrite): void {
    const { id, owner } = write.key;
    const name = topicName(write.key);
    const task = this.tasks.get(name) ?? this.newTask(id, owner);
    // Behind the others, so that the one that was quiet for longest goes first.
    this.tasks.delete(name);
    this.tasks.set(name, task);
    task.take(write);
    if (this.tasks.size > MAX_TASKS) this.forgetQuietTask();
  }

  private newTask(taskId: string, owner: string): TaskConfigs {
    const { configs } = this.deps;
    return new TaskConfigs(
      { taskId, owner },
      () => withinStoreTimeout(configs.list({ taskId, owner }), LOOKUP_TIMEOUT),
      {
        write: (queues, write) => {
          const notifications = notificationsOf(write);
          for (const queue of queues) for (const notification of notifications) this.scheduler.add(queue, notification);
        },
        behind: (queues, version) => {
          for (const queue of queues) this.scheduler.collapse(queue, version);
        },
        removed: (queue) => {
          this.scheduler.forget(queue);
          this.attempts.end(queue);
        },
        failed: (error) => {
          this.logger.warn(
            `The push configs of task ${scrub(taskId)} could not be read: ${scrub(describeError(error))}`,
          );
        },
      },
    );
  }

  private forgetQuietTask(): void {
    for (const [name, task] of this.tasks) {
      if (!task.isIdle) continue;
      this.tasks.delete(name);
      return;
    }
  }
}

function notificationsOf({ key, contextId, version, updates }: StoredWrite): Notification[] {
  const first = version - updates.length + 1;
  return updates.flatMap((update, index) => {
    const { version: at, json } = streamEntry(key.id, contextId, first + index, update);
    return json === null ? [] : [{ version: at, json }];
  });
}
