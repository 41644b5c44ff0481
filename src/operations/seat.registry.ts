import { Inject, Injectable } from '@nestjs/common';
import { InvalidRequestError } from '#protocol';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';

/** An owner has as many streams open as it may. Answered with HTTP 429. */
export class TooManyStreamsError extends InvalidRequestError {
  override readonly name = 'TooManyStreamsError';

  constructor() {
    super('maximum concurrent streams reached');
  }
}

/** A place among an owner's open streams. Given back once. */
export interface Seat {
  /** Aborts when the seat is given to another stream, or all streams have to end. */
  readonly signal: AbortSignal;
  release(): void;
}

/**
 * Counts the streams of each owner in this process.
 *
 * - An owner at its cap does not affect another, and owners without streams take no memory.
 * - At the cap the next stream is refused, or takes the seat of the oldest, as the options say.
 */
@Injectable()
export class SeatRegistry {
  /** By owner, oldest first. */
  private readonly seats = new Map<string, Set<AbortController>>();
  private isClosing = false;
  private whenEmpty: (() => void)[] = [];

  constructor(@Inject(A2A_SETTINGS) private readonly settings: A2ASettings) {}

  /** How many seats are taken, over all owners. */
  get size(): number {
    return [...this.seats.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** @throws {TooManyStreamsError} when the owner has no seat left */
  claim(owner: string): Seat {
    const taken = this.seats.get(owner) ?? new Set();
    if (taken.size >= this.settings.maxStreamSeatsPerOwner) {
      const [oldest] = taken;
      if (this.settings.streamSeatOverflow === 'refuse' || !oldest) throw new TooManyStreamsError();
      taken.delete(oldest);
      oldest.abort();
    }
    const seat = new AbortController();
    if (this.isClosing) seat.abort();
    taken.add(seat);
    this.seats.set(owner, taken);
    return {
      signal: seat.signal,
      release: () => {
        taken.delete(seat);
        if (taken.size === 0 && this.seats.get(owner) === taken) this.seats.delete(owner);
        if (this.seats.size > 0) return;
        for (const notice of this.whenEmpty) notice();
        this.whenEmpty = [];
      },
    };
  }

  /**
   * Ends all streams, and from now on each that is opened as soon as it has begun.
   *
   * @param timeout how long to wait for their readers to have it all, in milliseconds
   */
  async endAll(timeout: number): Promise<void> {
    this.isClosing = true;
    for (const taken of this.seats.values()) {
      for (const seat of taken) seat.abort();
    }
    if (this.seats.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeout);
      this.whenEmpty.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
