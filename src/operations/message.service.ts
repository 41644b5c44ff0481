import { Inject, Injectable } from '@nestjs/common';
import {
  InternalError,
  InvalidParamsError,
  isInterrupted,
  isTerminal,
  PushNotificationNotSupportedError,
  UnsupportedOperationError,
  type Message,
  type SendMessageRequest,
  type SendMessageResponse,
} from '#protocol';
import type { CallContext } from '../context/call-context.js';
import { Clock } from '../context/clock.js';
import { IdGenerator } from '../context/id-generator.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import type { RunOrder, TaskRun } from '../execution/task-run.js';
import { TaskRunner } from '../execution/task.runner.js';
import { seedFromRecord, seedTask, type TaskSeed } from '../execution/task-seed.js';
import type { RegisteredSkill } from '../skills/registered-skill.js';
import type { TaskRecord } from '../store/task-record.js';
import { withHistory } from './history.policy.js';
import { assertInputModes } from './input-mode.policy.js';
import { assertScopes } from './skill-scope.policy.js';
import { SkillSelector } from './skill.selector.js';
import { TaskReader } from './task.reader.js';

/** A message that was let in: under way in a run, or already answered by a task that nobody works on. */
type Admission = { readonly run: TaskRun } | { readonly response: SendMessageResponse };

/**
 * Takes messages in: each starts a task, or resumes one that waits for it.
 *
 * - A message is refused before anything of it is written, or it is on a task for good.
 *
 * @see A2A v1.0 §3.1.1 Send Message
 */
@Injectable()
export class MessageService {
  constructor(
    private readonly reader: TaskReader,
    private readonly selector: SkillSelector,
    private readonly runner: TaskRunner,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /**
   * Sends a message, and waits for the task to settle or pause unless the client does not want to.
   *
   * @throws {A2AError} when the message is refused
   */
  async send(request: SendMessageRequest, call: CallContext): Promise<SendMessageResponse> {
    const { historyLength, returnImmediately = false } = request.configuration ?? {};
    const admission = await this.admit(request, call, returnImmediately);
    const response =
      'response' in admission ? admission.response : await this.responseOf(admission.run, call, returnImmediately);
    return 'task' in response ? { task: withHistory(response.task, historyLength) } : response;
  }

  private async admit(request: SendMessageRequest, call: CallContext, disclose: boolean): Promise<Admission> {
    if (request.configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
    for (const id of request.message.referenceTaskIds ?? []) await this.reader.read(id, call);
    const { taskId } = request.message;
    return taskId === undefined
      ? this.startTask(request, call, disclose)
      : this.resumeTask(await this.reader.read(taskId, call), request, call);
  }

  private async startTask(request: SendMessageRequest, call: CallContext, disclose: boolean): Promise<Admission> {
    const id = this.ids.next();
    const contextId = request.message.contextId ?? this.ids.next();
    const message = this.stamp(request, id, contextId);
    const selection = await this.selector.select(message);
    if ('skill' in selection) this.assertMayUse(selection.skill, message, call);
    const seed = seedTask({
      ...call.tier,
      id,
      contextId,
      message,
      skillId: 'skill' in selection ? selection.skill.description.id : '',
      skillMetadataKey: this.settings.skillMetadataKey,
      now: this.clock.now(),
    });
    if ('rejection' in selection) return this.rejectTask(seed, selection.rejection);
    return { run: await this.runner.start(orderOf(request, call, selection.skill, message, seed), disclose) };
  }

  private async resumeTask(record: TaskRecord, request: SendMessageRequest, call: CallContext): Promise<Admission> {
    const { id, contextId, status } = record.task;
    if (request.message.contextId !== undefined && request.message.contextId !== contextId) {
      throw new InvalidParamsError([{ field: 'message.contextId', description: 'Is not the context of the task.' }]);
    }
    if (isTerminal(status.state)) throw new UnsupportedOperationError('The task has ended.');
    if (!isInterrupted(status.state)) throw new UnsupportedOperationError('The task is running.');
    const message = this.stamp(request, id, contextId);
    const selection = this.selector.find(record.skillId);
    const seed = seedFromRecord(record);
    if ('rejection' in selection) return this.rejectTask(seed, selection.rejection, message);
    this.assertMayUse(selection.skill, message, call);
    return { run: await this.runner.resume(orderOf(request, call, selection.skill, message, seed)) };
  }

  private async rejectTask(seed: TaskSeed, reason: string, message?: Message): Promise<Admission> {
    const { current } = await this.runner.reject(seed, reason, message);
    return { response: { task: current } };
  }

  private async responseOf(run: TaskRun, call: CallContext, immediately: boolean): Promise<SendMessageResponse> {
    if (immediately && run.beginning) return { task: run.beginning };
    const outcome = await Promise.race([run.outcome, run.stall]);
    if (!outcome) throw new InternalError('The task store does not answer; the task goes on.');
    switch (outcome.kind) {
      case 'task':
        return { task: run.recorder.current };
      case 'message':
        return { message: outcome.message };
      case 'elsewhere':
        return { task: (await this.reader.read(run.recorder.key.id, call)).task };
      case 'error':
        throw outcome.error;
    }
  }

  private assertMayUse({ description }: RegisteredSkill, { parts }: Message, { principal }: CallContext): void {
    assertScopes(description, principal);
    assertInputModes(parts, description, this.settings);
  }

  /** Puts the task's ids on a message, and an id of its own when it has none. */
  private stamp({ message }: SendMessageRequest, taskId: string, contextId: string): Message {
    return { ...message, messageId: message.messageId ?? this.ids.next(), taskId, contextId };
  }
}

function orderOf(
  { configuration = {}, metadata = {} }: SendMessageRequest,
  call: CallContext,
  skill: RegisteredSkill,
  message: Message,
  seed: TaskSeed,
): RunOrder {
  return { call, skill, message, seed, configuration, metadata };
}
