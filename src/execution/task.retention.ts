import { Inject, Injectable, Logger } from '@nestjs/common';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import type { Tier } from '../context/tier.js';
import { TaskStore } from '../store/task.store.js';
import { describeError } from '../context/describe-error.js';

/** How long settles of one tier are gathered before the tier is trimmed, in milliseconds. */
const GATHER = 200;

/**
 * Keeps settled tasks from piling up.
 *
 * - Counts per tier: one owner, tenant and scope set never pushes out the tasks of another.
 * - Works beside the calls that settle tasks: its failure is logged and fails none of them.
 */
@Injectable()
export class TaskRetention {
  private readonly logger = new Logger(TaskRetention.name);
  private readonly waiting = new Map<string, Tier>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: TaskStore,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** Notes that a task of this tier was settled. */
  schedule({ owner, tenant, scope }: Tier): void {
    if (!this.store.trim || this.settings.terminalTaskRetention === Infinity) return;
    this.waiting.set(JSON.stringify([owner, tenant, scope]), { owner, tenant, scope });
    this.timer ??= setTimeout(() => void this.flush(), GATHER).unref();
  }

  /** Trims what is due. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const tiers = [...this.waiting.values()];
    this.waiting.clear();
    for (const tier of tiers) {
      try {
        await this.store.trim?.(tier, this.settings.terminalTaskRetention);
      } catch (error) {
        this.logger.error(`Settled tasks could not be trimmed: ${describeError(error)}`);
      }
    }
  }
}
