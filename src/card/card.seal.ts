import { Inject, Injectable } from '@nestjs/common';
import type { AgentCard } from '#protocol';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { signCard } from '../signing/card-signer.js';
import { JWKS_PATH } from '../signing/jwks-path.js';
import { SigningKeys } from '../signing/signing.keys.js';
import type { BaseUrl } from './base-url.js';
import { A2A_CARD_OPTIONS, type CardOptions } from './card.options.js';

/** A card that nothing is added to any more. */
export interface SealedCard {
  readonly card: AgentCard;
  /** What was signed, and with which keys; equal for equal cards, whose signatures differ. Absent: nothing was. */
  readonly signed?: string;
}

/**
 * Finishes a card before it becomes bytes: signs it, when there are keys.
 *
 * Signatures of equal cards differ, so a card is sealed once and then kept.
 *
 * @see A2A v1.0 §8.4 Agent Card Signing
 */
@Injectable()
export class CardSeal {
  /** @throws {A2AConfigurationError} when the host of a request would get into a signed card */
  constructor(
    @Inject(A2A_CARD_OPTIONS) { url, interfaces }: CardOptions,
    private readonly keys: SigningKeys,
  ) {
    if (keys.isEmpty || url !== undefined || interfaces !== undefined) return;
    throw new A2AConfigurationError(
      'Cards are to be signed, and nothing says under which URL the agent is found: whoever asks for the card would choose what is signed. Set `card.url`.',
    );
  }

  /**
   * @param card not shared with anybody; may be changed and given back
   * @throws {NotJsonError} when there are keys, and it has no canonical form
   */
  async seal(card: AgentCard, { url, isPinned }: BaseUrl): Promise<SealedCard> {
    if (this.keys.isEmpty) return { card };
    // Where the keys are is nothing that a request can say.
    const jku = isPinned ? url + JWKS_PATH : undefined;
    const { keys } = this.keys.jwks();
    const sealed = await signCard(this.keys, card, jku);
    const { signatures: _signatures, ...content } = sealed;
    return { card: sealed, signed: JSON.stringify([content, jku, keys.map(({ kid }) => kid)]) };
  }
}
