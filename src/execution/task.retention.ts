import { Inject, Injectable, Logger } from '@nestjs/common';
import { describeError } from '../context/describe-error.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import type { Tier } from '../context/tier.js';
import { TaskStore } from '../store/task.store.js';
import { TierQueue } from './tier-queue.js';

/**
 * Keeps settled tasks from piling up.
 *
 * - Counts per tier: one owner, tenant and scope set never pushes out the tasks of another.
 * - Works beside the calls that settle tasks: its failure is logged and fails none of them.
 */
@Injectable()
export class TaskRetention {
  private readonly logger = new Logger(TaskRetention.name);
  private readonly tiers = new TierQueue((tier) => this.trim(tier));

  constructor(
    private readonly store: TaskStore,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** Notes that a task of this tier was settled. */
  schedule(tier: Tier): void {
    if (this.store.trim && this.settings.terminalTaskRetention !== Infinity) this.tiers.add(tier);
  }

  /** Trims what is due. Never rejects. */
  flush(): Promise<void> {
    return this.tiers.flush();
  }

  private async trim(tier: Tier): Promise<void> {
    try {
      await this.store.trim?.(tier, this.settings.terminalTaskRetention);
    } catch (error) {
      this.logger.error(`Settled tasks could not be trimmed: ${describeError(error)}`);
    }
  }
}
