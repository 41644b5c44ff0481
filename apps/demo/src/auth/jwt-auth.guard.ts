import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { ACCESS_TOKEN, type TokenClaims } from './token-claims.js';
import type { AuthenticatedRequest, User } from './user.js';

/** Lets in who brings a valid access token, and notes the user on the request. An ordinary Nest guard. */
@Injectable()
export class JwtAuthGuard implements CanActivate {
  constructor(private readonly jwt: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const [, token] = /^Bearer (\S+)$/iu.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) throw new UnauthorizedException('Send a bearer token.');
    request.user = await this.verify(token);
    return true;
  }

  private async verify(token: string): Promise<User> {
    const claims = await this.jwt.verifyAsync<Partial<TokenClaims>>(token).catch(() => undefined);
    // The library checks signature, issuer, audience and expiry, but lets a token pass that has no expiry at all.
    if (!claims?.sub || claims.exp === undefined || claims.token_use !== ACCESS_TOKEN) {
      throw new UnauthorizedException('The token is not valid.');
    }
    return { sub: claims.sub, tenant: claims.tenant, scopes: claims.scope?.split(' ').filter(Boolean) ?? [] };
  }
}
