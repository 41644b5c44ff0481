import { Inject, Injectable } from '@nestjs/common';
import { encode, type AgentCard } from '#protocol';
import { Clock } from '../context/clock.js';
import type { BaseUrl } from './base-url.js';
import { BaseUrlResolver } from './base-url.resolver.js';
import { CapabilitySource } from './capability.source.js';
import { CardBuilder } from './card.builder.js';
import { A2A_CARD_OPTIONS, type CardOptions } from './card.options.js';
import { CardSeal } from './card.seal.js';
import { render, RenderingCache, type Rendering } from './rendering.js';

/**
 * Whom an answer is for: everybody; everybody who calls the application by the same host; or one request alone.
 */
export type Audience = 'public' | 'host' | 'request';

/** A document, and whom it is for. */
export interface Addressed {
  readonly rendering: Rendering;
  readonly audience: Audience;
}

/**
 * Serves the agent's card.
 *
 * - A card is built and sealed once for each base URL, and then kept as bytes.
 * - What a hook of the host makes for one request is never kept.
 */
@Injectable()
export class CardService {
  private readonly cache = new RenderingCache();

  constructor(
    @Inject(A2A_CARD_OPTIONS) private readonly options: CardOptions,
    private readonly baseUrls: BaseUrlResolver,
    private readonly builder: CardBuilder,
    private readonly capabilities: CapabilitySource,
    private readonly seal: CardSeal,
    private readonly clock: Clock,
  ) {}

  /**
   * A copy of the public card, unsealed and free to be changed.
   *
   * @param request the request of the host's HTTP adapter
   * @throws {InvalidHostError} when the request has to say where the agent is, and does not
   */
  async publicCard(request: unknown): Promise<AgentCard> {
    return this.build((await this.baseUrls.resolve(request)).url);
  }

  /**
   * The card that a request for it is answered with.
   *
   * @throws {InvalidHostError} as {@link publicCard}
   */
  async cardFor(request: unknown): Promise<Addressed> {
    const { forRequest } = this.options;
    const base = await this.baseUrls.resolve(request);
    const { url, isPinned } = base;
    if (forRequest) {
      const card = await forRequest(this.build(url), request);
      return { rendering: await this.rendered(card, base), audience: 'request' };
    }
    const rendering = await this.cache.get(url, () => this.rendered(this.build(url), base, this.clock.now()));
    return { rendering, audience: isPinned ? 'public' : 'host' };
  }

  private build(base: string): AgentCard {
    return this.builder.build(base, this.capabilities.capabilities());
  }

  private async rendered(card: AgentCard, base: BaseUrl, modifiedAt?: number): Promise<Rendering> {
    const { card: sealed, signed } = await this.seal.seal(card, base);
    return render(encode('AgentCard', sealed), { modifiedAt, equivalent: signed });
  }
}
