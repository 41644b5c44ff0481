import { Inject, Injectable, Logger } from '@nestjs/common';
import { TaskState } from '#protocol';
import { describeError } from '../context/describe-error.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import type { Tier } from '../context/tier.js';
import { compareCursors } from '../store/cursor.js';
import type { TaskRecord } from '../store/task-record.js';
import { TaskStore, type TaskQuery } from '../store/task.store.js';
import { TaskCanceller } from './task.canceller.js';
import { TierQueue } from './tier-queue.js';

const PAUSED_STATES = [TaskState.InputRequired, TaskState.AuthRequired] as const;
/** How many tasks are read at once. */
const PAGE = 100;

/**
 * Keeps paused tasks from piling up: of each tier the oldest beyond a bound are cancelled, and their followers are told.
 *
 * - Works by what every store can do, so that the bound holds on all of them.
 * - A task that is resumed meanwhile is left alone.
 * - Works beside the calls that pause tasks: its failure is logged and fails none of them.
 */
@Injectable()
export class PausedTaskRetention {
  private readonly logger = new Logger(PausedTaskRetention.name);
  private readonly tiers = new TierQueue((tier) => this.bound(tier));

  constructor(
    private readonly store: TaskStore,
    private readonly canceller: TaskCanceller,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** Notes that a task of this tier was paused. */
  schedule(tier: Tier): void {
    if (this.settings.pausedTaskRetention !== Infinity) this.tiers.add(tier);
  }

  /** Cancels what is due. Never rejects. */
  flush(): Promise<void> {
    return this.tiers.flush();
  }

  private async bound(tier: Tier): Promise<void> {
    try {
      for (const record of await this.beyond(tier)) await this.canceller.cancelPaused(record, PAUSED_STATES);
    } catch (error) {
      this.logger.error(`Paused tasks could not be bounded: ${describeError(error)}`);
    }
  }

  /** The oldest paused tasks of a tier, beyond so many of the newest. */
  private async beyond(tier: Tier): Promise<readonly TaskRecord[]> {
    const { pausedTaskRetention: keep } = this.settings;
    const query = { tier, artifacts: false, limit: 1 };
    const pages = await Promise.all(PAUSED_STATES.map((state) => this.store.list({ ...query, state })));
    // A list shows an unnarrowed session the tasks of all its scope sets, so these are at least as many as there are.
    if (pages.reduce((sum, { total }) => sum + total, 0) <= keep) return [];
    const paused = (await Promise.all(PAUSED_STATES.map((state) => this.all({ ...query, state }, tier)))).flat();
    return paused.sort((a, b) => compareCursors(placeOf(a), placeOf(b))).slice(keep);
  }

  private async all(query: TaskQuery, { tenant, scope }: Tier): Promise<TaskRecord[]> {
    const records: TaskRecord[] = [];
    for (let after: TaskQuery['after'] | undefined; ;) {
      const page = await this.store.list({ ...query, limit: PAGE, ...(after && { after }) });
      records.push(...page.records.filter((record) => record.tenant === tenant && record.scope === scope));
      const last = page.records.at(-1);
      if (!page.more || !last) return records;
      after = placeOf(last);
    }
  }
}

function placeOf({ statusAt, task }: TaskRecord) {
  return { statusAt, id: task.id };
}
