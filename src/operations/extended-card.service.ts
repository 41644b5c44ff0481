import { Injectable, Logger } from '@nestjs/common';
import {
  ExtendedAgentCardNotConfiguredError,
  findA2AError,
  InternalError,
  InvalidRequestError,
  type AgentCard,
  type RequestOf,
} from '#protocol';
import { InvalidHostError } from '../card/base-url.js';
import { CardService } from '../card/card.service.js';
import {
  ExtendedCardProvider,
  type ExtendedCardAnswer,
  type ExtendedCardContext,
} from '../card/extended-card.provider.js';
import type { CallContext } from '../context/call-context.js';
import { describeError } from '../context/describe-error.js';

/**
 * Gives authenticated callers the card that the host has for them.
 *
 * @see A2A v1.0 §3.1.11 Get Extended Agent Card, §13.3 Extended Agent Card Access Control
 */
@Injectable()
export class ExtendedCardService {
  private readonly logger = new Logger(ExtendedCardService.name);

  constructor(
    private readonly cards: CardService,
    private readonly provider: ExtendedCardProvider,
  ) {}

  /** @throws {ExtendedAgentCardNotConfiguredError} when there is none for this caller */
  async get({ tenant }: RequestOf<'GetExtendedAgentCard'>, call: CallContext): Promise<AgentCard> {
    const card = await this.publicCard(call);
    const extended = await this.ask(card, {
      ...call.principal,
      request: call.request,
      signal: call.signal,
      tenantParam: tenant,
    });
    if (extended === undefined || extended === null) throw new ExtendedAgentCardNotConfiguredError();
    return extended;
  }

  private async publicCard({ httpRequest }: CallContext): Promise<AgentCard> {
    try {
      return await this.cards.publicCard(httpRequest);
    } catch (error) {
      if (error instanceof InvalidHostError) throw new InvalidRequestError(error.message);
      throw error;
    }
  }

  private async ask(card: AgentCard, context: ExtendedCardContext): Promise<ExtendedCardAnswer> {
    try {
      return await this.provider.provide(card, context);
    } catch (error) {
      const told = findA2AError(error);
      if (told) throw told;
      // A status that the host's own exceptions have is not passed on either.
      this.logger.error(`The extended card could not be made: ${describeError(error)}`);
      throw new InternalError();
    }
  }
}
