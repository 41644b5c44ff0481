import { Injectable, Module, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';

/** A request as the guard leaves it. */
export interface AuthenticatedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: { readonly id: string; readonly scopes: readonly string[] };
}

/** Stands for the guard of a real application. */
@Injectable()
export class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (request.headers.authorization !== 'Bearer alice') throw new UnauthorizedException();
    request.user = { id: 'alice', scopes: ['invoices:read'] };
    return true;
  }
}

@Module({ providers: [AuthGuard], exports: [AuthGuard] })
export class AuthModule {}
