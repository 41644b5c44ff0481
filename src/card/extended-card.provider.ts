import type { AgentCard } from '#protocol';
import type { Principal } from '../context/principal.js';
import type { RequestSnapshot } from '../context/request-snapshot.js';

/** Who asks for the extended card, and how. */
export interface ExtendedCardContext extends Principal {
  /** What of the HTTP request outlives it. */
  readonly request: RequestSnapshot;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
  /** The `tenant` of the request, which is the client's word alone. */
  readonly tenantParam: string | undefined;
}

/** What a provider of extended cards may answer: nothing when there is no extended card for this caller. */
export type ExtendedCardAnswer = AgentCard | null | undefined;

/**
 * Gives the card that an authenticated caller sees. The port that the option `extendedCard` fills, as a function or as
 * a class.
 *
 * @see A2A v1.0 §3.1.11 Get Extended Agent Card
 */
export abstract class ExtendedCardProvider {
  /**
   * @param card a copy of the public card, to be changed and given back or to be left alone
   * @throws {A2AError} what the caller is answered; anything else becomes an internal error without detail
   */
  abstract provide(card: AgentCard, context: ExtendedCardContext): ExtendedCardAnswer | Promise<ExtendedCardAnswer>;
}

/** Has no extended card for anybody. */
export class NoExtendedCard extends ExtendedCardProvider {
  provide(): undefined {
    return undefined;
  }
}
