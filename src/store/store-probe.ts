import { Inject, Injectable } from '@nestjs/common';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { withinStoreTimeout } from './store-deadline.js';
import { isRecordNotFound } from './store-errors.js';
import { TaskStore } from './task.store.js';
import type { TaskKey } from './task-key.js';

/** How long a sign of life may take, in milliseconds: less than those wait who ask for it. */
const TIMEOUT = 2_000;

/** The UUID that nobody is given: a store may well have columns that take UUIDs and nothing else. */
const NIL = '00000000-0000-0000-0000-000000000000';
const NOTHING: TaskKey = { id: NIL, owner: NIL };

/**
 * Finds out whether the store answers, by a read of a task that is not there, which every store can do.
 *
 * Whoever asks while a read is under way waits for that one, so many who ask do not cost more than one who does.
 */
@Injectable()
export class StoreProbe {
  private readonly timeout: number;
  private asking: Promise<boolean> | undefined;

  constructor(
    private readonly store: TaskStore,
    @Inject(A2A_SETTINGS) { storeTimeout }: A2ASettings,
  ) {
    this.timeout = Math.min(storeTimeout, TIMEOUT);
  }

  /** Whether the store answers, and answers soon. Never rejects. */
  isReachable(): Promise<boolean> {
    this.asking ??= this.ask().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async ask(): Promise<boolean> {
    const interest = new AbortController();
    try {
      await withinStoreTimeout(this.store.read(NOTHING, interest.signal), this.timeout);
      return true;
    } catch (error) {
      return isRecordNotFound(error);
    } finally {
      interest.abort();
    }
  }
}
