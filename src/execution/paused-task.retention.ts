import { Inject, Injectable, Logger } from '@nestjs/common';
import { TaskState } from '#protocol';
import { describeError } from '../context/describe-error.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { isSameTier, type Tier } from '../context/tier.js';
import { compareCursors, placeOf } from '../store/cursor.js';
import type { TaskRecord } from '../store/task-record.js';
import { taskPages } from '../store/task-pages.js';
import { TaskStore } from '../store/task.store.js';
import { TaskCanceller } from './task.canceller.js';
import { TierQueue } from './tier-queue.js';

const PAUSED_STATES = [TaskState.InputRequired, TaskState.AuthRequired] as const;

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
    const query = { tier, artifacts: false };
    const pages = await Promise.all(PAUSED_STATES.map((state) => this.store.list({ ...query, state, limit: 1 })));
    // A list shows an unnarrowed session the tasks of all its scope sets, so these are at least as many as there are.
    if (pages.reduce((sum, { total }) => sum + total, 0) <= keep) return [];
    const paused: TaskRecord[] = [];
    for (const state of PAUSED_STATES) {
      for await (const records of taskPages({ ...query, state }, (page) => this.store.list(page))) {
        paused.push(...records.filter((record) => isSameTier(record, tier)));
      }
    }
    return paused.sort((a, b) => compareCursors(placeOf(a), placeOf(b))).slice(keep);
  }
}
