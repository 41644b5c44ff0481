import { Inject, Injectable, Logger, UseGuards, type CanActivate, type Provider, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { scrub } from '#protocol';
import type { CallContext } from '../context/call-context.js';
import { describeError } from '../context/describe-error.js';
import { createPipelineCreator } from '../context/pipeline.js';
import type { Principal } from '../context/principal.js';
import { isSameTier, tierOf } from '../context/tier.js';
import { PrincipalService } from '../security/principal.service.js';

/** Says whether the caller of a long answer is still who it was when the answer began. */
export abstract class CallerCheck {
  /** @returns false when a guard denies, nobody is resolved, or another owner, tenant or scope set */
  abstract holds(call: CallContext): Promise<boolean>;
}

/** The injection token of the method that the guards stand before. */
const GUARDED = Symbol('A2A_GUARDED');

/** What is behind the guards: nothing but the way through them. */
interface Guarded {
  pass(request: object, response: unknown): Principal;
}

/**
 * Makes the providers of a check that runs guards on the kept request again, as they ran on the call.
 *
 * @param guards the host's guards, then those that note owner, tenant and scopes
 */
export function callerCheckProviders(guards: readonly (Type<CanActivate> | CanActivate)[]): Provider[] {
  @Injectable()
  @UseGuards(...guards)
  class GuardedPass implements Guarded {
    constructor(private readonly principals: PrincipalService) {}

    pass(request: object): Principal {
      return this.principals.principal(request);
    }
  }

  @Injectable()
  class GuardedCallerCheck extends CallerCheck {
    private readonly logger = new Logger('CallerCheck');
    private pipeline: ((...args: unknown[]) => Promise<unknown>) | undefined;

    constructor(
      @Inject(GUARDED) private readonly guarded: GuardedPass,
      private readonly principals: PrincipalService,
      private readonly modules: ModulesContainer,
    ) {
      super();
    }

    async holds({ httpRequest, httpResponse, tier }: CallContext): Promise<boolean> {
      this.principals.forget(httpRequest as object);
      try {
        const principal = (await this.run(httpRequest, httpResponse)) as Principal;
        return isSameTier(tierOf(principal), tier);
      } catch (error) {
        this.logger.warn(`The caller of a stream was let go: ${scrub(describeError(error))}`);
        return false;
      }
    }

    private run(request: unknown, response: unknown): Promise<unknown> {
      this.pipeline ??= createPipelineCreator(this.modules).create(
        this.guarded,
        this.guarded.pass.bind(this.guarded) as (...args: unknown[]) => unknown,
        'pass',
        undefined,
        undefined,
        undefined,
        undefined,
        { guards: true, interceptors: false, filters: false },
        'http',
      ) as (...args: unknown[]) => Promise<unknown>;
      return this.pipeline(request, response, () => undefined);
    }
  }
  return [
    { provide: GUARDED, useClass: GuardedPass },
    { provide: CallerCheck, useClass: GuardedCallerCheck },
  ];
}
