/** A request whose whole answer was not there in time. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';

  /** @param timeoutMs The time the request had, in milliseconds. */
  constructor(readonly timeoutMs: number) {
    super(`There was no complete answer within ${timeoutMs} ms.`);
  }
}
