import { setTimeout as delay } from 'node:timers/promises';
import type { Repository } from 'typeorm';
import { ConnectionLostError, isConnectionLoss } from './connection-lost.error.js';
import type { TaskEntity, TaskEventEntity } from './task.entity.js';
import type { WriteOperation, WriteResult } from './write-operation.js';
import type { WriteQueue } from './write-queue.js';

/** For how long the update of a running task is brought home, in milliseconds. */
const PATIENCE = 30_000;
/** For how long a new task is, whose caller waits, in milliseconds. */
const SHORT_PATIENCE = 3_000;
/** Between two attempts, in milliseconds. */
const PAUSE = 100;

/**
 * Brings writes home over a connection that breaks.
 *
 * When the answer to a write is lost, it may have been committed or not. The rows tell: a write that is there is not
 * repeated, one that is not is sent again.
 */
export class AmbiguousWrites {
  constructor(
    private readonly queue: WriteQueue,
    private readonly tasks: Repository<TaskEntity>,
    private readonly events: Repository<TaskEventEntity>,
  ) {}

  /**
   * @returns as the writer does
   * @throws {ConnectionLostError} when the database stayed out of reach
   */
  async write(operation: WriteOperation): Promise<WriteResult> {
    const patience = operation.kind === 'change' && operation.expected !== null ? PATIENCE : SHORT_PATIENCE;
    const deadline = performance.now() + patience;
    let isRepeated = false;
    for (;;) {
      try {
        const stored = isRepeated ? await this.storedResult(operation) : undefined;
        return stored ?? (await this.queue.write(operation));
      } catch (error) {
        if (!isConnectionLoss(error) && !(error instanceof ConnectionLostError)) throw error;
        if (performance.now() + PAUSE > deadline) throw error;
        isRepeated = true;
        await delay(PAUSE);
      }
    }
  }

  /** @returns what it led to, when the rows show that the operation was written */
  private async storedResult(operation: WriteOperation): Promise<WriteResult | undefined> {
    const { id } = operation;
    if (operation.kind === 'remove') return (await this.tasks.existsBy({ id })) ? undefined : { version: 0 };
    if (operation.kind === 'compact') return undefined;
    if (operation.kind === 'insert') {
      return (await this.tasks.existsBy({ id })) ? { version: operation.version } : undefined;
    }
    const last = operation.events.at(-1);
    if (!last) return undefined;
    // Ids and times in an update make its text as good as a name.
    const event = await this.events.findOneBy({ taskId: id, json: last.json });
    return event ? { version: event.version } : undefined;
  }
}
