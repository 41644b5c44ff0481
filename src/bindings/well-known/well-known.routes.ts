import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { InvalidHostError } from '../../card/base-url.js';
import { A2A_CARD_OPTIONS, DEFAULT_MAX_AGE, type CardOptions } from '../../card/card.options.js';
import { describeError } from '../../context/describe-error.js';
import { rawRequest } from '../body/capture.js';
import { sendReply, type HttpReply } from '../body/http-reply.js';
import { documentReply, preflightReply, problemReply, readOnlyReply, type HostHeaders } from './document-reply.js';
import { moveLastRouteForward } from './express-route-order.js';
import { A2A_WELL_KNOWN_DOCUMENTS, type WellKnownDocument } from './well-known-document.js';

type Handler = (request: unknown, response: unknown) => Promise<unknown>;

/** A Fastify instance, as far as it is used here. */
interface FastifyLike {
  readonly supportedMethods: readonly string[];
  route(route: {
    readonly method: readonly string[];
    readonly url: string;
    readonly onRequest: Handler;
    readonly handler: Handler;
  }): void;
}

/** A response of Express or a reply of Fastify, as far as it is used here. */
interface HeadedResponse {
  getHeader(name: string): unknown;
}

/**
 * Serves the well-known documents at the root of the domain, outside of the host's global prefix, versioning and guards,
 * and behind its middleware.
 */
@Injectable()
export class WellKnownRoutes implements OnModuleInit {
  private readonly logger = new Logger(WellKnownRoutes.name);
  private readonly maxAge: number;

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(A2A_WELL_KNOWN_DOCUMENTS) private readonly documents: readonly WellKnownDocument[],
    @Inject(A2A_CARD_OPTIONS) { maxAgeSeconds = 0 }: CardOptions,
  ) {
    this.maxAge = maxAgeSeconds >= 1 ? Math.floor(Math.min(maxAgeSeconds, 2 ** 31 - 1)) : DEFAULT_MAX_AGE;
  }

  onModuleInit(): void {
    const adapter = this.host.httpAdapter as HttpAdapterHost['httpAdapter'] | undefined;
    // A context without HTTP has no adapter.
    if (!adapter) return;
    const mount = adapter.getType() === 'fastify' ? mountOnFastify : mountOnExpress;
    for (const document of this.documents) {
      for (const path of document.paths()) {
        mount(adapter, path, async (request, response) => {
          sendReply(response, await this.reply(document, request, response));
        });
      }
    }
  }

  private async reply(document: WellKnownDocument, request: unknown, response: unknown): Promise<HttpReply> {
    const { method = '', headers } = rawRequest(request);
    const host = hostHeaders(response as HeadedResponse);
    if (method === 'OPTIONS') return preflightReply(host);
    if (!isRead(method)) return readOnlyReply();
    try {
      const answer = await document.answer(request);
      return documentReply(answer, { contentType: document.contentType, maxAge: this.maxAge }, headers, host);
    } catch (error) {
      if (error instanceof InvalidHostError) return problemReply(400, error.message);
      this.logger.error(`A well-known document could not be made: ${describeError(error)}`);
      return problemReply(500, 'Internal server error');
    }
  }
}

function mountOnExpress(adapter: HttpAdapterHost['httpAdapter'], path: string, answer: Handler): void {
  adapter.all(path, (request: unknown, response: unknown) => void answer(request, response));
  moveLastRouteForward(adapter.getInstance());
}

function mountOnFastify(adapter: HttpAdapterHost['httpAdapter'], url: string, answer: Handler): void {
  const fastify = adapter.getInstance<FastifyLike>();
  const answered: Handler = async (request, reply) => {
    await answer(request, reply);
    return reply;
  };
  fastify.route({
    method: fastify.supportedMethods,
    url,
    // What does not read is answered before Fastify looks for a parser of its body.
    onRequest: (request, reply) =>
      isRead(rawRequest(request).method) ? Promise.resolve(undefined) : answered(request, reply),
    handler: answered,
  });
}

function isRead(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}

function hostHeaders(response: HeadedResponse): HostHeaders {
  const given = response.getHeader('vary');
  const vary = Array.isArray(given) ? given.join(', ') : (given as string | undefined);
  // Who refuses an origin says no more than that the answer depends on it.
  const decidesOrigins =
    /\borigin\b/iu.test(vary ?? '') ||
    ['access-control-allow-origin', 'access-control-allow-credentials'].some(
      (name) => response.getHeader(name) !== undefined,
    );
  return { vary, decidesOrigins };
}
