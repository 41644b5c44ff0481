import { Inject, Injectable, Logger } from '@nestjs/common';
import { findA2AError, InternalError, scrub, UnsupportedOperationError } from '#protocol';
import type { CallContext } from '../../context/call-context.js';
import { describeError } from '../../context/describe-error.js';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import type { StreamFrame } from '../../operations/task-stream.js';
import { rawResponse } from '../body/http-reply.js';
import { errorText, resultText } from '../body/rpc-reply.js';
import { CallerCheck } from '../caller-check.js';
import { SseWriter } from './sse.writer.js';

/** Opens a stream. The signal aborts when nobody reads it any more. */
export type StreamSource = (signal: AbortSignal) => AsyncGenerator<StreamFrame>;

/** A step of a stream, or nothing when it is time to show that the stream lives. */
type Step = IteratorResult<StreamFrame> | undefined;

/**
 * Carries the frames of a stream to its reader.
 *
 * - Nothing is written before the first frame is there, so that a refusal is an ordinary answer.
 * - An idle stream shows that it lives; as often, its caller is checked again, and the stream ends when it no longer
 *   is who it was.
 * - Whatever way a stream ends, its source is told.
 *
 * @see A2A v1.0 §3.5.2 Streaming Event Delivery
 */
@Injectable()
export class StreamRelay {
  private readonly logger = new Logger(StreamRelay.name);

  constructor(
    private readonly check: CallerCheck,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /**
   * @param id the JSON text of the request's id
   * @throws {A2AError} what refuses the stream
   */
  async relay(
    source: StreamSource,
    id: string,
    call: CallContext,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { headersSent, writableEnded } = rawResponse(call.httpResponse);
    if (headersSent || writableEnded) throw new UnsupportedOperationError('The response has begun already.');
    const left = new AbortController();
    const frames = source(AbortSignal.any([call.signal, left.signal]));
    try {
      await this.carry(await frames.next(), frames, id, call, headers);
    } finally {
      // A step may be waiting for an update that never comes.
      left.abort();
      await frames.return(undefined);
    }
  }

  private async carry(
    first: IteratorResult<StreamFrame>,
    frames: AsyncGenerator<StreamFrame>,
    id: string,
    call: CallContext,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const writer = new SseWriter(call.httpResponse, headers, this.settings.writeDeadline);
    try {
      await this.write(first, frames, id, call, writer);
    } catch (error) {
      if (call.signal.aborted) return;
      // The head is out: what went wrong is said in the stream.
      const told = findA2AError(error) ?? new InternalError();
      this.logger.error(`A stream failed: ${scrub(describeError(error))}`);
      await writer.event(undefined, errorText(id, told));
    } finally {
      await writer.end();
    }
  }

  private async write(
    first: IteratorResult<StreamFrame>,
    frames: AsyncGenerator<StreamFrame>,
    id: string,
    call: CallContext,
    writer: SseWriter,
  ): Promise<void> {
    let checkedAt = performance.now();
    let next: Promise<Step> = Promise.resolve(first);
    for (;;) {
      const step = await this.nextOrIdle(next, checkedAt);
      if (step?.done === true) return;
      // A timer may come a little early: it is time all the same.
      if (!step || performance.now() - checkedAt >= this.settings.keepAlive) {
        if (!(await this.check.holds(call))) return;
        checkedAt = performance.now();
      }
      const isThere = step
        ? await writer.event(step.value.version, resultText(id, step.value.json))
        : await writer.comment('keep-alive');
      if (!isThere) return;
      if (step) next = frames.next();
    }
  }

  /** Waits for the next step, but no longer than until the next check is due. */
  private async nextOrIdle(next: Promise<Step>, checkedAt: number): Promise<Step> {
    let timer: NodeJS.Timeout | undefined;
    const due = Math.max(0, checkedAt + this.settings.keepAlive - performance.now());
    const idle = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, due, undefined);
    });
    try {
      return await Promise.race([next, idle]);
    } finally {
      clearTimeout(timer);
    }
  }
}
