import { describe, expect, it } from '@jest/globals';
import { Gate } from '../../test/support/gate.js';
import { BatchQueue } from './batch-queue.js';

describe('A batch queue', () => {
  it('puts calls that follow at once into one batch, in order (R-34)', async () => {
    const batches: (readonly number[])[] = [];
    const queue = new BatchQueue<number>(async (batch) => void batches.push(batch));
    await Promise.all([queue.add([1, 2]), queue.add([]), queue.add([3])]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it('works on one batch at a time, and takes what waits into the next (CTX-10b, R-34)', async () => {
    const gate = new Gate();
    const batches: (readonly number[])[] = [];
    const queue = new BatchQueue<number>(async (batch) => {
      batches.push(batch);
      await gate.pass();
    });
    const first = queue.add([1]);
    await gate.whenWaiting();
    const rest = [queue.add([2]), queue.add([3])];
    expect(queue.items).toEqual([2, 3]);
    expect(batches).toEqual([[1]]);
    gate.open();
    await Promise.all([first, ...rest]);
    expect(batches).toEqual([[1], [2, 3]]);
    expect(queue.items).toEqual([]);
  });

  it('hands on a batch of calls without items', async () => {
    const batches: (readonly number[])[] = [];
    const queue = new BatchQueue<number>(async (batch) => void batches.push(batch));
    await queue.add([]);
    expect(batches).toEqual([[]]);
  });

  it('fails what waits behind a batch that failed, and works on', async () => {
    const gate = new Gate();
    let isBroken = true;
    const queue = new BatchQueue<number>(async () => {
      await gate.pass();
      if (isBroken) throw new Error('down');
    });
    const first = queue.add([1]);
    await gate.whenWaiting();
    const second = queue.add([2]);
    gate.open();
    await expect(first).rejects.toThrow('down');
    await expect(second).rejects.toThrow('down');
    isBroken = false;
    await queue.add([3]);
  });

  it('takes a call that is made the moment another has failed', async () => {
    let isBroken = true;
    const queue = new BatchQueue<number>(async () => {
      if (isBroken) throw new Error('down');
    });
    const retried = queue.add([1]).catch(() => {
      isBroken = false;
      return queue.add([2]);
    });
    await retried;
  });

  it('rejects what waits when it is told to, and not what is under way', async () => {
    const gate = new Gate();
    const queue = new BatchQueue<number>(() => gate.pass());
    const first = queue.add([1]);
    await gate.whenWaiting();
    const second = queue.add([2]);
    queue.reject(new Error('over'));
    await expect(second).rejects.toThrow('over');
    gate.open();
    await first;
  });

  it('is idle when nothing is left to do, whatever became of it', async () => {
    const gate = new Gate();
    const queue = new BatchQueue<number>(async () => {
      await gate.pass();
      throw new Error('down');
    });
    await queue.idle();
    void queue.add([1]);
    let isIdle = false;
    const idle = queue.idle().then(() => (isIdle = true));
    await gate.whenWaiting();
    expect(isIdle).toBe(false);
    gate.open();
    await idle;
  });
});
