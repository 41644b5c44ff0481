import { Inject, Injectable } from '@nestjs/common';
import { UnsupportedOperationError } from '#protocol';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';

/** A place among an owner's concurrent runs. Given back once, whatever happens. */
export interface RunSlot {
  release(): void;
}

/**
 * Counts the runs of each owner in this process.
 *
 * - An owner at its cap does not affect another.
 * - Owners without runs take no memory.
 */
@Injectable()
export class RunRegistry {
  private readonly running = new Map<string, number>();

  constructor(@Inject(A2A_SETTINGS) private readonly settings: A2ASettings) {}

  /**
   * Claims a slot for one run.
   *
   * @throws {UnsupportedOperationError} when the owner has none left
   */
  claim(owner: string): RunSlot {
    const running = this.running.get(owner) ?? 0;
    if (running >= this.settings.maxConcurrentRunsPerOwner) {
      throw new UnsupportedOperationError('maximum concurrent task runs reached');
    }
    this.running.set(owner, running + 1);
    let held = true;
    return {
      release: () => {
        if (held) this.giveBack(owner);
        held = false;
      },
    };
  }

  /** How many slots are taken, over all owners. */
  get size(): number {
    return [...this.running.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How many owners have runs. */
  get owners(): number {
    return this.running.size;
  }

  private giveBack(owner: string): void {
    const left = (this.running.get(owner) ?? 1) - 1;
    if (left > 0) this.running.set(owner, left);
    else this.running.delete(owner);
  }
}
