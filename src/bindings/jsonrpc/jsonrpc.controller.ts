import {
  Controller,
  Options,
  Post,
  Req,
  Res,
  UseFilters,
  UseGuards,
  VERSION_NEUTRAL,
  type CanActivate,
  type Type,
} from '@nestjs/common';
import type { A2ASettings } from '../../context/settings.js';
import { A2A_SETTINGS } from '../../context/settings.js';
import { Inject } from '@nestjs/common';
import { methodNotAllowed } from '../body/entry.gate.js';
import { sendReply } from '../body/http-reply.js';
import { resultReply } from '../body/rpc-reply.js';
import { CallFactory } from './call.factory.js';
import type { Envelope } from './envelope.js';
import { EnvelopeGuard } from './envelope.guard.js';
import { StreamRelay } from '../sse/stream-relay.js';
import { RpcDispatcher } from './rpc.dispatcher.js';
import { RpcExceptionFilter } from './rpc-exception.filter.js';
import { envelopeOf } from './rpc-request.js';
import { ServiceParametersGuard } from './service-parameters.guard.js';

/** A guard, as `@UseGuards` takes it. */
export type GuardRef = Type<CanActivate> | CanActivate;

/**
 * Makes the controller of the JSON-RPC endpoint. It writes its answers itself, so that no pipe, interceptor or filter
 * of the host changes them.
 *
 * @param path below the host's global prefix
 * @param guards the host's guards, between the protocol's checks and the principal's
 * @param principalGuards those that note owner, tenant and scopes
 */
export function createJsonRpcController(
  path: string,
  guards: readonly GuardRef[],
  principalGuards: readonly GuardRef[],
): Type<unknown> {
  @Controller({ path, version: VERSION_NEUTRAL })
  @UseGuards(EnvelopeGuard, ServiceParametersGuard, ...guards, ...principalGuards)
  @UseFilters(RpcExceptionFilter)
  class JsonRpcController {
    constructor(
      private readonly calls: CallFactory,
      private readonly dispatcher: RpcDispatcher,
      private readonly relay: StreamRelay,
      @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
    ) {}

    @Post()
    async handle(@Req() request: object, @Res() response: unknown): Promise<void> {
      const envelope = envelopeOf(request) as Envelope;
      const call = this.calls.create(request, response);
      const result = await this.dispatcher.dispatch(envelope, call);
      const headers = { ...this.extensionHeader(call.requestedExtensions), ...privacyHeader(envelope.method) };
      if (typeof result === 'string') sendReply(response, resultReply(envelope.id, result, headers));
      else await this.relay.relay(result, envelope.id, call, headers);
    }

    /** A preflight that the host's CORS has not answered is no call. */
    @Options()
    refuse(): never {
      throw methodNotAllowed();
    }

    /** Names the extensions that were asked for and are served. */
    private extensionHeader(requested: readonly string[]): Record<string, string> {
      const active = this.settings.extensions.map(({ uri }) => uri).filter((uri) => requested.includes(uri));
      return active.length > 0 ? { 'A2A-Extensions': active.join(', ') } : {};
    }
  }
  return JsonRpcController;
}

/**
 * What one caller's card says is kept by no cache, even one that knows `no-store` as a hint only.
 *
 * @see A2A v1.0 §13.3 Extended Agent Card Access Control
 */
function privacyHeader(method: string): Record<string, string> {
  return method === 'GetExtendedAgentCard' ? { 'Cache-Control': 'private, no-store' } : {};
}
