import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { UnauthenticatedError } from '#protocol';
import { checkIdentifier } from './identifier.js';
import { PrincipalService } from './principal.service.js';

/** Lets a call through when it has an owner. There is no anonymous one. */
@Injectable()
export class OwnerGuard implements CanActivate {
  constructor(private readonly principals: PrincipalService) {}

  /** @throws {UnauthenticatedError} when nobody owns the call */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<object>();
    const { owner } = await this.principals.answer(request);
    if (owner === undefined || owner === null || owner === '') throw new UnauthenticatedError();
    this.principals.note(request, { owner: checkIdentifier(owner, 'owner') });
    return true;
  }
}
