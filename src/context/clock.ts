import { Injectable } from '@nestjs/common';

/** Tells the time. Replaceable, so that time is testable. */
export abstract class Clock {
  /** The current time in epoch milliseconds. */
  abstract now(): number;
}

/** The clock of the machine. */
@Injectable()
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
