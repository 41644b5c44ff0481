/** The `token_use` of a token that opens this application, unlike one that is meant to be exchanged or shown. */
export const ACCESS_TOKEN = 'access';

/** What a token says. */
export interface TokenClaims {
  readonly sub: string;
  readonly tenant?: string;
  /** Scopes, separated by spaces. */
  readonly scope: string;
  readonly token_use: string;
  /** Seconds since 1970. */
  readonly exp: number;
}
