import { Logger } from '@nestjs/common';
import {
  InternalError,
  InvalidAgentResponseError,
  scrub,
  TaskState,
  textPart,
  type A2AError,
  type JsonObject,
  type Message,
  type Part,
  type SendMessageConfiguration,
  type Task,
} from '#protocol';
import type { CallContext } from '../context/call-context.js';
import type { IdGenerator } from '../context/id-generator.js';
import type { Tier } from '../context/tier.js';
import type { DirectMessage } from '../skills/direct-message.js';
import type { RegisteredSkill } from '../skills/registered-skill.js';
import type { TaskUpdate } from '../store/task-update.js';
import { describeError } from '../context/describe-error.js';
import { endOfAbort, endOfError, type RunEnd } from './run-end.js';
import { DeadlineExceededError, TaskEndedError, TaskSettledElsewhereError, TaskTooLargeError } from './run-errors.js';
import type { RunOutcome } from './run-outcome.js';
import { RunTaskContext } from './run-task-context.js';
import type { RunSlot } from './run.registry.js';
import { SkillWork, type WorkResult } from './skill-work.js';
import { TaskRecorder, type RecorderDependencies } from './task.recorder.js';
import type { TaskSeed } from './task-seed.js';

/** After this long a task that nobody was told of gets its row, in milliseconds. */
const DISCLOSURE_DELAY = 50;

/** What a run is made of. */
export interface RunOrder {
  readonly call: CallContext;
  readonly skill: RegisteredSkill;
  /** The message that starts or resumes the task, with the ids of the task on it. */
  readonly message: Message;
  readonly configuration: SendMessageConfiguration;
  readonly metadata: JsonObject;
  readonly seed: TaskSeed;
}

/** A task before its run has changed it. */
export interface Beginning {
  readonly task: Task;
  readonly version: number;
}

/** What every run of a process works with. */
export interface RunDependencies extends RecorderDependencies {
  readonly ids: IdGenerator;
}

/**
 * One run of a skill on a task, detached from the request that started it.
 *
 * - The task ends with the run at the latest, however the skill behaves: it may throw, ignore its signal or never return.
 * - A state that the skill set stands, whatever it returns or throws afterwards.
 * - When someone else has settled the task, the run writes nothing more.
 * - The run slot is given back before the task is seen to be paused or settled.
 *
 * @see A2A v1.0 §3.1.1 Send Message
 */
export class TaskRun {
  private static readonly logger = new Logger('TaskRun');

  readonly recorder: TaskRecorder;
  /** Resolves when the task is settled or paused, or answered without a task. Never rejects. */
  readonly outcome: Promise<RunOutcome>;
  /** Resolves when the store keeps the run waiting for longer than a caller should wait. The run goes on. */
  readonly stall: Promise<void>;

  /** Resolves with the task as it was created or resumed, if someone {@link watch}es. */
  readonly beginning: Promise<Beginning>;

  private readonly controller = new AbortController();
  private resolveOutcome!: (outcome: RunOutcome) => void;
  private resolveStall!: () => void;
  private resolveBeginning!: (beginning: Beginning) => void;
  private isWatched = false;
  private isOver = false;
  /** Why the skill may record nothing more. */
  private refusal: Error | undefined;

  constructor(
    private readonly deps: RunDependencies,
    private readonly order: RunOrder,
    readonly id: string,
    slot: RunSlot,
  ) {
    this.outcome = new Promise((resolve) => {
      this.resolveOutcome = (outcome) => {
        this.isOver = true;
        slot.release();
        resolve(outcome);
      };
    });
    this.stall = new Promise((resolve) => {
      this.resolveStall = resolve;
    });
    this.beginning = new Promise((resolve) => {
      this.resolveBeginning = resolve;
    });
    this.recorder = new TaskRecorder(deps, order.seed, id, {
      begun: () => {
        this.showBeginning();
      },
      released: () => {
        slot.release();
      },
      ended: () => {
        this.resolveOutcome({ kind: 'task' });
      },
      stalled: () => {
        this.resolveStall();
      },
    });
    if (this.answersWithMessage) this.refusal = new TaskEndedError('A skill that answers with Messages has no task.');
    const resumedFrom = order.seed.version ?? 0;
    // From the start: a cancel may come before the skill does, and the last word of the run before this one as late.
    const settledElsewhere = (version = Infinity): void => {
      if (version > resumedFrom) this.abort(new TaskSettledElsewhereError());
    };
    const following = deps.bus.follow(
      this.recorder.key,
      ({ runId, version }) => {
        if (runId !== this.id) settledElsewhere(version);
      },
      { after: resumedFrom, missed: settledElsewhere, removed: settledElsewhere },
    );
    void this.outcome.then(() => {
      following.unsubscribe();
    });
  }

  /** The tier of the task. */
  get tier(): Tier {
    return this.order.seed;
  }

  /**
   * Stops the run.
   *
   * @param reason what the skill's signal and its later mutations show
   */
  abort(reason: Error): void {
    if (this.isOver) return;
    this.refusal = reason;
    if (reason instanceof TaskSettledElsewhereError) this.recorder.close(reason);
    this.controller.abort(reason);
  }

  /** Gives the run up before its skill was called. */
  giveUp(error: A2AError): void {
    this.resolveOutcome({ kind: 'error', error });
  }

