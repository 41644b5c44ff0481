import { Inject, Injectable } from '@nestjs/common';
import type { AgentCard } from '#protocol';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { signCard } from '../signing/card-signer.js';
import { JWKS_PATH } from '../signing/jwks-path.js';
import { SigningKeys } from '../signing/signing.keys.js';
import { A2A_CARD_OPTIONS, type CardOptions } from './card.options.js';

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
   * @param base the base URL of the application, without a slash at its end; empty when it is not known
   */
  seal(card: AgentCard, base: string): Promise<AgentCard> {
    if (this.keys.isEmpty) return Promise.resolve(card);
    const [first] = card.supportedInterfaces;
    const place = base === '' && first ? new URL(first.url).origin : base;
    return signCard(this.keys, card, place + JWKS_PATH);
  }
}
