import { Injectable } from '@nestjs/common';
import { formatTimestamp, isTerminal, NON_TERMINAL_STATES, taskNotCancelable, TaskState, type Task } from '#protocol';
import { Clock } from '../context/clock.js';
import { TaskEventBus } from '../events/task-event.bus.js';
import type { TaskKey } from '../store/task-key.js';
import type { TaskRecord } from '../store/task-record.js';
import { TaskStore } from '../store/task.store.js';
import type { StatusUpdate } from '../store/task-update.js';
import { TaskRetention } from './task.retention.js';

/**
 * Cancels tasks against the store, wherever their run may be.
 *
 * - Decided in one write: a skill that completes late cannot overwrite it, nor it a completion.
 * - Followers of the task see exactly one CANCELED.
 *
 * @see A2A v1.0 §3.1.5 Cancel Task
 */
@Injectable()
export class TaskCanceller {
  constructor(
    private readonly store: TaskStore,
    private readonly bus: TaskEventBus,
    private readonly clock: Clock,
    private readonly retention: TaskRetention,
  ) {}

  /**
   * Cancels a task.
   *
   * @param record the task as the caller was shown it
   * @returns the canceled task
   * @throws {TaskNotCancelableError} when the task has ended, unless another cancel won the race against this one
   */
  async cancel(record: TaskRecord): Promise<Task> {
    const key = keyOf(record);
    if (isTerminal(record.task.status.state)) throw taskNotCancelable(key.id, record.task.status.state);
    await this.settle(record, NON_TERMINAL_STATES);
    const { task } = await this.store.read(key);
    if (task.status.state !== TaskState.Canceled) throw taskNotCancelable(key.id, task.status.state);
    return task;
  }

  /**
   * Cancels a task that nobody works on; one that somebody resumed meanwhile goes on.
   *
   * @param guard the states in which it may be
   */
  cancelPaused(record: TaskRecord, guard: readonly TaskState[]): Promise<void> {
    return this.settle(record, guard);
  }

  private async settle(record: TaskRecord, guard: readonly TaskState[]): Promise<void> {
    const key = keyOf(record);
    const at = Math.max(this.clock.now(), record.statusAt);
    const update: StatusUpdate = {
      kind: 'status',
      status: { state: TaskState.Canceled, timestamp: formatTimestamp(at) },
    };
    const written = await this.store.settle({ key, guard, update, at });
    if (!written) return;
    this.bus.publishSettle(key, record.task.contextId, update, written);
    this.retention.schedule(record);
  }
}

function keyOf({ task, owner }: TaskRecord): TaskKey {
  return { id: task.id, owner };
}
