import { describe, expect, it } from '@jest/globals';
import { settingsOf } from '../../test/support/settings.js';
import { SeatRegistry, TooManyStreamsError } from './seat.registry.js';

const registry = (maxStreamSeatsPerOwner: number, streamSeatOverflow: 'refuse' | 'evict-oldest' = 'refuse') =>
  new SeatRegistry(settingsOf({ maxStreamSeatsPerOwner, streamSeatOverflow }));

describe('The seats', () => {
  it('are counted by owner, and refused past the bound (CAP-04, CAP-05a)', () => {
    const seats = registry(2);
    const [first] = [seats.claim('alice'), seats.claim('alice'), seats.claim('bob')];
    expect(seats.size).toBe(3);
    expect(() => seats.claim('alice')).toThrow(TooManyStreamsError);
    expect(() => seats.claim('alice')).toThrow(expect.objectContaining({ code: -32600 }));
    expect(seats.size).toBe(3);
    expect(first.signal.aborted).toBe(false);
    first.release();
    seats.claim('alice');
    expect(seats.size).toBe(3);
  });

  it('are given back once, however often that is done (CAP-06)', () => {
    const seats = registry(2);
    const [first, second] = [seats.claim('alice'), seats.claim('alice')];
    first.release();
    first.release();
    expect(seats.size).toBe(1);
    second.release();
    expect(seats.size).toBe(0);
    const again = seats.claim('alice');
    second.release();
    expect(seats.size).toBe(1);
    again.release();
  });

  it('leave nothing behind of an owner who has none (CAP-06)', () => {
    const seats = registry(2);
    for (let index = 0; index < 10; index++) seats.claim(`user-${index}`).release();
    expect((seats as unknown as { seats: Map<string, unknown> }).seats.size).toBe(0);
  });

  it('go from the oldest to the newest, and are not given back twice for it (CAP-05b)', () => {
    const seats = registry(2, 'evict-oldest');
    const other = seats.claim('bob');
    const all = [1, 2, 3, 4].map(() => seats.claim('alice'));
    expect(all.map(({ signal }) => signal.aborted)).toEqual([true, true, false, false]);
    expect(seats.size).toBe(3);
    all[0]!.release();
    all[1]!.release();
    expect(seats.size).toBe(3);
    expect(other.signal.aborted).toBe(false);
    for (const seat of [...all, other]) seat.release();
    expect(seats.size).toBe(0);
  });

  it('go to the newest when there is one only (CAP-05b)', () => {
    const seats = registry(1, 'evict-oldest');
    const [old, young] = [seats.claim('alice'), seats.claim('alice')];
    expect([old.signal.aborted, young.signal.aborted]).toEqual([true, false]);
    old.release();
    expect(seats.size).toBe(1);
    young.release();
    expect(seats.size).toBe(0);
  });

  it('all end, and each that is taken afterwards at once (SHUT-03)', async () => {
    const seats = registry(2);
    const open = [seats.claim('alice'), seats.claim('bob')];
    let isOver = false;
    const ended = seats.endAll(5_000).then(() => (isOver = true));
    expect(open.every(({ signal }) => signal.aborted)).toBe(true);
    const late = seats.claim('alice');
    expect(late.signal.aborted).toBe(true);
    const [first, ...rest] = [...open, late];
    for (const seat of rest) seat.release();
    await Promise.resolve();
    expect(isOver).toBe(false);
    first.release();
    await ended;
    expect(seats.size).toBe(0);
  });

  it('are waited for until the time is up, and not at all when there are none (SHUT-03)', async () => {
    const seats = registry(2);
    await seats.endAll(2 ** 31 - 1);
    seats.claim('alice');
    await seats.endAll(5);
    expect(seats.size).toBe(1);
  });
});
