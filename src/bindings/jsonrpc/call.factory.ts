import { Inject, Injectable } from '@nestjs/common';
import type { CallContext } from '../../context/call-context.js';
import type { Principal } from '../../context/principal.js';
import { snapshotRequest } from '../../context/request-snapshot.js';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import { tierOf } from '../../context/tier.js';
import { PrincipalService } from '../../security/principal.service.js';
import { rawRequest } from '../body/capture.js';
import { rawResponse } from '../body/http-reply.js';
import { negotiateExtensions, negotiateVersion } from './service-parameters.js';

/** Makes the context of a call from an HTTP request that all guards have let through. */
@Injectable()
export class CallFactory {
  constructor(
    private readonly principals: PrincipalService,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** @throws {UnauthenticatedError} when no guard has noted an owner */
  create(request: object, response: unknown): CallContext {
    const raw = rawRequest(request);
    const principal = unchangeable(this.principals.principal(request));
    let signal: AbortSignal | undefined;
    return {
      principal,
      tier: tierOf(principal),
      version: negotiateVersion(raw, this.settings.versionPolicy),
      requestedExtensions: Object.freeze(negotiateExtensions(raw, this.settings.extensions)),
      // Most calls never look at it.
      get signal() {
        return (signal ??= departureSignal(response));
      },
      httpRequest: request,
      httpResponse: response,
      request: snapshotRequest(request),
    };
  }
}

/** Skills are given the principal, and the list of scopes may be the host's own. */
function unchangeable({ owner, tenant, scopes }: Principal): Principal {
  return Object.freeze({ owner, tenant, scopes: scopes && Object.freeze([...scopes]) });
}

/** Aborts when the response is closed before it was finished. The request's own close event comes too early for that. */
function departureSignal(response: unknown): AbortSignal {
  const raw = rawResponse(response);
  const controller = new AbortController();
  const leave = (): void => {
    if (!raw.writableFinished) controller.abort();
  };
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return controller.signal;
}
