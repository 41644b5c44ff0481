import { Inject, Injectable } from '@nestjs/common';
import {
  InvalidParamsError,
  taskNotFound,
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type TaskPushNotificationConfig,
} from '#protocol';
import type { CallContext } from '../context/call-context.js';
import { PushConfigIntake } from '../push/push-config.intake.js';
import { PushDispatcher } from '../push/push.dispatcher.js';
import { PushSecrets, withoutCredentials } from '../push/push.secrets.js';
import { A2A_PUSH_SETTINGS, type PushSettings } from '../push/push.settings.js';
import type { PushConfigKey, PushConfigRecord } from '../store/push-config.record.js';
import type { PushConfigStore } from '../store/push-config.store.js';
import { isPushConfigConflict } from '../store/store-errors.js';
import { TaskStore } from '../store/task.store.js';
import { TaskReader } from './task.reader.js';

/**
 * Keeps the push notification configs of the tasks that a caller may see.
 *
 * - The task is looked for first: of one that the caller may not see nothing is told.
 * - Credentials go in, and do not come out.
 *
 * @see A2A v1.0 §3.1.7 Create Push Notification Config, §13.2 Push Notification Security
 */
@Injectable()
export class PushConfigService {
  constructor(
    private readonly store: TaskStore,
    private readonly reader: TaskReader,
    private readonly intake: PushConfigIntake,
    private readonly dispatcher: PushDispatcher,
    private readonly secrets: PushSecrets,
    @Inject(A2A_PUSH_SETTINGS) private readonly settings: PushSettings,
  ) {}

  /**
   * @throws {TaskNotFoundError} when the caller can see no such task
   * @throws {InvalidParamsError} for a webhook that the agent does not call, or an id that the task has already
   * @see A2A v1.0 §3.1.7 Create Push Notification Config
   */
  async create(request: TaskPushNotificationConfig, call: CallContext): Promise<TaskPushNotificationConfig> {
    if (request.taskId === undefined || request.taskId === '') {
      throw new InvalidParamsError([{ field: 'taskId', description: 'Must be set.' }]);
    }
    // What was begun is finished, also for a client that leaves.
    const staying = { ...call, signal: new AbortController().signal };
    const { task, owner } = await this.reader.read(request.taskId, staying);
    const { record, keep } = await this.intake.admit(request, { id: task.id, owner });
    try {
      await this.reader.ask(this.configs.create(record, keep), staying, task.id);
    } catch (error) {
      if (!isPushConfigConflict(error)) throw error;
      throw new InvalidParamsError([{ field: 'id', description: 'Must not be the id of another config of the task.' }]);
    }
    return this.shown(record);
  }

  /**
   * @throws {TaskNotFoundError} when the caller can see no such task, or the task has no such config
   * @see A2A v1.0 §3.1.8 Get Push Notification Config
   */
  async get(request: GetTaskPushNotificationConfigRequest, call: CallContext): Promise<TaskPushNotificationConfig> {
    const key = await this.keyOf(request, call);
    const record = await this.reader.ask(this.configs.read(key, call.signal), call);
    if (!record) throw taskNotFound(key.taskId);
    return this.shown(record);
  }

  /**
   * @returns all configs of the task, oldest first: there are few
   * @throws {TaskNotFoundError} when the caller can see no such task
   * @see A2A v1.0 §3.1.9 List Push Notification Configs
   */
  async list(
    { taskId, pageToken }: ListTaskPushNotificationConfigsRequest,
    call: CallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    const { task, owner } = await this.reader.read(taskId, call);
    if (pageToken) {
      throw new InvalidParamsError([{ field: 'pageToken', description: 'Must be a token of an earlier page.' }]);
    }
    const records = await this.reader.ask(this.configs.list({ taskId: task.id, owner }, call.signal), call);
    return { configs: records.map((record) => this.shown(record)) };
  }

  /**
   * Removes a config, if it is there. Nothing is sent to it any more, not even what waits.
   *
   * @throws {TaskNotFoundError} when the caller can see no such task
   * @see A2A v1.0 §3.1.10 Delete Push Notification Config
   */
  async delete(request: DeleteTaskPushNotificationConfigRequest, call: CallContext): Promise<Record<string, never>> {
    const key = await this.keyOf(request, call);
    await this.reader.ask(this.remove(key), call);
    return {};
  }

  private get configs(): PushConfigStore {
    const { pushConfigs } = this.store;
    if (!pushConfigs) throw new Error('The store keeps no push configs.');
    return pushConfigs;
  }

  /** What was begun is finished, also for a client that leaves. */
  private async remove(key: PushConfigKey): Promise<void> {
    await this.configs.remove(key);
    this.dispatcher.forget(key);
  }

  private async keyOf({ taskId, id }: Pick<PushConfigKey, 'taskId' | 'id'>, call: CallContext): Promise<PushConfigKey> {
    const { owner } = await this.reader.read(taskId, call);
    return { id, taskId, owner };
  }

  private shown(record: PushConfigRecord): TaskPushNotificationConfig {
    const config = this.secrets.reveal(record);
    return this.settings.revealCredentials ? config : withoutCredentials(config);
  }
}
