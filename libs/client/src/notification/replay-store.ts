/**
 * Remembers the notifications that were accepted, so that none is accepted twice.
 *
 * Processes that share a webhook have to share one: a table with a unique column, or `SET NX PX` of Redis.
 */
export abstract class ReplayStore {
  /**
   * Notes an id, in one step: of two who note it at once, one is told that it is new.
   *
   * It must not forget an id early to make room for another. Where there is no room, it throws.
   *
   * @param id at most 256 characters
   * @param until epoch milliseconds, up to and with which the id has to be remembered
   * @returns whether it is new
   */
  abstract remember(id: string, until: number): boolean | Promise<boolean>;
}

/** Says that a {@link ReplayStore} has no room. The notification is refused, and may be sent again later. */
export class ReplayStoreFullError extends Error {
  override readonly name = 'ReplayStoreFullError';
}
