import { describe, expect, it } from '@jest/globals';
import { ChunkWindow } from './chunk-window.js';

describe('A chunk window', () => {
  it('has room until so many chunks are under way (R-34)', async () => {
    const window = new ChunkWindow(3, Infinity);
    const chunks = [held(), held(), held()];
    window.add(chunks[0]!);
    window.add(chunks[1]!);
    await window.room();
    window.add(chunks[2]!);
    const room = watched(window.room());
    await settledMicrotasks();
    expect(room.done).toBe(false);
    chunks[1]!.store();
    await room.promise;
  });

  it('has room until so many bytes are under way (R-34)', async () => {
    const window = new ChunkWindow(Infinity, 10);
    const [small, large] = [held(4), held(6)];
    window.add(small);
    await window.room();
    window.add(large);
    const room = watched(window.room());
    await settledMicrotasks();
    expect(room.done).toBe(false);
    small.store();
    await room.promise;
  });

  it('lets a chunk in that is larger than itself, and then no other until it is stored', async () => {
    const window = new ChunkWindow(10, 10);
    const huge = held(1_000);
    await window.room();
    window.add(huge);
    const room = watched(window.room());
    await settledMicrotasks();
    expect(room.done).toBe(false);
    huge.store();
    await room.promise;
  });

  it('is drained when everything is stored, and at once when nothing was added', async () => {
    const window = new ChunkWindow(10, 10);
    await window.drained();
    const chunks = [held(), held()];
    chunks.forEach((chunk) => {
      window.add(chunk);
    });
    const drained = watched(window.drained());
    chunks[0]!.store();
    await settledMicrotasks();
    expect(drained.done).toBe(false);
    chunks[1]!.store();
    await drained.promise;
  });

  it('throws the first fault of the store, to those who wait and to those who come later', async () => {
    const window = new ChunkWindow(1, 10);
    const chunk = held();
    window.add(chunk);
    const room = window.room();
    chunk.fail(new Error('first'));
    await expect(room).rejects.toThrow('first');
    const second = held();
    window.add(second);
    second.fail(new Error('second'));
    await expect(window.drained()).rejects.toThrow('first');
    await expect(window.room()).rejects.toThrow('first');
  });
});

function held(size = 1) {
  let store: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const stored = new Promise<void>((resolve, reject) => {
    store = resolve;
    fail = reject;
  });
  return {
    size,
    stored,
    store: () => {
      store();
    },
    fail: (error: Error) => {
      fail(error);
    },
  };
}

function watched(promise: Promise<void>) {
  const watch = { promise, done: false };
  promise.then(
    () => (watch.done = true),
    () => undefined,
  );
  return watch;
}

function settledMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
