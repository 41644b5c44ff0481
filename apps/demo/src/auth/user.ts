/** Who a token was given to, as the guard notes it on the request. */
export interface User {
  readonly sub: string;
  readonly tenant?: string | undefined;
  readonly scopes: readonly string[];
}

/** A request that has, or has not, come through the `JwtAuthGuard`. */
export interface AuthenticatedRequest {
  readonly headers: { readonly authorization?: string };
  user?: User;
}
