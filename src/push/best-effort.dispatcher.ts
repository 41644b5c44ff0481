import { Logger } from '@nestjs/common';
import type { Subscription } from 'rxjs';
import { encode, scrub } from '#protocol';
import { describeError } from '../context/describe-error.js';
import { streamEntry } from '../events/stream-entry.js';
import type { StoredWrite } from '../events/stored-write.js';
import type { PushConfigKey } from '../store/push-config.record.js';
import { withinStoreTimeout } from '../store/store-deadline.js';
import type { ConfigQueue, Notification } from './config-queue.js';
import { DeliveryScheduler } from './delivery.scheduler.js';
import type { DispatcherDependencies } from './dispatcher-dependencies.js';
import { describeFailure } from './describe-failure.js';
import { PushDispatcher } from './push.dispatcher.js';
import { TaskConfigs } from './task-configs.js';

/** How long configs, and tasks, are looked up at most, in milliseconds. */
const LOOKUP_TIMEOUT = 3_000;
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
  private readonly stopping = new AbortController();
  private subscription: Subscription | undefined;

  constructor(private readonly deps: DispatcherDependencies) {
    super();
    this.scheduler = new DeliveryScheduler(
      deps.settings,
      (queue, notification) => this.deliver(queue, notification),
      ({ key }) => {
        this.logger.warn(`Too many receivers wait: config ${scrub(key.id)} of task ${scrub(key.taskId)} gets no more.`);
      },
    );
  }

  start(): void {
    this.subscription = this.deps.bus.writes$.subscribe((write) => {
      if (write.pushRev !== 0) this.take(write);
    });
  }

  forget({ taskId, owner, id }: PushConfigKey): void {
    this.tasks.get(nameOf(owner, taskId))?.remove(id);
  }

  async stop(timeout: number): Promise<void> {
    this.subscription?.unsubscribe();
    const timer = setTimeout(() => {
      this.stopping.abort(new Error('The agent is shutting down.'));
    }, timeout);
    await Promise.all([...this.tasks.values()].map((task) => task.idle()));
    await this.scheduler.idle();
    clearTimeout(timer);
    this.stopping.abort(new Error('The agent has shut down.'));
  }

  private take(write: StoredWrite): void {
    const { id, owner } = write.key;
    const name = nameOf(owner, id);
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
        behind: (queues) => {
          for (const queue of queues) this.scheduler.collapse(queue);
        },
        removed: (queue) => {
          this.scheduler.forget(queue);
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

  private async deliver({ key }: ConfigQueue, notification: Notification | undefined): Promise<number> {
    const { configs, sender } = this.deps;
    let url = '';
    try {
      const record = await withinStoreTimeout(configs.read(key), LOOKUP_TIMEOUT);
      const sent = record && !this.stopping.signal.aborted ? (notification ?? (await this.snapshot(key))) : undefined;
      if (!record || !sent) return -1;
      url = record.config.url;
      await sender.send(record, sent.json, this.stopping.signal);
      return sent.version;
    } catch (error) {
      this.logger.warn(`A notification of task ${scrub(key.taskId)} was not delivered${describeFailure(url, error)}`);
      return -1;
    }
  }

  private async snapshot({ taskId, owner }: PushConfigKey): Promise<Notification> {
    const reading = this.deps.store.read({ id: taskId, owner });
    const { task, version } = await withinStoreTimeout(reading, LOOKUP_TIMEOUT);
    return { version, json: JSON.stringify(encode('StreamResponse', { task })) };
  }
}

function notificationsOf({ key, contextId, version, updates }: StoredWrite): Notification[] {
  const first = version - updates.length + 1;
  return updates.flatMap((update, index) => {
    const { version: at, json } = streamEntry(key.id, contextId, first + index, update);
    return json === null ? [] : [{ version: at, json }];
  });
}

function nameOf(owner: string, taskId: string): string {
  return JSON.stringify([owner, taskId]);
}
