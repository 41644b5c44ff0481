import { describe, expect, it } from '@jest/globals';
import { SystemClock } from './clock.js';
import { UuidGenerator } from './id-generator.js';

describe('The default ports', () => {
  it('mint lower-case version 4 UUIDs, each once (DM-14b)', () => {
    const ids = new UuidGenerator();
    const minted = Array.from({ length: 1_000 }, () => ids.next());
    expect(new Set(minted).size).toBe(1_000);
    for (const id of minted)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u);
  });

  it('tell the time of the machine in whole milliseconds (R-40, DM-11a)', () => {
    const before = Date.now();
    const now = new SystemClock().now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    expect(Number.isInteger(now)).toBe(true);
  });
});
