import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemoryReplayStore } from './memory-replay-store.js';
import { ReplayStoreFullError } from './replay-store.js';

describe('the memory of accepted notifications (S-11)', () => {
  it('knows what it has seen, is bounded, and forgets nothing early and nothing late', () => {
    const step = fc.record({ id: fc.nat(12), wait: fc.nat(2_500), keep: fc.nat(5_000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 6 }), (steps, maxEntries) => {
        let now = 1_000_000;
        const store = new MemoryReplayStore({ maxEntries, now: () => now });
        const held = new Map<string, number>();
        for (const { id, wait, keep } of steps) {
          now += wait;
          const name = String(id);
          const must = [...held].filter(([, until]) => until >= now).map(([each]) => each);
          const may = [...held].filter(([, until]) => until + 1_000 > now).map(([each]) => each);
          let answer: boolean | 'full';
          try {
            answer = store.remember(name, now + keep);
          } catch (error) {
            expect(error).toBeInstanceOf(ReplayStoreFullError);
            answer = 'full';
          }
          if (must.includes(name)) expect(answer).toBe(false);
          else if (!may.includes(name)) expect(answer).not.toBe(false);
          if (answer === 'full') expect(may.length).toBeGreaterThanOrEqual(maxEntries);
          if (answer === true) {
            expect(must.length).toBeLessThan(maxEntries);
            held.set(name, now + keep);
          }
          expect(store.size).toBeLessThanOrEqual(maxEntries);
        }
      }),
    );
  });

  it('has room again when the time of the others is over', () => {
    let now = 0;
    const store = new MemoryReplayStore({ maxEntries: 2, now: () => now });
    expect([store.remember('a', 1_000), store.remember('b', 5_000), store.remember('a', 1_000)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(() => store.remember('c', 9_000)).toThrow(ReplayStoreFullError);
    expect(store.remember('b', 5_000)).toBe(false);
    now = 2_000;
    expect(store.remember('c', 9_000)).toBe(true);
    expect(store.size).toBe(2);
  });

  it.each([0, -1, NaN])('cannot hold %d', (maxEntries) => {
    expect(() => new MemoryReplayStore({ maxEntries })).toThrow(TypeError);
  });
});
