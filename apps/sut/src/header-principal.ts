import type { PrincipalAnswer } from 'nestjs-a2a';

/** A request of either adapter, as far as the principal is told by it. */
interface RequestLike {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Believes the headers `x-user`, `x-tenant` and `x-scopes`. For tests only: anyone can send them. */
export function headerPrincipal({ headers }: RequestLike): PrincipalAnswer {
  return {
    owner: headers['x-user'] ?? 'anonymous',
    tenant: headers['x-tenant'],
    scopes: headers['x-scopes']?.split(' ').filter((scope) => scope !== ''),
  };
}
