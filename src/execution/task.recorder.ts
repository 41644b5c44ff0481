import {
  cloneJson,
  formatTimestamp,
  isInterrupted,
  isTerminal,
  type Message,
  type Part,
  type Task,
  type TaskState,
} from '#protocol';
import type { Clock } from '../context/clock.js';
import type { A2ASettings } from '../context/settings.js';
import type { TaskEventBus } from '../events/task-event.bus.js';
import { isRecordConflict, isRecordNotFound } from '../store/store-errors.js';
import { applyUpdate } from '../store/task-reducer.js';
import type { TaskStore } from '../store/task.store.js';
import type { TaskKey } from '../store/task-key.js';
import type { StatusUpdate, TaskUpdate } from '../store/task-update.js';
import { BatchQueue } from './batch-queue.js';
import { sizeOf, TaskBudget } from './task-budget.js';
import { TaskEndedError, TaskSettledElsewhereError, TaskTooLargeError } from './run-errors.js';
import { withinStoreTimeout } from '../store/store-deadline.js';
import type { TaskSeed } from './task-seed.js';

/** What a recorder works with. */
export interface RecorderDependencies {
  readonly store: TaskStore;
  readonly bus: TaskEventBus;
  readonly clock: Clock;
  readonly settings: A2ASettings;
}

/** What a recorder tells its run. */
export interface RecorderHooks {
  /** The task is about to be stored as paused or settled, and nobody can see it so yet. */
  readonly released: () => void;
  /** The row of a new task has been written, and {@link TaskRecorder.current} shows the task as created. */
  readonly begun?: () => void;
  /** The task is paused or settled, and {@link TaskRecorder.current} shows it. */
  readonly ended: () => void;
  /** A write has been waiting for longer than a caller should. It goes on. */
  readonly stalled?: () => void;
}

/** How long a write may take before those who wait for the task are told, in milliseconds. */
const STALL_DELAY = 4_000;

/** How long the last status of a task that has no room left may be: longer than any that a run gives by itself. */
const LAST_WORDS = 8 * 1024;

/**
 * The only writer of a task while it runs.
 *
 * - Updates are recorded one at a time, in the order given; what waits together is written together.
 * - An update is stored before anyone is told of it, and its caller is told last.
 * - A lost version race ends the right to write; nothing changes here then.
 * - A new task's row is first written by {@link disclose} or with its first updates.
 *
 * @see A2A v1.0 §3.5.2 Streaming Event Delivery
 */
export class TaskRecorder {
  readonly key: TaskKey;
  private readonly live: Task;
  private version: number | null;
  /** The time of the newest status, pending ones included. */
  private statusAt: number;
  private readonly budget: TaskBudget;
  /** The state after everything that is pending. */
  private state: TaskState;
  /** Whether this run has ended or paused the task, pending updates included. */
  private ended = false;
  /** Ids of the artifacts, with those that are pending. */
  private artifactIds: Set<string>;
  private readonly queue = new BatchQueue<TaskUpdate>((updates) => this.writeOrFail(updates));
  private closedBy: Error | undefined;
  /** What is still to be written with the first write. */
  private push: TaskSeed['push'];
  private wasTold = false;

  /**
   * @param seed the task; owned by the recorder from now on
   * @param runId the run that writes
   */
  constructor(
    private readonly deps: RecorderDependencies,
    private readonly seed: TaskSeed,
    private readonly runId: string,
    private readonly hooks: RecorderHooks,
  ) {
    this.key = { id: seed.task.id, owner: seed.owner };
    this.live = seed.task;
    this.version = seed.version;
    this.push = seed.push;
    this.statusAt = seed.statusAt;
    this.state = seed.task.status.state;
    this.artifactIds = artifactIdsOf(seed.task);
    this.budget = new TaskBudget(deps.settings.maxTaskBytes, () => sizeOf(this.live) + sizeOf(this.queue.items));
  }

  /** The state of the task once everything that is pending has been stored. */
  get pendingState(): TaskState {
    return this.state;
  }

  /** Whether anyone may have been told of the task by this run. */
  get told(): boolean {
    return this.wasTold;
  }

  /** Whether the task has no row yet. */
  get isDraft(): boolean {
    return this.version === null;
  }

  /** The task as last stored. Shared: copy it before handing it out. */
  get current(): Task {
    return this.live;
  }

  /** The version of the task as last stored; 0 while it has no row. */
  get currentVersion(): number {
    return this.version ?? 0;
  }

  /** A copy of the task as last stored. */
  snapshot(): Task {
    return cloneJson(this.live);
  }

  /** Whether this run has ended or paused the task, pending updates included. */
  get hasEnded(): boolean {
    return this.ended;
  }

  hasArtifact(artifactId: string): boolean {
    return this.artifactIds.has(artifactId);
  }

  /** Notes that someone is about to be told of the task: from now on it stays, whatever the skill answers. */
  tell(): void {
    this.wasTold = true;
  }

  /**
   * Writes the row of a new task, if it has none yet.
   *
   * @throws {Error} what the store throws
   */
  async disclose(): Promise<void> {
    if (!this.isDraft || this.closedBy) return;
    await this.queue.add([]);
  }

  /**
   * Records updates, all of them or none.
   *
   * @throws {TaskEndedError} when the task takes no more updates from here
   * @throws {TaskTooLargeError} when the task would grow past its bound
   */
  record(...updates: readonly TaskUpdate[]): Promise<void> {
    const size = sizeOf(updates);
    const refusal = this.refusal(updates, size);
    if (refusal) return Promise.reject(refusal);
    this.wasTold = true;
    this.budget.spend(size);
    updates.forEach((update) => {
      this.foresee(update);
    });
    return this.queue.add(updates);
  }

