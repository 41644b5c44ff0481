import { Logger } from '@nestjs/common';
import { encode, scrub } from '#protocol';
import type { PushConfigKey } from '../store/push-config.record.js';
import { withinStoreTimeout } from '../store/store-deadline.js';
import type { ConfigQueue, Notification } from './config-queue.js';
import { describeFailure } from './describe-failure.js';
import type { DispatcherDependencies } from './dispatcher-dependencies.js';

/** How long configs, and tasks, are looked up at most, in milliseconds. */
export const LOOKUP_TIMEOUT = 3_000;

/**
 * Makes one attempt for each notification, and says in the log what came of those that failed.
 *
 * - A config is looked up right before, so that one that was removed gets nothing, whoever removed it.
 * - Whoever ends an attempt waits neither for the receiver nor for the store.
 */
export class DeliveryAttempts {
  private readonly logger = new Logger('PushDispatcher');
  private readonly underWay = new Map<ConfigQueue, AbortController>();
  private isStopped = false;

  constructor(private readonly deps: Pick<DispatcherDependencies, 'configs' | 'store' | 'sender'>) {}

  /**
   * Never rejects.
   *
   * @param notification `undefined`: the task as it is
   * @returns the version that the receiver has seen; -1 for none
   */
  async make(queue: ConfigQueue, notification: Notification | undefined): Promise<number> {
    if (this.isStopped) return -1;
    const ending = new AbortController();
    this.underWay.set(queue, ending);
    const version = await Promise.race([this.attempt(queue, notification, ending.signal), whenEnded(ending.signal)]);
    this.underWay.delete(queue);
    return version;
  }

  /** Ends what is under way to a config that is not there any more. */
  end(queue: ConfigQueue): void {
    this.underWay.get(queue)?.abort(new Error('The config is not there any more.'));
  }

  /** Ends everything that is under way, and makes no more attempts. */
  stop(): void {
    this.isStopped = true;
    for (const ending of this.underWay.values()) ending.abort(new Error('The agent is shutting down.'));
  }

  private async attempt(
    queue: ConfigQueue,
    notification: Notification | undefined,
    signal: AbortSignal,
  ): Promise<number> {
    const { configs, sender } = this.deps;
    const { key } = queue;
    let url = '';
    try {
      const record = await withinStoreTimeout(configs.read(key), LOOKUP_TIMEOUT);
      if (!record) {
        if (!queue.isForgotten) {
          this.logger.warn(`Task ${scrub(key.taskId)} was removed before all notifications of it were sent.`);
        }
        return -1;
      }
      url = record.config.url;
      const { version, json } = notification ?? (await this.snapshot(key));
      await sender.send(record, json, signal);
      return version;
    } catch (error) {
      if (!queue.isForgotten) {
        this.logger.warn(`A notification of task ${scrub(key.taskId)} was not delivered${describeFailure(url, error)}`);
      }
      return -1;
    }
  }

  private async snapshot({ taskId, owner }: PushConfigKey): Promise<Notification> {
    const reading = this.deps.store.read({ id: taskId, owner });
    const { task, version } = await withinStoreTimeout(reading, LOOKUP_TIMEOUT);
    return { version, json: JSON.stringify(encode('StreamResponse', { task })) };
  }
}

/** Resolves to -1 when the signal aborts, so that a look-up that hangs holds nobody up. */
function whenEnded(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(-1);
    });
  });
}