  /** Does the work, to its end. Never rejects. */
  async execute(): Promise<void> {
    // A resumed task has had its row for long.
    if (!this.recorder.isDraft) this.showBeginning();
    const deadline = setTimeout(() => {
      this.abort(new DeadlineExceededError());
    }, this.deps.settings.taskTimeout);
    const disclosure = setTimeout(() => {
      if (!this.answersWithMessage) this.disclose();
    }, DISCLOSURE_DELAY);
    void this.outcome.then(() => {
      clearTimeout(deadline);
      clearTimeout(disclosure);
    });
    try {
      await this.finish(await this.work());
    } catch (error) {
      TaskRun.logger.error(
        `a2a: run finalize panicked on task ${scrub(this.recorder.key.id)}: ${describeError(error)}`,
      );
      this.resolveOutcome({ kind: 'error', error: new InternalError() });
    }
  }

  /** Notes that someone is told of the task from its beginning: it stays, whatever the skill answers. */
  watch(): void {
    this.isWatched = true;
  }

  private showBeginning(): void {
    if (!this.isWatched) return;
    this.recorder.tell();
    this.resolveBeginning({ task: this.recorder.snapshot(), version: this.recorder.currentVersion });
  }

  private get answersWithMessage(): boolean {
    return this.order.skill.description.answers === 'message';
  }

  private disclose(): void {
    this.recorder.disclose().catch((error: unknown) => {
      TaskRun.logger.error(`Task ${scrub(this.recorder.key.id)} could not be stored: ${describeError(error)}`);
    });
  }

  /** Runs the skill until it is done or stopped, whichever comes first. */
  private async work(): Promise<WorkResult | RunEnd> {
    const { signal } = this.controller;
    const { call, skill } = this.order;
    const work = new SkillWork(skill, call, this.createContext(), this.recorder, this.deps.ids);
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
    try {
      signal.throwIfAborted();
      return await Promise.race([work.perform(), stopped]);
    } catch (error) {
      if (signal.aborted) return endOfAbort(signal.reason);
      const end = endOfError(error, work.entered);
      if (end.isFault) this.logFault(error);
      return end;
    }
  }

  private logFault(error: unknown): void {
    const where = `Skill "${this.order.skill.description.id}" failed on task ${scrub(this.recorder.key.id)}`;
    TaskRun.logger.error(`${where}: ${describeError(error)}`, (error as Partial<Error> | undefined)?.stack);
  }

  private async finish(result: WorkResult | RunEnd): Promise<void> {
    if (this.recorder.hasEnded) await this.recorder.idle();
    if (this.isOver) return;
    if (this.controller.signal.reason instanceof TaskSettledElsewhereError) {
      this.resolveOutcome({ kind: 'elsewhere' });
    } else if (result.kind === 'message') {
      await this.answer(result.answer);
    } else if (this.answersWithMessage) {
      this.resolveOutcome({ kind: 'error', error: errorOf(result) });
    } else if (result.kind === 'done') {
      await this.settle(TaskState.Completed, [], result.updates);
    } else {
      await this.settle(result.state, result.text === undefined ? [] : [textPart(result.text)]);
    }
  }

  /** Answers with a Message, and without a task when nobody has been told of it. */
  private async answer({ parts, metadata }: DirectMessage): Promise<void> {
    if (this.recorder.told) {
      await this.settle(TaskState.Completed, parts, [], metadata);
      return;
    }
    const { contextId } = this.recorder.current;
    const message: Message = {
      messageId: this.deps.ids.next(),
      contextId,
      role: 'ROLE_AGENT',
      parts: [...parts],
      ...(metadata && { metadata }),
    };
    this.resolveOutcome((await this.recorder.takeBack()) ? { kind: 'message', message } : { kind: 'elsewhere' });
  }

  private async settle(
    state: TaskState,
    parts: readonly Part[],
    updates: readonly TaskUpdate[] = [],
    metadata?: JsonObject,
  ): Promise<void> {
    const { recorder, deps } = this;
    const message =
      parts.length > 0
        ? { ...recorder.agentMessage(deps.ids.next(), [...parts]), ...(metadata && { metadata }) }
        : undefined;
    try {
      await recorder.record(...updates, recorder.statusUpdate(state, message));
    } catch (error) {
      if (error instanceof TaskTooLargeError) await this.settle(TaskState.Failed, [textPart('task is too large')]);
      else if (error instanceof TaskSettledElsewhereError) this.resolveOutcome({ kind: 'elsewhere' });
      else throw error;
    }
  }

  private createContext(): RunTaskContext {
    const { call, message, configuration, metadata } = this.order;
    return new RunTaskContext({
      call,
      message,
      configuration,
      metadata,
      recorder: this.recorder,
      signal: this.controller.signal,
      ids: this.deps.ids,
      assertOpen: () => {
        if (this.refusal) throw this.refusal;
      },
      record: (update) => this.recordForSkill(update),
    });
  }

  private async recordForSkill(update: TaskUpdate): Promise<void> {
    if (this.refusal) throw this.refusal;
    try {
      await this.recorder.record(update);
    } catch (error) {
      if (error instanceof TaskTooLargeError || error instanceof TaskSettledElsewhereError) this.abort(error);
      throw error;
    }
  }
}

/** What a caller gets whose skill owed it a Message. */
function errorOf(result: WorkResult | RunEnd): A2AError {
  if (result.kind === 'end') return result.error ?? new InternalError(result.text);
  return new InvalidAgentResponseError('The skill gave no Message.');
}
