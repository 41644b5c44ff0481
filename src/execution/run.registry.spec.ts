import { describe, expect, it } from '@jest/globals';
import { UnsupportedOperationError } from '#protocol';
import { settingsOf } from '../../test/support/settings.js';
import { RunRegistry } from './run.registry.js';

describe('The run registry', () => {
  it('refuses the run past the cap, and takes it when a slot is given back (CAP-01, CAP-02, CAP-03)', () => {
    const registry = new RunRegistry(settingsOf({ maxConcurrentRunsPerOwner: 2 }));
    const slot = registry.claim('alice');
    registry.claim('alice');
    expect(() => registry.claim('alice')).toThrow(UnsupportedOperationError);
    expect(() => registry.claim('alice')).toThrow('maximum concurrent task runs reached');
    slot.release();
    expect(() => registry.claim('alice')).not.toThrow();
  });

  it('allows 16 runs by default, and any number when the bound is negative (CAP-01b)', () => {
    const registry = new RunRegistry(settingsOf());
    for (let run = 0; run < 16; run++) registry.claim('alice');
    expect(() => registry.claim('alice')).toThrow(UnsupportedOperationError);
    const unbounded = new RunRegistry(settingsOf({ maxConcurrentRunsPerOwner: -1 }));
    for (let run = 0; run < 1_000; run++) unbounded.claim('alice');
    expect(unbounded.size).toBe(1_000);
  });

  it('takes a slot back once, however often it is released (CAP-03)', () => {
    const registry = new RunRegistry(settingsOf({ maxConcurrentRunsPerOwner: 2 }));
    const slot = registry.claim('alice');
    registry.claim('alice');
    slot.release();
    slot.release();
    registry.claim('alice');
    expect(() => registry.claim('alice')).toThrow(UnsupportedOperationError);
    expect(registry.size).toBe(2);
  });

  it('counts each owner by itself (CAP-07a)', () => {
    const registry = new RunRegistry(settingsOf({ maxConcurrentRunsPerOwner: 1 }));
    for (const owner of ['alice', 'bob', '', '__proto__']) registry.claim(owner);
    expect(registry.owners).toBe(4);
    expect(() => registry.claim('bob')).toThrow(UnsupportedOperationError);
  });

  it('forgets owners without runs (CAP-07b)', () => {
    const registry = new RunRegistry(settingsOf());
    const slots = Array.from({ length: 50 }, (_, index) => [registry.claim(`o${index}`), registry.claim(`o${index}`)]);
    expect([registry.owners, registry.size]).toEqual([50, 100]);
    slots.flat().forEach((slot) => {
      slot.release();
    });
    expect([registry.owners, registry.size]).toEqual([0, 0]);
  });
});
