import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { checkIdentifier } from './identifier.js';
import { PrincipalService } from './principal.service.js';

/** Notes the tenant that a call acts in. It comes from the resolver alone, never from the call's parameters. */
@Injectable()
export class TenantGuard implements CanActivate {
  constructor(private readonly principals: PrincipalService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<object>();
    const { tenant } = await this.principals.answer(request);
    this.principals.note(request, { tenant: checkIdentifier(tenant ?? '', 'tenant') });
    return true;
  }
}
