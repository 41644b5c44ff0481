import type { IncomingMessage } from 'node:http';

/** The body of a request to the endpoint, byte for byte as it was sent. */
export interface Capture {
  readonly bytes: Buffer;
}

/** Where the entry middleware keeps a capture: on the request of Node, which Express and Fastify both show. */
const CAPTURE = Symbol('nestjs-a2a.capture');

type Marked = IncomingMessage & { [CAPTURE]?: Capture };

/** The request of Node behind a request of Express or Fastify. */
export function rawRequest(request: unknown): IncomingMessage {
  return (request as { raw?: IncomingMessage }).raw ?? (request as IncomingMessage);
}

/** Marks a request as one to the endpoint that has passed the entry checks. */
export function markCaptured(request: IncomingMessage, capture: Capture): void {
  (request as Marked)[CAPTURE] = capture;
}

/** What the entry middleware captured; `undefined` for a request that did not come through it. */
export function captureOf(request: unknown): Capture | undefined {
  return (rawRequest(request) as Marked)[CAPTURE];
}