  /** Makes a status update of this task, stamped with the time. */
  statusUpdate(state: TaskState, message?: Message, metadata?: StatusUpdate['metadata']): StatusUpdate {
    this.statusAt = Math.max(this.deps.clock.now(), this.statusAt);
    return {
      kind: 'status',
      status: { state, ...(message && { message }), timestamp: formatTimestamp(this.statusAt) },
      ...(metadata && { metadata }),
    };
  }

  /** Makes an agent message that belongs to this task. */
  agentMessage(messageId: string, parts: Part[]): Message {
    return { messageId, contextId: this.live.contextId, taskId: this.live.id, role: 'ROLE_AGENT', parts };
  }

  /** Takes the right to write away. What is pending and every later update is rejected with the reason. */
  close(reason: Error): void {
    this.closedBy ??= reason;
    this.queue.reject(reason);
  }

  /** Waits until nothing is pending. Never rejects. */
  async idle(): Promise<void> {
    await this.queue.idle();
  }

  /**
   * Takes back a row that nobody was told of.
   *
   * @returns whether nothing is left of it
   */
  async takeBack(): Promise<boolean> {
    await this.idle();
    this.closedBy ??= new TaskEndedError('The task was answered by a Message.');
    const { version } = this;
    if (version === null) return true;
    return this.deps.bus.whileWriting(this.key, () => this.bounded(this.deps.store.discard(this.key, version)));
  }

  private refusal(updates: readonly TaskUpdate[], size: number): Error | undefined {
    if (this.closedBy) return this.closedBy;
    if (this.ended) {
      return new TaskEndedError(isTerminal(this.state) ? 'The task has ended.' : 'The task has been paused.');
    }
    // A short last status of a task is always let through: it says why nothing else is.
    const isLast =
      size <= LAST_WORDS && updates.every((update) => update.kind === 'status' && isTerminal(update.status.state));
    return isLast || this.budget.fits(size) ? undefined : new TaskTooLargeError(this.deps.settings.maxTaskBytes);
  }

  private foresee(update: TaskUpdate): void {
    if (update.kind === 'artifact') this.artifactIds.add(update.artifact.artifactId);
    if (update.kind !== 'status') return;
    this.state = update.status.state;
    this.ended = isTerminal(this.state) || isInterrupted(this.state);
  }

  private async writeOrFail(updates: readonly TaskUpdate[]): Promise<void> {
    if (this.closedBy) throw this.closedBy;
    try {
      await this.deps.bus.whileWriting(this.key, () => this.write(updates));
    } catch (error) {
      this.forget();
      if (!isRecordConflict(error) && !isRecordNotFound(error)) throw error;
      this.closedBy ??= new TaskSettledElsewhereError();
      throw this.closedBy;
    }
  }

  private async write(updates: readonly TaskUpdate[]): Promise<void> {
    const { store, clock } = this.deps;
    const at = clock.now();
    const last = updates.findLast((update) => update.kind === 'status');
    const state = last?.status.state ?? this.live.status.state;
    const ends = isTerminal(state) || isInterrupted(state);
    const runId = ends ? null : this.runId;
    // The state is seen as soon as the store has it, which is before the store says so here.
    if (ends) this.hooks.released();
    const push = this.push && { push: this.push };
    let pushRev: number | undefined;
    if (this.version === null) {
      const { task, owner, tenant, scope, skillId } = this.seed;
      await this.bounded(store.create({ task, owner, tenant, scope, skillId, runId, updates, at, ...push }));
      this.version = 0;
      pushRev = push ? 1 : 0;
      this.hooks.begun?.();
    } else if (updates.length > 0) {
      const task = (): Task => afterUpdates(this.live, updates, this.deps.settings.maxHistory);
      const append = { key: this.key, expected: this.version, runId, updates, at, task, ...push };
      pushRev = (await this.bounded(store.append(append))).pushRev;
    }
    this.push = undefined;
    for (const update of updates) {
      applyUpdate(this.live, update, this.deps.settings.maxHistory);
      this.version++;
      this.deps.bus.publish({ key: this.key, version: this.version, update, runId: this.runId });
    }
    if (updates.length > 0) {
      this.deps.bus.wrote({
        key: this.key,
        contextId: this.live.contextId,
        version: this.version,
        updates,
        pushRev,
      });
    }
    if (ends) this.hooks.ended();
  }

  private async bounded<T>(operation: Promise<T>): Promise<T> {
    const stall = setTimeout(() => this.hooks.stalled?.(), STALL_DELAY);
    try {
      return await withinStoreTimeout(operation, this.deps.settings.storeTimeout);
    } finally {
      clearTimeout(stall);
    }
  }

  /** Goes back to what is stored: the updates that were foreseen beyond it did not come about. */
  private forget(): void {
    this.state = this.live.status.state;
    this.ended = false;
    this.artifactIds = artifactIdsOf(this.live);
  }
}

function afterUpdates(task: Task, updates: readonly TaskUpdate[], maxHistory: number): Task {
  const copy = cloneJson(task);
  updates.forEach((update) => {
    applyUpdate(copy, update, maxHistory);
  });
  return copy;
}

function artifactIdsOf(task: Task): Set<string> {
  return new Set(task.artifacts?.map(({ artifactId }) => artifactId));
}
