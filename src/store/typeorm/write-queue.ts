import { setImmediate } from 'node:timers/promises';
import { ConnectionLostError } from './connection-lost.error.js';
import type { BatchWriter, WriteOperation, WriteResult } from './write-operation.js';

/** How many operations leave at once. */
const MAX_BATCH = 150;

interface Waiting {
  readonly operation: WriteOperation;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Gathers the writes of a process: whatever waits when the writer is free leaves as one batch. There are no timers.
 *
 * - A batch has at most one operation per task, and takes them in the order of the ids, so that writers never deadlock.
 * - When a batch fails, its operations are repeated one by one, so that a bad one harms no other.
 */
export class WriteQueue {
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(private readonly writer: BatchWriter) {}

  /** @throws {Error} when the operation could not be written */
  write(operation: WriteOperation): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ operation, resolve, reject });
      if (!this.isWriting) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.isWriting = true;
    // Lets what comes in the same turn leave together.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      await this.writeBatch(this.takeBatch());
      // SQLite writes without a pause, and its writers would keep the process from everything else.
      await setImmediate();
    }
    this.isWriting = false;
  }

  private takeBatch(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const item of this.waiting) {
      const { id } = item.operation;
      if (batch.size < MAX_BATCH && !batch.has(id)) batch.set(id, item);
      else later.push(item);
    }
    this.waiting = later;
    return [...batch.values()].sort((a, b) => (a.operation.id < b.operation.id ? -1 : 1));
  }

  private async writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.writer.write(batch.map(({ operation }) => operation));
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] ?? null);
      });
    } catch (error) {
      // What may have been written must not be written again.
      if (batch.length > 1 && !(error instanceof ConnectionLostError)) {
        for (const item of batch) await this.writeBatch([item]);
        return;
      }
      batch.forEach(({ reject }) => {
        reject(error);
      });
    }
  }
}
