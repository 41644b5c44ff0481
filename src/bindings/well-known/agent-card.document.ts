import { Inject, Injectable } from '@nestjs/common';
import { A2A_CARD_OPTIONS, type CardOptions } from '../../card/card.options.js';
import { CardService, type Addressed } from '../../card/card.service.js';
import type { WellKnownDocument } from './well-known-document.js';

/**
 * Where clients look for the card of an agent.
 *
 * @see A2A v1.0 §8.2 Discovery Mechanisms
 */
export const AGENT_CARD_PATH = '/.well-known/agent-card.json';

/** Where clients of versions before 0.3 look. */
export const LEGACY_AGENT_CARD_PATH = '/.well-known/agent.json';

/** The agent's card. */
@Injectable()
export class AgentCardDocument implements WellKnownDocument {
  readonly contentType = 'application/json';

  constructor(
    @Inject(A2A_CARD_OPTIONS) private readonly options: CardOptions,
    private readonly cards: CardService,
  ) {}

  paths(): readonly string[] {
    return this.options.legacyPath === false ? [AGENT_CARD_PATH] : [AGENT_CARD_PATH, LEGACY_AGENT_CARD_PATH];
  }

  answer(request: unknown): Promise<Addressed> {
    return this.cards.cardFor(request);
  }
}
