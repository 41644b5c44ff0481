import { describe, expect, it } from '@jest/globals';
import { TaskState } from '#protocol';
import { statusTime } from './status-time.js';

describe('The time of a status', () => {
  it.each([
    ['2026-01-01T00:00:00.007Z', Date.UTC(2026, 0, 1, 0, 0, 0, 7)],
    ['2026-01-01T01:00:00+01:00', Date.UTC(2026, 0, 1)],
    ['yesterday', 0],
    [undefined, 0],
  ])('of %p is %i ms (R-30)', (timestamp, expected) => {
    expect(statusTime({ state: TaskState.Working, ...(timestamp && { timestamp }) })).toBe(expected);
  });
});
