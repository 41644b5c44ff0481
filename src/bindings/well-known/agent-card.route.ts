import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { encode } from '#protocol';
import { CardBuilder } from '../../card/card.builder.js';
import { A2A_CARD_OPTIONS, type CardOptions } from '../../card/card.options.js';
import { CapabilityPolicy } from '../../operations/capability.policy.js';
import { rawRequest } from '../body/capture.js';
import { EndpointPath } from '../body/endpoint-path.js';
import { sendReply } from '../body/http-reply.js';
import { moveLastRouteForward } from './express-route-order.js';

/**
 * Where clients look for the card of an agent.
 *
 * @see A2A v1.0 §8.2 Discovery Mechanisms
 */
export const AGENT_CARD_PATH = '/.well-known/agent-card.json';

/** Serves the agent's card at the root of the domain, outside of the host's global prefix, versioning and guards. */
@Injectable()
export class AgentCardRoute implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly cards: CardBuilder,
    private readonly capabilities: CapabilityPolicy,
    private readonly path: EndpointPath,
    @Inject(A2A_CARD_OPTIONS) private readonly options: CardOptions,
  ) {}

  onModuleInit(): void {
    const adapter = this.host.httpAdapter as HttpAdapterHost['httpAdapter'] | undefined;
    // A context without HTTP has no adapter.
    if (!adapter) return;
    adapter.get(AGENT_CARD_PATH, (request: unknown, response: unknown) => {
      this.answer(rawRequest(request), response);
    });
    if (adapter.getType() === 'express') moveLastRouteForward(adapter.getInstance());
  }

  private answer(request: IncomingMessage, response: unknown): void {
    const { url } = this.options;
    const base = (typeof url === 'function' ? url() : url) ?? baseOf(request);
    const card = this.cards.build(base.replace(/\/+$/u, '') + this.path.value, this.capabilities.capabilities());
    sendReply(response, {
      status: 200,
      headers: {
        'Content-Type': 'application/json',
        ...(url === undefined
          ? // Whoever names the host names it for himself alone.
            { 'Cache-Control': 'no-store', Vary: 'Host' }
          : { 'Cache-Control': 'public, max-age=60' }),
      },
      body: JSON.stringify(encode('AgentCard', card)),
    });
  }
}

/** The base URL by which this request came. Forwarded headers are anyone's word and not looked at. */
function baseOf({ headers, socket }: IncomingMessage): string {
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  return `${scheme}://${headers.host ?? 'localhost'}`;
}
