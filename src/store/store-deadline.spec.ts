import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { withinStoreTimeout } from './store-deadline.js';

describe('The time a store may take', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('ends the wait for a store that hangs (LIFE-08b, B-53)', async () => {
    const waiting = withinStoreTimeout(new Promise(() => undefined), 30_000);
    const refused = expect(waiting).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
      message: 'The task store did not answer within 30000 ms.',
    });
    await jest.advanceTimersByTimeAsync(29_999);
    expect(jest.getTimerCount()).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    await refused;
  });

  it('gives the answer of a store that is in time, and leaves no timer', async () => {
    expect(await withinStoreTimeout(Promise.resolve(5), 1_000)).toBe(5);
    await expect(withinStoreTimeout(Promise.reject(new Error('down')), 1_000)).rejects.toThrow('down');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not mind what becomes of a store that came too late (FAULT-01)', async () => {
    let fail: (error: Error) => void = () => undefined;
    const waiting = withinStoreTimeout(
      new Promise((_, reject) => {
        fail = reject;
      }),
      10,
    );
    const refused = expect(waiting).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    await jest.advanceTimersByTimeAsync(10);
    await refused;
    fail(new Error('too late'));
    await jest.advanceTimersByTimeAsync(0);
  });
});
