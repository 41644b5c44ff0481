import { Inject, Injectable, Logger } from '@nestjs/common';
import { formatTimestamp, scrub, TaskState, textPart, type Message } from '#protocol';
import { Clock } from '../context/clock.js';
import { describeError } from '../context/describe-error.js';
import { IdGenerator } from '../context/id-generator.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { TaskEventBus } from '../events/task-event.bus.js';
import type { LostRun, RunLeases } from '../store/run-leases.js';
import { TaskStore } from '../store/task.store.js';
import type { StatusUpdate } from '../store/task-update.js';
import { ReplicaHeartbeat } from './replica.heartbeat.js';
import { TaskRetention } from './task.retention.js';

/** How often lost runs are looked for at least, in milliseconds. */
const PAUSE = 1_000;
/** How many are settled at once. */
const BATCH = 100;
/** How often the updates of settled tasks are removed, in milliseconds. */
const SWEEP_PAUSE = 15_000;
/** For how long they are kept, so that whoever follows a task has time to see its end. */
const GRACE = 60_000;

/**
 * Settles the tasks of processes that are not there any more: FAILED, "the run was lost".
 *
 * - Decided in one write, which happens only while the lost run is still the one that may write.
 * - Only once this process itself has been believed to live for a whole lease: after an outage of the database everybody
 *   seems dead to whoever is back first.
 * - One process at a time. Never rejects; what fails is logged, and tried again.
 */
@Injectable()
export class LostRunSweeper {
  private readonly logger = new Logger(LostRunSweeper.name);
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private isStopped = false;
  private isFailing = false;
  private sweptAt = 0;

  constructor(
    private readonly store: TaskStore,
    private readonly bus: TaskEventBus,
    private readonly heartbeat: ReplicaHeartbeat,
    private readonly retention: TaskRetention,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  start(): void {
    const { leases } = this.store;
    if (leases) this.schedule(leases);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private schedule(leases: RunLeases): void {
    if (this.isStopped) return;
    this.timer = setTimeout(
      () => {
        this.sweeping = this.sweep(leases).then(() => {
          this.schedule(leases);
        });
      },
      Math.min(this.settings.lease / 3, PAUSE),
    );
    this.timer.unref();
  }

  private async sweep(leases: RunLeases): Promise<void> {
    try {
      if (this.heartbeat.hasHeld) await this.settleLost(leases);
      if (performance.now() - this.sweptAt > SWEEP_PAUSE) {
        this.sweptAt = performance.now();
        await leases.exclusively(() => leases.sweepUpdates(this.clock.now() - GRACE));
      }
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.logger.warn(`Lost runs could not be looked for: ${describeError(error)}`);
      this.isFailing = true;
    }
  }

  private async settleLost(leases: RunLeases): Promise<void> {
    const lost = await leases.lost(BATCH);
    if (lost.length === 0) return;
    await leases.exclusively(async () => {
      await Promise.all(lost.map((run) => this.settle(run)));
    });
  }

  private async settle(run: LostRun): Promise<void> {
    const key = { id: run.taskId, owner: run.owner };
    const at = Math.max(this.clock.now(), run.statusAt);
    const message: Message = {
      ...{ messageId: this.ids.next(), contextId: run.contextId, taskId: run.taskId, role: 'ROLE_AGENT' },
      parts: [textPart('the run was lost')],
    };
    const update: StatusUpdate = {
      kind: 'status',
      status: { state: TaskState.Failed, message, timestamp: formatTimestamp(at) },
    };
    const guard = [TaskState.Submitted, TaskState.Working];
    const written = await this.store.settle({ key, guard, update, runId: run.runId, at });
    if (!written) return;
    this.logger.warn(`The run of task ${scrub(key.id)} was lost with its process.`);
    this.bus.publishSettle(key, run.contextId, update, written);
    this.retention.schedule(run);
  }
}
