import { describe, expect, it } from '@jest/globals';
import { ConfigQueue } from './config-queue.js';

const queueWith = (...versions: number[]): ConfigQueue => {
  const queue = new ConfigQueue({ id: 'c', taskId: 't', owner: 'alice' });
  for (const version of versions) queue.add({ version, json: `"${version}"` });
  return queue;
};

/** Takes everything; `null` stands for the task as it is. */
const drain = (queue: ConfigQueue): (number | null)[] => {
  const taken: (number | null)[] = [];
  while (queue.hasWork) taken.push(queue.take()?.version ?? null);
  return taken;
};

describe('The queue of a config', () => {
  it('gives notifications in the order in which they were added (PUSH-06a)', () => {
    expect(drain(queueWith(1, 2, 5))).toEqual([1, 2, 5]);
  });

  it('drops what comes behind a newer one, and says so (PUSH-06b)', () => {
    const queue = queueWith(3);
    expect(queue.add({ version: 2, json: '' })).toBe(false);
    expect(queue.add({ version: 3, json: '' })).toBe(false);
    expect(queue.add({ version: 4, json: '' })).toBe(true);
    expect(drain(queue)).toEqual([3, 4]);
  });

  it('goes on dropping what is older after everything was taken (PUSH-06b)', () => {
    const queue = queueWith(3);
    drain(queue);
    expect(queue.add({ version: 2, json: '' })).toBe(false);
    expect(queue.hasWork).toBe(false);
  });

  it('gives the task as it is, once, in the place of what it held and of what comes then (R-36)', () => {
    const queue = queueWith(1, 2);
    queue.collapse();
    expect(queue.add({ version: 3, json: '' })).toBe(false);
    expect(queue).toMatchObject({ length: 0, hasWork: true });
    expect(drain(queue)).toEqual([null]);
  });

  it('goes on one by one behind the task (R-36)', () => {
    const queue = queueWith(1);
    queue.collapse();
    queue.take();
    queue.add({ version: 2, json: '' });
    expect(drain(queue)).toEqual([2]);
  });

  it('drops what the task that was sent held already (R-36)', () => {
    const queue = queueWith();
    queue.collapse();
    queue.take();
    for (const version of [1, 2, 3]) queue.add({ version, json: '' });
    queue.skipTo(2);
    expect(drain(queue)).toEqual([3]);
    expect(queue.add({ version: 2, json: '' })).toBe(false);
  });

  it('does not give the task again when the one that was sent held everything (R-36)', () => {
    const queue = queueWith(1);
    queue.collapse();
    queue.take();
    queue.add({ version: 2, json: '' });
    queue.collapse();
    queue.skipTo(2);
    expect(drain(queue)).toEqual([]);
  });

  it('gives the task again when it has gone on since (R-36)', () => {
    const queue = queueWith(1);
    queue.collapse();
    queue.take();
    queue.collapse(9);
    queue.skipTo(8);
    expect(drain(queue)).toEqual([null]);
    expect(queue.add({ version: 9, json: '' })).toBe(false);
  });

  it('keeps what waits after an attempt that failed (PUSH-05)', () => {
    const queue = queueWith(1, 2);
    queue.take();
    queue.skipTo(-1);
    expect(drain(queue)).toEqual([2]);
    queue.collapse();
    queue.skipTo(-1);
    expect(drain(queue)).toEqual([null]);
  });

  it('gives and takes nothing once it is forgotten (PUSH-14)', () => {
    const queue = queueWith(1, 2);
    queue.collapse();
    queue.forget();
    expect(queue.add({ version: 3, json: '' })).toBe(false);
    expect(queue).toMatchObject({ length: 0, hasWork: false });
  });
});
