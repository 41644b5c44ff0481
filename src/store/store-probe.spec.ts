import { describe, expect, it } from '@jest/globals';
import { GatedStore } from '../../test/support/gated-store.js';
import { settingsOf } from '../../test/support/settings.js';
import { StoreProbe } from './store-probe.js';

describe('The probe of a store', () => {
  const probeOf = (store: GatedStore): StoreProbe => new StoreProbe(store, settingsOf({ storeTimeout: 50 }));

  it('finds a store that answers', async () => {
    expect(await probeOf(new GatedStore()).isReachable()).toBe(true);
  });

  it('finds one that fails, until it works again', async () => {
    const store = new GatedStore();
    const probe = probeOf(store);
    store.fail('read', new Error('password of a@db.internal is wrong'));
    expect(await probe.isReachable()).toBe(false);
    store.fail('read', undefined);
    expect(await probe.isReachable()).toBe(true);
  });

  it('finds one that throws at once', async () => {
    const store = new GatedStore();
    store.read = () => {
      throw new Error('not connected');
    };
    expect(await probeOf(store).isReachable()).toBe(false);
  });

  it('waits for one that hangs no longer than it may take, and aborts the read', async () => {
    const store = new GatedStore();
    const probe = probeOf(store);
    const gate = store.hold('read', 'before');
    expect(await probe.isReachable()).toBe(false);
    expect(store.calls[0]?.signal?.aborted).toBe(true);
    gate.open();
    expect(await probe.isReachable()).toBe(true);
  });

  it('asks once for all who want to know at the same time', async () => {
    const store = new GatedStore();
    const probe = new StoreProbe(store, settingsOf());
    const gate = store.hold('read', 'before');
    const answers = Promise.all(Array.from({ length: 100 }, () => probe.isReachable()));
    await gate.whenWaiting();
    expect(store.count('read')).toBe(1);
    gate.open();
    expect(new Set(await answers)).toEqual(new Set([true]));
    await probe.isReachable();
    expect(store.count('read')).toBe(2);
  });
});
