import { Clock } from 'nestjs-a2a';

/** A clock that stands still until a test moves it. */
export class ManualClock extends Clock {
  /** @param time epoch milliseconds */
  constructor(public time = Date.UTC(2026, 0, 1)) {
    super();
  }

  now(): number {
    return this.time;
  }

  /** Moves the clock, backwards when negative. */
  advance(ms: number): void {
    this.time += ms;
  }
}
