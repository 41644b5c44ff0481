import { Inject, Injectable } from '@nestjs/common';
import {
  InvalidParamsError,
  parseTimestamp,
  type CancelTaskRequest,
  type FieldViolation,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  type Task,
} from '#protocol';
import type { CallContext } from '../context/call-context.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { TaskCanceller } from '../execution/task.canceller.js';
import { decodeCursor, encodeCursor } from '../store/cursor.js';
import type { TaskQuery } from '../store/task.store.js';
import { withHistory } from './history.policy.js';
import { TaskLister } from './task.lister.js';
import { TaskReader } from './task.reader.js';

/** Reads, lists and cancels the tasks of the caller. */
@Injectable()
export class TaskService {
  constructor(
    private readonly reader: TaskReader,
    private readonly lister: TaskLister,
    private readonly canceller: TaskCanceller,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /**
   * @throws {TaskNotFoundError} when the caller can see no such task
   * @see A2A v1.0 §3.1.3 Get Task
   */
  async get({ id, historyLength }: GetTaskRequest, call: CallContext): Promise<Task> {
    const { task } = await this.reader.read(id, call);
    return withHistory(task, historyLength);
  }

  /**
   * @throws {InvalidParamsError} for a page size out of bounds or a page token that is none
   * @see A2A v1.0 §3.1.4 List Tasks
   */
  async list(request: ListTasksRequest, call: CallContext): Promise<ListTasksResponse> {
    const query = this.queryOf(request, call);
    const { records, total, more } = await this.lister.list(query, call);
    const last = records.at(-1);
    return {
      tasks: records.map(({ task }) => shown(task, request)),
      nextPageToken: more && last ? encodeCursor({ statusAt: last.statusAt, id: last.task.id }) : '',
      pageSize: query.limit,
      totalSize: total,
    };
  }

  /**
   * @throws {TaskNotFoundError} when the caller can see no such task
   * @throws {TaskNotCancelableError} when the task has ended
   * @see A2A v1.0 §3.1.5 Cancel Task
   */
  async cancel({ id }: CancelTaskRequest, call: CallContext): Promise<Task> {
    // A cancel is not left half done by a client that leaves.
    const staying = { ...call, signal: new AbortController().signal };
    const record = await this.reader.read(id, staying);
    return this.reader.ask(this.canceller.cancel(record), staying, id);
  }

  private queryOf(request: ListTasksRequest, call: CallContext): TaskQuery {
    const { contextId, status, pageToken, statusTimestampAfter, includeArtifacts = false } = request;
    const limit = request.pageSize ?? this.settings.defaultPageSize;
    const after = pageToken === undefined ? undefined : decodeCursor(pageToken);
    const since = statusTimestampAfter === undefined ? undefined : parseTimestamp(statusTimestampAfter);
    const violations: FieldViolation[] = [];
    if (limit > this.settings.maxPageSize) {
      violations.push({ field: 'pageSize', description: `Must be from 1 to ${this.settings.maxPageSize}.` });
    }
    if (pageToken !== undefined && !after) {
      violations.push({ field: 'pageToken', description: 'Must be a token of an earlier page.' });
    }
    if (violations.length > 0) throw new InvalidParamsError(violations);
    return {
      tier: call.tier,
      limit,
      artifacts: includeArtifacts,
      ...(contextId !== undefined && { contextId }),
      ...(status !== undefined && { state: status }),
      ...(since !== undefined && { statusSince: since }),
      ...(after && { after }),
    };
  }
}

/** A listed task, with the artifacts only when they were asked for. */
function shown(task: Task, { historyLength, includeArtifacts }: ListTasksRequest): Task {
  const { artifacts, ...rest } = withHistory(task, historyLength);
  return includeArtifacts === true && artifacts ? { ...rest, artifacts } : rest;
}
