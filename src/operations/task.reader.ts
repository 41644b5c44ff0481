import { Inject, Injectable, Logger } from '@nestjs/common';
import { isA2AError, InternalError, scrub, taskNotFound } from '#protocol';
import type { CallContext } from '../context/call-context.js';
import { describeError } from '../context/describe-error.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { isVisible } from '../context/tier.js';
import { withinStoreTimeout } from '../store/store-deadline.js';
import { isPushConfigConflict, isRecordNotFound } from '../store/store-errors.js';
import type { TaskRecord } from '../store/task-record.js';
import { TaskStore } from '../store/task.store.js';

/** The only way from a task id to a task: what a caller may not see is not there. */
@Injectable()
export class TaskReader {
  private readonly logger = new Logger(TaskReader.name);

  constructor(
    private readonly store: TaskStore,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /**
   * Reads a task on behalf of a caller.
   *
   * @throws {TaskNotFoundError} for an id that is unknown, or of another owner, tenant or scope set, alike
   * @throws {InternalError} when the store fails
   */
  async read(id: string, call: CallContext): Promise<TaskRecord> {
    const record = await this.ask(this.store.read({ id, owner: call.tier.owner }, call.signal), call, id);
    if (!isVisible(record, call.tier)) throw taskNotFound(id);
    return record;
  }

  /**
   * Waits for a store's answer, no longer than the bound and than the caller waits.
   *
   * @param id the task that is asked for, if it is one
   * @throws {TaskNotFoundError} when the store knows no such task
   * @throws {PushConfigConflictError} when the store says so
   * @throws {InternalError} when the store fails, or the client has left
   */
  async ask<T>(answer: Promise<T>, { signal }: Pick<CallContext, 'signal'>, id?: string): Promise<T> {
    let leave!: () => void;
    const departure = new Promise<never>((_, reject) => {
      leave = () => {
        reject(new InternalError('The client has left.'));
      };
    });
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave);
    try {
      return await Promise.race([withinStoreTimeout(answer, this.settings.storeTimeout), departure]);
    } catch (error) {
      throw this.translate(error, id);
    } finally {
      // A stream asks many times on one signal.
      signal.removeEventListener('abort', leave);
    }
  }

  private translate(error: unknown, id?: string): unknown {
    if (isA2AError(error) || isPushConfigConflict(error)) return error;
    if (id !== undefined && isRecordNotFound(error)) return taskNotFound(id);
    this.logger.error(`The task store failed: ${scrub(describeError(error))}`);
    return new InternalError();
  }
}
