import type { IncomingMessage, Server } from 'node:http';
import { Duplex } from 'node:stream';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import { AgentPaths } from './agent-paths.js';
import { answerNotFound, endWithNotFound } from './not-found.js';

type Adapter = HttpAdapterHost['httpAdapter'];

/** An Express application, as far as it is used here. */
interface ExpressLike {
  readonly router: { readonly stack: unknown[] };
}

/** A Fastify instance, as far as it is used here. */
interface FastifyLike {
  addHook(name: 'onRequest', hook: (request: { raw: IncomingMessage }, reply: unknown) => Promise<unknown>): void;
}

/** The events by which a server hands on a request, and those by which it gives a connection away. */
const REQUESTS: ReadonlySet<unknown> = new Set(['request', 'checkContinue', 'checkExpectation']);
const HANDOVERS: ReadonlySet<unknown> = new Set(['upgrade', 'connect']);

/**
 * In the role `agent`, serves the agent's paths and answers 404 to all others.
 *
 * - No handler, middleware or gateway of the host sees a request that is not on the list.
 * - A request that is on the list goes the host's whole way, as in any other role.
 * - No connection is upgraded.
 */
@Injectable()
export class RoleGate implements OnModuleInit {
  private readonly logger = new Logger(RoleGate.name);

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
    private readonly paths: AgentPaths,
  ) {
    if (this.settings.role !== 'agent') return;
    // Before the host's middleware, and for each server that the host puts before its router.
    host.init$.subscribe(() => {
      this.guardRouter(host.httpAdapter);
    });
  }

  onModuleInit(): void {
    const adapter = this.host.httpAdapter as Adapter | undefined;
    // A context without HTTP has no adapter.
    if (!adapter || this.settings.role !== 'agent') return;
    this.guardServer(adapter.getHttpServer() as Server);
    this.logger.log('This process serves the agent, and answers 404 to everything else.');
  }

  private guardRouter(adapter: Adapter): void {
    if (adapter.getType() === 'fastify') {
      adapter.getInstance<FastifyLike>().addHook('onRequest', ({ raw }, reply) => {
        return Promise.resolve(this.refuses(raw, reply) ? reply : undefined);
      });
      return;
    }
    adapter.use((request: IncomingMessage, response: unknown, next: () => void) => {
      if (!this.refuses(request, response)) next();
    });
    if (adapter.getType() !== 'express') return;
    // The host may bring an application that has routes already.
    const { stack } = adapter.getInstance<ExpressLike>().router;
    stack.unshift(stack.pop());
  }

  /**
   * Stands where the server tells of a request. Gateways listen there too, and some of them answer ordinary requests
   * before any router is asked.
   */
  private guardServer(server: Server): void {
    const emit = server.emit.bind(server) as (event: unknown, ...args: unknown[]) => boolean;
    server.emit = (event: unknown, ...args: unknown[]): boolean => {
      const [request, answer] = args;
      if (HANDOVERS.has(event)) {
        // HTTP/2 gives a response here, too.
        if (answer instanceof Duplex) endWithNotFound(answer);
        else answerNotFound(request as IncomingMessage, answer);
        return true;
      }
      return (REQUESTS.has(event) && this.refuses(request as IncomingMessage, answer)) || emit(event, ...args);
    };
  }

  /** @returns whether the request has been answered here */
  private refuses(request: IncomingMessage, response: unknown): boolean {
    if (this.paths.includes(request.url)) return false;
    answerNotFound(request, response);
    return true;
  }
}
