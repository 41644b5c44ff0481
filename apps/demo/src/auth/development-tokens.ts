import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { ACCESS_TOKEN, type TokenClaims } from './token-claims.js';

/** Tokens to try the application with. */
export interface Tokens {
  readonly alice: string;
  /** Alice again, who may only read. */
  readonly reader: string;
  readonly bob: string;
}

/** Signs tokens for development. A real application gets them from an authorization server. */
@Injectable()
export class DevelopmentTokens {
  constructor(private readonly jwt: JwtService) {}

  issue(): Tokens {
    return {
      alice: this.sign({ sub: 'alice', scope: 'invoices:read invoices:write' }),
      reader: this.sign({ sub: 'alice', scope: 'invoices:read' }),
      bob: this.sign({ sub: 'bob', scope: 'invoices:read invoices:write' }),
    };
  }

  private sign(claims: Pick<TokenClaims, 'sub' | 'scope'>): string {
    return this.jwt.sign({ ...claims, token_use: ACCESS_TOKEN });
  }
}
