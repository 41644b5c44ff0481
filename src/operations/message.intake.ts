import { Inject, Injectable } from '@nestjs/common';
import {
  InvalidParamsError,
  isInterrupted,
  isTerminal,
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
import { PushConfigIntake } from '../push/push-config.intake.js';
import type { TaskRecord } from '../store/task-record.js';
import type { TaskKey } from '../store/task-key.js';
import { CapabilityPolicy } from './capability.policy.js';
import { assertInputModes } from './input-mode.policy.js';
import { assertScopes } from './skill-scope.policy.js';
import { SkillSelector } from './skill.selector.js';
import { TaskReader } from './task.reader.js';

/** How many tasks a message may refer to: each is looked up. */
const MAX_REFERENCES = 64;

/** A message that was let in: under way in a run, or already answered by a task that nobody works on. */
export type Admission =
  { readonly run: TaskRun } | { readonly response: SendMessageResponse; readonly version: number };

/** How a message is let in. */
export interface IntakeOptions {
  /** Whether the caller is told of the task at once. */
  readonly disclose?: boolean;
  /** Sees the run before anything of the message is written. */
  readonly prepared?: (run: TaskRun) => void;
}

/**
 * Takes messages in: each starts a task, or resumes one that waits for it.
 *
 * - A message is refused before anything of it is written, or it is on a task for good.
 *
 * @see A2A v1.0 §3.1.1 Send Message
 */
@Injectable()
export class MessageIntake {
  constructor(
    private readonly reader: TaskReader,
    private readonly selector: SkillSelector,
    private readonly runner: TaskRunner,
    private readonly capabilities: CapabilityPolicy,
    private readonly pushConfigs: PushConfigIntake,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** @throws {A2AError} when the message is refused */
  async admit(request: SendMessageRequest, call: CallContext, options: IntakeOptions = {}): Promise<Admission> {
    const { referenceTaskIds = [] } = request.message;
    if (referenceTaskIds.length > MAX_REFERENCES) {
      const description = `Must be at most ${MAX_REFERENCES}.`;
      throw new InvalidParamsError([{ field: 'message.referenceTaskIds', description }]);
    }
    for (const id of referenceTaskIds) await this.reader.read(id, call);
    const { taskId } = request.message;
    return taskId === undefined
      ? this.startTask(request, call, options)
      : this.resumeTask(await this.reader.read(taskId, call), request, call, options);
  }

  private async startTask(
    request: SendMessageRequest,
    call: CallContext,
    { disclose = false, prepared }: IntakeOptions,
  ): Promise<Admission> {
    const id = this.ids.next();
    const contextId = request.message.contextId ?? this.ids.next();
    const message = this.stamp(request, id, contextId);
    const selection = await this.selector.select(message);
    if ('skill' in selection) this.assertMayUse(selection.skill, message, call);
    const push = await this.pushConfigOf(request, { id, owner: call.tier.owner });
    const seed = seedTask({
      ...call.tier,
      id,
      contextId,
      message,
      skillId: 'skill' in selection ? selection.skill.description.id : '',
      skillMetadataKey: this.settings.skillMetadataKey,
      now: this.clock.now(),
      push,
    });
    if ('rejection' in selection) return this.rejectTask(seed, selection.rejection);
    const order = orderOf(request, call, selection.skill, message, seed);
    return { run: await this.runner.start(order, disclose, prepared) };
  }

  private async resumeTask(
    record: TaskRecord,
    request: SendMessageRequest,
    call: CallContext,
    { prepared }: IntakeOptions,
  ): Promise<Admission> {
    const { id, contextId, status } = record.task;
    if (request.message.contextId !== undefined && request.message.contextId !== contextId) {
      throw new InvalidParamsError([{ field: 'message.contextId', description: 'Is not the context of the task.' }]);
    }
    if (isTerminal(status.state)) throw new UnsupportedOperationError('The task has ended.');
    if (!isInterrupted(status.state)) throw new UnsupportedOperationError('The task is running.');
    const message = this.stamp(request, id, contextId);
    const selection = this.selector.find(record.skillId);
    if ('skill' in selection) this.assertMayUse(selection.skill, message, call);
    const seed = seedFromRecord(record, await this.pushConfigOf(request, { id, owner: record.owner }));
    if ('rejection' in selection) return this.rejectTask(seed, selection.rejection, message);
    const order = orderOf(request, call, selection.skill, message, seed);
    return { run: await this.runner.resume(order, prepared) };
  }

  /** The push config that comes with a message, ready to be stored with the task. */
  private async pushConfigOf({ message, configuration }: SendMessageRequest, task: TaskKey) {
    const config = configuration?.taskPushNotificationConfig;
    if (!config) return undefined;
    this.capabilities.assertServes('CreateTaskPushNotificationConfig');
    const field = 'configuration.taskPushNotificationConfig.';
    if (message.taskId !== undefined && config.taskId && config.taskId !== task.id) {
      throw new InvalidParamsError([{ field: `${field}taskId`, description: 'Must be the task of the message.' }]);
    }
    return this.pushConfigs.admit(config, task, field);
  }

  private async rejectTask(seed: TaskSeed, reason: string, message?: Message): Promise<Admission> {
    const { current, currentVersion } = await this.runner.reject(seed, reason, message);
    return { response: { task: current }, version: currentVersion };
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
