import { Injectable } from '@nestjs/common';
import type { AgentCard } from '#protocol';

/**
 * Finishes a card before it becomes bytes, once for each card that is kept: the place where signatures are put on it.
 *
 * @see A2A v1.0 §8.4 Agent Card Signing
 */
export abstract class CardSeal {
  /** @param card not shared with anybody; may be changed and given back */
  abstract seal(card: AgentCard): Promise<AgentCard>;
}

/** Leaves cards as they are. */
@Injectable()
export class NoSeal extends CardSeal {
  seal(card: AgentCard): Promise<AgentCard> {
    return Promise.resolve(card);
  }
}
