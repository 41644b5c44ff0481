import { Injectable } from '@nestjs/common';
import { UnauthenticatedError } from '#protocol';
import type { Principal, PrincipalAnswer } from '../context/principal.js';
import { PrincipalResolver } from './principal.resolver.js';

/** A request on which our guards note the principal, one aspect each. */
interface NotedRequest {
  a2a?: Partial<Principal>;
}

/** Asks the resolver once per request, and keeps what the guards made of its answer. */
@Injectable()
export class PrincipalService {
  private readonly answers = new WeakMap<object, Promise<PrincipalAnswer>>();

  constructor(private readonly resolver: PrincipalResolver) {}

  /** What the resolver says of a request. */
  answer(request: object): Promise<PrincipalAnswer> {
    const known = this.answers.get(request);
    if (known) return known;
    const answer = (async () => (await this.resolver.resolve(request as never)) ?? {})();
    this.answers.set(request, answer);
    return answer;
  }

  /** Lets the resolver be asked anew, and forgets what the guards have noted. */
  forget(request: object): void {
    this.answers.delete(request);
    delete (request as NotedRequest).a2a;
  }

  /** Notes an aspect of the principal as `request.a2a`, where guards of the host's own may note theirs. */
  note(request: object, aspect: Partial<Principal>): void {
    const noted = request as NotedRequest;
    noted.a2a = { ...noted.a2a, ...aspect };
  }

  /**
   * The principal that the guards have noted.
   *
   * @throws {UnauthenticatedError} when no guard has found an owner
   */
  principal(request: object): Principal {
    const { owner, tenant = '', scopes = [] } = (request as NotedRequest).a2a ?? {};
    if (!owner) throw new UnauthenticatedError();
    return { owner, tenant, scopes };
  }
}
