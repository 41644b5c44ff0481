import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { UnauthenticatedError } from '#protocol';
import { PrincipalService } from './principal.service.js';

/** Notes the scopes that a call's credential is narrowed to. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly principals: PrincipalService) {}

  /** @throws {UnauthenticatedError} when the resolver's scopes are no list of strings */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<object>();
    const { scopes = null } = await this.principals.answer(request);
    if (scopes !== null && !isListOfStrings(scopes)) {
      throw new UnauthenticatedError('The scopes of the caller are no list of strings.');
    }
    this.principals.note(request, { scopes });
    return true;
  }
}

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
