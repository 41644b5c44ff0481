import { beforeEach, describe, expect, it } from '@jest/globals';
import { from, Observable, of, Subject, throwError } from 'rxjs';
import { Gate } from '../../test/support/gate.js';
import { until } from '../../test/support/until.js';
import { message } from '../skills/direct-message.js';
import type { SkillStream } from '../skills/skill-result.js';
import { consumeStream } from './stream-consumer.js';

describe('The consumer of a stream', () => {
  let controller: AbortController;
  let gate: Gate;
  let written: unknown[];
  let sizeOfItem: number;

  beforeEach(() => {
    controller = new AbortController();
    gate = new Gate();
    written = [];
    sizeOfItem = 1;
  });

  const write = (item: unknown) => {
    written.push(item);
    return { size: sizeOfItem, stored: gate.pass() };
  };
  const consume = (source: SkillStream) => consumeStream(source, write, controller.signal);

  describe.each([
    [
      'a generator',
      (items: unknown[]) =>
        (function* () {
          yield* items;
        })(),
    ],
    [
      'an async generator',
      (items: unknown[]) =>
        (async function* () {
          yield* items;
        })(),
    ],
    ['an async iterable', (items: unknown[]) => ({ [Symbol.asyncIterator]: () => asyncIterator(items) })],
    ['a cold Observable', (items: unknown[]) => from(items)],
    [
      'an asynchronous Observable',
      (items: unknown[]) =>
        from(
          (async function* () {
            yield* items;
          })(),
        ),
    ],
  ] as [string, (items: unknown[]) => SkillStream][])('of %s', (_name, make) => {
    it('writes each item in order, and ends when all are stored (R-34)', async () => {
      let isDone = false;
      const consumed = consume(make(['a', 0, null, { b: 1 }])).then(() => (isDone = true));
      await until(() => gate.waiting === 4);
      expect(isDone).toBe(false);
      gate.open();
      await consumed;
      expect(written).toEqual(['a', 0, null, { b: 1 }]);
    });

    it('ends at once when it is empty', async () => {
      expect(await consume(make([]))).toBeUndefined();
      expect(written).toEqual([]);
    });

    it('ends with the direct Message that it gives, and asks for nothing behind it (SEND-19)', async () => {
      gate.open();
      const answer = message('hello');
      expect(await consume(make([answer, 'never']))).toBe(answer);
      expect(written).toEqual([]);
    });

    it('throws what an item throws on its way into the store', async () => {
      const failing = consumeStream(
        make(['a', 'b']),
        (item) => {
          if (item === 'b') throw new Error('no JSON');
          return { size: 1, stored: Promise.resolve() };
        },
        controller.signal,
      );
      await expect(failing).rejects.toThrow('no JSON');
    });

    it('throws what the store throws', async () => {
      const failing = consumeStream(
        make(['a']),
        () => ({ size: 1, stored: Promise.reject(new Error('down')) }),
        controller.signal,
      );
      await expect(failing).rejects.toThrow('down');
    });
  });

  it.each([
    [
      'a generator',
      (function* () {
        yield 'a';
        throw new Error('broken');
      })(),
    ],
    [
      'an async generator',
      (async function* () {
        yield 'a';
        throw new Error('broken');
      })(),
    ],
    [
      'an Observable',
      new Observable((subscriber) => {
        subscriber.next('a');
        subscriber.error(new Error('broken'));
      }),
    ],
  ] as [string, SkillStream][])('throws what %s throws, after the items before it', async (_name, source) => {
    gate.open();
    await expect(consume(source)).rejects.toThrow('broken');
    expect(written).toEqual(['a']);
  });

  describe.each([
    [
      'generator',
      (pull: () => number) =>
        (function* () {
          for (;;) yield pull();
        })(),
    ],
    [
      'async generator',
      (pull: () => number) =>
        (async function* () {
          for (;;) yield pull();
        })(),
    ],
  ] as [string, (pull: () => number) => SkillStream][])(
    'with an endless %s and a store that is stuck',
    (_name, make) => {
      it('pulls at most 256 items ahead, and goes on when one is stored (R-34)', async () => {
        let pulled = 0;
        const consumed = consume(make(() => ++pulled));
        await until(() => gate.waiting === 256);
        await turns();
        expect(pulled).toBe(256);
        gate.letGo();
        await until(() => pulled === 512);
        await turns();
        expect(pulled).toBe(512);
        controller.abort();
        gate.open();
        await consumed;
      });

      it('pulls at most 256 KiB ahead (R-34)', async () => {
        let pulled = 0;
        sizeOfItem = 64 * 1024;
        const consumed = consume(make(() => ++pulled));
        await until(() => gate.waiting === 4);
        await turns();
        expect(pulled).toBe(4);
        controller.abort();
        gate.open();
        await consumed;
      });
    },
  );

  describe('when the signal aborts', () => {
    it('returns an async generator, after the signal (R-34)', async () => {
      gate.open();
      const order: string[] = [];
      controller.signal.addEventListener('abort', () => order.push('signal'));
      const consumed = consume(
        (async function* () {
          try {
            yield 'a';
            await new Promise((resolve) => {
              controller.signal.addEventListener('abort', resolve);
            });
            yield 'late';
          } finally {
            order.push('returned');
          }
        })(),
      );
      await until(() => written.length === 1);
      controller.abort();
      await consumed;
      await until(() => order.length === 2);
      expect(order).toEqual(['signal', 'returned']);
      expect(written).toEqual(['a']);
    });

    it('does not wait for an iterator that never returns (R-34, LIFE-06)', async () => {
      gate.open();
      let returned = 0;
      const pending: ((step: IteratorResult<unknown>) => void)[] = [];
      const consumed = consume({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise((resolve) => pending.push(resolve)),
          return: () => {
            returned++;
            return new Promise<never>(() => undefined);
          },
        }),
      });
      await until(() => pending.length === 1);
      controller.abort();
      expect(returned).toBe(1);
      pending[0]?.({ done: false, value: 'late' });
      await consumed;
      expect(written).toEqual([]);
      expect(returned).toBe(1);
    });

    it.each([
      ['rejects', () => Promise.reject(new Error('return failed'))],
      [
        'throws',
        () => {
          throw new Error('return failed');
        },
      ],
    ])('bears an iterator whose return %s (FAULT-01)', async (_name, fail) => {
      gate.open();
      let hasReturned = false;
      const consumed = consume({
        [Symbol.asyncIterator]: () => ({
          next: () =>
            new Promise<IteratorResult<unknown>>((resolve) => {
              controller.signal.addEventListener('abort', () => {
                resolve({ done: true, value: undefined });
              });
            }),
          return: () => {
            hasReturned = true;
            return fail();
          },
        }),
      });
      await turns();
      controller.abort();
      await consumed;
      expect(hasReturned).toBe(true);
    });

    it('unsubscribes from an Observable at once (R-34)', async () => {
      gate.open();
      let isTornDown = false;
      const consumed = consume(
        new Observable((subscriber) => {
          subscriber.next('a');
          return () => (isTornDown = true);
        }),
      );
      controller.abort();
      expect(isTornDown).toBe(true);
      await consumed;
      expect(written).toEqual(['a']);
    });

    it('does not begin with a source when it has aborted before (R-34)', async () => {
      controller.abort();
      const begun: string[] = [];
      const returned: string[] = [];
      await consume(
        new Observable(() => {
          begun.push('observable');
        }),
      );
      await consume({
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            begun.push('iterable');
            return { done: false, value: 1 };
          },
          return: async () => {
            returned.push('iterable');
            return { done: true, value: undefined };
          },
        }),
      });
      expect({ begun, written }).toEqual({ begun: [], written: [] });
      expect(returned).toEqual(['iterable']);
    });
  });

  it('returns an iterator whose item the store refuses', async () => {
    let isReturned = false;
    const failing = consumeStream(
      (function* () {
        try {
          for (;;) yield 'a';
        } finally {
          isReturned = true;
        }
      })(),
      () => {
        throw new Error('no JSON');
      },
      controller.signal,
    );
    await expect(failing).rejects.toThrow('no JSON');
    expect(isReturned).toBe(true);
  });

  describe('of an Observable that cannot be slowed down', () => {
    it('fails when more than 16 MiB wait for the store, and tears it down (R-34)', async () => {
      const source = new Subject<number>();
      sizeOfItem = 1024 * 1024;
      const failing = consume(source);
      for (let item = 0; item < 16; item++) source.next(item);
      expect(source.observed).toBe(true);
      source.next(16);
      await expect(failing).rejects.toThrow(RangeError);
      expect(source.observed).toBe(false);
    });

    it('bears any amount as long as the store keeps up (R-34)', async () => {
      gate.open();
      const source = new Subject<number>();
      sizeOfItem = 1024 * 1024;
      const consumed = consume(source);
      for (let item = 0; item < 64; item++) {
        source.next(item);
        await turns();
      }
      source.complete();
      await consumed;
      expect(written).toHaveLength(64);
    });
  });

  it('leaves no listener on the signal (B-55)', async () => {
    gate.open();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    await consume(of('a', 'b'));
    await consume(
      (function* () {
        yield 'a';
      })(),
    );
    await expect(consume(throwError(() => new Error('x')))).rejects.toThrow('x');
    expect(listeners).toBe(0);
  });
});

function asyncIterator(items: unknown[]): AsyncIterator<unknown> {
  const left = [...items];
  return {
    next: async () => (left.length > 0 ? { done: false, value: left.shift() } : { done: true, value: undefined }),
  };
}

/** Gives everything that is ready the time to happen. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
