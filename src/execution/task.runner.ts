import { Inject, Injectable, Logger } from '@nestjs/common';
import { InternalError, isInterrupted, TaskState, textPart, UnsupportedOperationError, type Message } from '#protocol';
import { Clock } from '../context/clock.js';
import { IdGenerator } from '../context/id-generator.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { within } from '../context/within.js';
import { TaskEventBus } from '../events/task-event.bus.js';
import { TaskStore } from '../store/task.store.js';
import type { TaskUpdate } from '../store/task-update.js';
import { describeError } from '../context/describe-error.js';
import { PausedTaskRetention } from './paused-task.retention.js';
import { ShutdownError, TaskSettledElsewhereError, TaskTooLargeError } from './run-errors.js';
import { RunRegistry } from './run.registry.js';
import { TaskRun, type RunDependencies, type RunOrder } from './task-run.js';
import { TaskRecorder } from './task.recorder.js';
import { TaskRetention } from './task.retention.js';
import type { TaskSeed } from './task-seed.js';

/**
 * Starts runs, and stops them when the process ends.
 *
 * - A run is refused before anything of it is written, or it is written and runs.
 * - After {@link shutdown} has begun no run starts.
 */
@Injectable()
export class TaskRunner {
  private readonly logger = new Logger(TaskRunner.name);
  private readonly deps: RunDependencies;
  private readonly runs = new Set<TaskRun>();
  private started = 0;
  private closing: Promise<void> | undefined;

  constructor(
    store: TaskStore,
    bus: TaskEventBus,
    clock: Clock,
    private readonly ids: IdGenerator,
    @Inject(A2A_SETTINGS) settings: A2ASettings,
    private readonly registry: RunRegistry,
    private readonly retention: TaskRetention,
    private readonly pausedTasks: PausedTaskRetention,
  ) {
    this.deps = { store, bus, clock, ids, settings };
  }

  /** How many skills have been called since the process began. */
  get executions(): number {
    return this.started;
  }

  /** How many runs are under way. */
  get liveRuns(): number {
    return this.runs.size;
  }

  /**
   * Starts the run of a new task.
   *
   * @param prepared sees the run before anything is written or called
   * @param disclose whether the caller is told of the task at once, and so before the skill is called
   * @throws {UnsupportedOperationError} when the owner has no run slot left, or the process is ending
   * @throws {InternalError} when the task is to be disclosed and cannot be stored
   */
  async start(order: RunOrder, disclose: boolean, prepared?: (run: TaskRun) => void): Promise<TaskRun> {
    const run = this.prepare(order);
    prepared?.(run);
    if (disclose && order.skill.description.answers === 'task') await this.orGiveUp(run, run.recorder.disclose());
    return this.launch(run);
  }

  /**
   * Resumes a paused task with another message.
   *
   * @param prepared sees the run before anything is written or called
   * @throws {UnsupportedOperationError} when the owner has no run slot left, the process is ending, the task has no room for
   * the message, or someone else resumed or settled the task first; nothing is written then
   * @throws {InternalError} when the message cannot be stored
   */
  async resume(order: RunOrder, prepared?: (run: TaskRun) => void): Promise<TaskRun> {
    const run = this.prepare(order);
    prepared?.(run);
    const { recorder } = run;
    const resumed = recorder.record(
      { kind: 'message', message: order.message },
      recorder.statusUpdate(TaskState.Working),
    );
    await this.orGiveUp(run, resumed);
    return this.launch(run);
  }

  /**
   * Creates or ends a task that no skill will work on.
   *
   * @param text why, for the caller
   * @param message what would have resumed the task
   * @throws {UnsupportedOperationError} when someone else resumed or settled the task first, or the process is ending
   * @throws {InternalError} when it cannot be stored
   */
  async reject(seed: TaskSeed, text: string, message?: Message): Promise<TaskRecorder> {
    this.assertOpen();
    const recorder = new TaskRecorder(this.deps, seed, this.ids.next(), {
      released: () => undefined,
      ended: () => {
        this.retention.schedule(seed);
      },
    });
    const reason = recorder.agentMessage(this.ids.next(), [textPart(text)]);
    const received: TaskUpdate[] = message ? [{ kind: 'message', message }] : [];
    try {
      await recorder.record(...received, recorder.statusUpdate(TaskState.Rejected, reason));
    } catch (error) {
      throw this.translate(error);
    }
    return recorder;
  }

  /**
   * Lets live runs finish for a while, then cancels them, and waits until each has stored its end. Happens once.
   *
   * @param drainMs how long runs may finish by themselves
   * @param timeout how long to wait altogether, in milliseconds
   */
  shutdown(drainMs: number, timeout: number): Promise<void> {
    return (this.closing ??= within(this.endRuns(Math.min(drainMs, timeout)), timeout));
  }

  private async endRuns(drainMs: number): Promise<void> {
    const ended = Promise.all([...this.runs].map((run) => run.outcome));
    await within(ended, drainMs);
    for (const run of this.runs) run.abort(new ShutdownError());
    await ended;
    await this.pausedTasks.flush();
    await this.retention.flush();
  }

  private assertOpen(): void {
    if (this.closing) throw new UnsupportedOperationError('the agent is shutting down');
  }

  private prepare(order: RunOrder): TaskRun {
    this.assertOpen();
    const slot = this.registry.claim(order.seed.owner);
    const run = new TaskRun(this.deps, order, this.ids.next(), slot);
    // From the start: shutting down waits for those, too, whose task is just being written.
    this.runs.add(run);
    void run.outcome.then(({ kind }) => {
      this.runs.delete(run);
      if (kind !== 'task') return;
      const { state } = run.recorder.current.status;
      (isInterrupted(state) ? this.pausedTasks : this.retention).schedule(run.tier);
    });
    return run;
  }

  private launch(run: TaskRun): TaskRun {
    this.started++;
    void run.execute();
    return run;
  }

  private async orGiveUp(run: TaskRun, written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      const translated = this.translate(error);
      run.giveUp(translated);
      throw translated;
    }
  }

  private translate(error: unknown): UnsupportedOperationError | InternalError {
    if (error instanceof TaskSettledElsewhereError) {
      return new UnsupportedOperationError('the task was changed by someone else');
    }
    if (error instanceof TaskTooLargeError)
      return new UnsupportedOperationError('the task has no room for the message');
    this.logger.error(`A task could not be stored: ${describeError(error)}`);
    return new InternalError();
  }
}
