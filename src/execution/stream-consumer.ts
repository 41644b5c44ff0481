import {
  defer,
  from,
  fromEvent,
  finalize,
  ignoreElements,
  isObservable,
  lastValueFrom,
  mergeMap,
  of,
  takeUntil,
  takeWhile,
  type Observable,
} from 'rxjs';
import { isDirectMessage, type DirectMessage } from '../skills/direct-message.js';
import type { SkillStream } from '../skills/skill-result.js';
import { ChunkWindow } from './chunk-window.js';
import type { Chunk } from './chunk-writer.js';

/** How far an iterable is pulled ahead of the store. */
const MAX_CHUNKS_AHEAD = 256;
const MAX_BYTES_AHEAD = 256 * 1024;
/** How much of an Observable, which cannot be slowed down, may wait for the store. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

/** Records one item of a stream. */
type Write = (item: unknown) => Chunk;

/**
 * Records what a skill gives bit by bit, until its end.
 *
 * - An iterable is pulled no further ahead of the store than a window; an Observable may queue up to a bound.
 * - When the signal aborts, the source is torn down and not waited for.
 *
 * @returns the direct Message, when the source gave one
 * @throws {Error} what the source or the store throws
 */
export function consumeStream(
  source: SkillStream,
  write: Write,
  signal: AbortSignal,
): Promise<DirectMessage | undefined> {
  return isObservable(source) ? consumeObservable(source, write, signal) : consumeIterable(source, write, signal);
}

async function consumeIterable(
  source: AsyncIterable<unknown> | Generator,
  write: Write,
  signal: AbortSignal,
): Promise<DirectMessage | undefined> {
  const iterator: AsyncIterator<unknown> | Iterator<unknown> =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source;
  const window = new ChunkWindow(MAX_CHUNKS_AHEAD, MAX_BYTES_AHEAD);
  const tearDown = (): void => {
    // Whether it ever comes back is the source's own affair.
    void (async () => iterator.return?.(undefined))().catch(() => undefined);
  };
  signal.addEventListener('abort', tearDown, { once: true });
  const isStopped = (): boolean => signal.aborted;
  // A signal that has aborted before tells nobody any more.
  if (isStopped()) tearDown();
  try {
    while (!isStopped()) {
      const step: IteratorResult<unknown, unknown> = await iterator.next();
      if (step.done === true || isStopped()) break;
      if (isDirectMessage(step.value)) {
        tearDown();
        return step.value;
      }
      window.add(write(step.value));
      await window.room();
    }
    await window.drained();
    return undefined;
  } catch (error) {
    tearDown();
    throw error;
  } finally {
    signal.removeEventListener('abort', tearDown);
  }
}

function consumeObservable(
  source: Observable<unknown>,
  write: Write,
  signal: AbortSignal,
): Promise<DirectMessage | undefined> {
  let queued = 0;
  const store = (item: unknown): Observable<never> =>
    defer(() => {
      const { size, stored } = write(item);
      queued += size;
      if (queued > MAX_QUEUED_BYTES) throw new RangeError('The Observable gives more than the store can take.');
      return from(stored).pipe(
        ignoreElements(),
        finalize(() => {
          queued -= size;
        }),
      );
    });
  return lastValueFrom(
    source.pipe(
      takeUntil(signal.aborted ? of(true) : fromEvent(signal, 'abort')),
      takeWhile((item) => !isDirectMessage(item), true),
      mergeMap((item) => (isDirectMessage(item) ? of(item) : store(item))),
    ),
    { defaultValue: undefined },
  );
}
