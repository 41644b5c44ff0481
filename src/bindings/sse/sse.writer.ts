import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { rawResponse } from '../body/http-reply.js';

/** A reply of Fastify, as far as it is used here. */
interface HijackableReply {
  hijack(): void;
  getHeaders(): OutgoingHttpHeaders;
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  // Kept from compression, which would hold events back until there are many.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Writes server-sent events to a response of Express or Fastify.
 *
 * - A reader that does not take what it was sent by the deadline is cut off; one that is only slow loses nothing.
 *
 * @see A2A v1.0 §9.4.2 SendStreamingMessage
 */
export class SseWriter {
  private readonly raw: ServerResponse & { flush?: () => void };

  /**
   * Sends the head of the answer.
   *
   * @param deadline how long the reader may take over one event, in milliseconds
   */
  constructor(
    response: unknown,
    headers: Readonly<Record<string, string>>,
    private readonly deadline: number,
  ) {
    this.raw = rawResponse(response);
    if (this.raw !== response) {
      const reply = response as HijackableReply;
      // What the host's hooks have set so far, such as CORS headers.
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) this.raw.setHeader(name, value);
      }
      reply.hijack();
    }
    this.raw.writeHead(200, { ...HEADERS, ...headers });
    this.raw.flushHeaders();
  }

  /** @returns whether the reader is still there */
  event(id: number | undefined, data: string): Promise<boolean> {
    return this.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`);
  }

  /** @returns whether the reader is still there */
  comment(text: string): Promise<boolean> {
    return this.write(`: ${text}\n\n`);
  }

  /** Ends the answer, and waits until the reader has it. What it has not taken by the deadline is dropped. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.raw.destroy(), this.deadline);
      const settle = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.raw.once('finish', settle).once('close', settle);
      if (this.raw.destroyed) settle();
      this.raw.end();
    });
  }

  private async write(text: string): Promise<boolean> {
    if (this.raw.destroyed) return false;
    this.gather();
    const isTaken = this.raw.write(text);
    this.raw.flush?.();
    return isTaken || this.drained();
  }

  /** Lets events that are ready together leave together. */
  private gather(): void {
    if (this.raw.writableCorked > 0) return;
    this.raw.cork();
    process.nextTick(() => {
      this.raw.uncork();
    });
  }

  private drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isThere: boolean): void => {
        clearTimeout(timer);
        this.raw.off('drain', onDrain).off('close', onClose);
        resolve(isThere);
      };
      const onDrain = (): void => {
        settle(true);
      };
      const onClose = (): void => {
        settle(false);
      };
      const timer = setTimeout(() => {
        this.raw.destroy();
        settle(false);
      }, this.deadline);
      this.raw.once('drain', onDrain).once('close', onClose);
    });
  }
}
