import type { PushConfigKey } from '../store/push-config.record.js';

/**
 * Brings stored updates to the webhooks that ask for them.
 *
 * - Nobody waits on a receiver.
 * - What one config gets comes one at a time, in the order of versions.
 * - An update is brought by one process.
 */
export abstract class PushDispatcher {
  abstract start(): void;

  /** Stops everything that is under way to a config that is not there any more. */
  abstract forget(config: PushConfigKey): void;

  /**
   * Brings home what is under way, and then sends nothing more.
   *
   * @param timeout for how long, in milliseconds
   */
  abstract stop(timeout: number): Promise<void>;
}

/** What stands in the place of a dispatcher where there are no push notifications. */
export class SilentPushDispatcher extends PushDispatcher {
  start(): void {
    // There is nothing to bring.
  }

  forget(): void {
    // There is nothing under way.
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

/** Several dispatchers as one. */
export class PushDispatchers extends PushDispatcher {
  constructor(private readonly dispatchers: readonly PushDispatcher[]) {
    super();
  }

  start(): void {
    for (const dispatcher of this.dispatchers) dispatcher.start();
  }

  forget(config: PushConfigKey): void {
    for (const dispatcher of this.dispatchers) dispatcher.forget(config);
  }

  async stop(timeout: number): Promise<void> {
    await Promise.all(this.dispatchers.map((dispatcher) => dispatcher.stop(timeout)));
  }
}
