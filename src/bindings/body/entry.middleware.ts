import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { BodyReader, letGo } from './body.reader.js';
import { captureOf, markCaptured } from './capture.js';
import { EndpointPath } from './endpoint-path.js';
import { EntryGate } from './entry.gate.js';
import { sendReply } from './http-reply.js';
import { errorReply, HttpRefusal } from './rpc-reply.js';

/** The parts of a Fastify instance that are used here. */
interface FastifyLike {
  readonly initialConfig: SlashConfig & { readonly routerOptions?: SlashConfig };
  addHook(name: 'onRoute', hook: (this: FastifyLike, route: RouteLike) => void): void;
  addHook(name: 'onRequest', hook: (request: unknown, reply: unknown) => Promise<unknown>): void;
  addHook(
    name: 'preParsing',
    hook: (request: { raw: IncomingMessage }, reply: unknown, payload: unknown) => Promise<unknown>,
  ): void;
  route(route: RouteLike): void;
}

interface RouteLike {
  readonly url: string;
  readonly method: string | readonly string[];
}

/** How Fastify is told to treat `/a2a/` as `/a2a`: in one of two places, by its version. */
interface SlashConfig {
  readonly ignoreTrailingSlash?: boolean;
}

/** A request of Express, which knows whether the host trusts its proxy. */
type HostedRequest = IncomingMessage & { readonly host?: string };

/**
 * Takes the body of requests to the endpoint before the host's parsers do, and leaves all other requests alone.
 *
 * - The host's middleware, guards and parsers find an ordinary request whose body has been read.
 * - What cannot be a call is refused here, before anything else of the host sees it.
 *
 * A preflight is let through: the host's CORS may answer it.
 */
@Injectable()
export class EntryMiddleware {
  private readonly logger = new Logger(EntryMiddleware.name);

  constructor(
    host: HttpAdapterHost,
    private readonly path: EndpointPath,
    private readonly gate: EntryGate,
    private readonly reader: BodyReader,
  ) {
    // The adapter is set before Nest adds body parsers of its own, but maybe after this constructor.
    host.init$.subscribe(() => {
      this.install(host.httpAdapter);
    });
  }

  private install(adapter: HttpAdapterHost['httpAdapter']): void {
    if (adapter.getType() === 'fastify') this.installOnFastify(adapter.getInstance<FastifyLike>());
    else this.installOnExpress(adapter);
  }

  private installOnExpress(adapter: HttpAdapterHost['httpAdapter']): void {
    adapter.use((request: HostedRequest, response: ServerResponse, next: (error?: unknown) => void) => {
      if (!this.path.matches(request.url)) {
        next();
        return;
      }
      this.admit(request, response, request.host).then((admitted) => {
        if (admitted) next();
      }, next);
    });
  }

  private installOnFastify(fastify: FastifyLike): void {
    const { path } = this;
    fastify.addHook('onRoute', function (route) {
      // Fastify tells `/a2a` and `/a2a/` apart, unless the host tells it not to; the endpoint is both.
      const isOurs = route.url === path.value && (route.method === 'POST' || route.method === 'OPTIONS');
      if (isOurs && !ignoresSlash(this)) this.route({ ...route, url: `${path.value}/` });
    });
    fastify.addHook('onRequest', async (request, reply) => {
      const { raw, host } = request as { raw: IncomingMessage; host?: string };
      if (!this.path.matches(raw.url)) return undefined;
      return (await this.admit(raw, reply, host)) ? undefined : reply;
    });
    fastify.addHook('preParsing', (request, _reply, payload) => {
      if (captureOf(request)) hideBody(request.raw);
      return Promise.resolve(payload);
    });
  }

  /**
   * @param host the authority that the request was sent to: a forwarded one only where the host trusts its proxy
   * @returns whether the request goes on; else it has been answered, or its client has left
   */
  private async admit(request: IncomingMessage, response: unknown, host: string | undefined): Promise<boolean> {
    if (request.method === 'OPTIONS') {
      markCaptured(request, { bytes: Buffer.alloc(0) });
      return true;
    }
    try {
      this.gate.check(request, host);
      const bytes = await this.reader.read(request);
      if (bytes) markCaptured(request, { bytes });
      return bytes !== undefined;
    } catch (error) {
      if (!(error instanceof HttpRefusal)) throw error;
      this.logger.debug(`Refused a request: ${error.message}`);
      sendReply(response, errorReply('null', error.error, error));
      letGo(request);
      return false;
    }
  }
}

function ignoresSlash({ initialConfig: { ignoreTrailingSlash, routerOptions } }: FastifyLike): boolean {
  return routerOptions?.ignoreTrailingSlash ?? ignoreTrailingSlash ?? false;
}

/** Fastify parses by these headers, and there is nothing left to parse. */
function hideBody({ headers }: IncomingMessage): void {
  delete headers['content-type'];
  delete headers['transfer-encoding'];
  headers['content-length'] = '0';
}
