const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/u;

/**
 * Those of some scopes that OAuth 2 can write, each once.
 *
 * @see RFC 6749 §3.3 Access Token Scope
 */
export function scopeTokens(scopes: readonly string[]): string[] {
  return [...new Set(scopes)].filter((scope) => SCOPE_TOKEN.test(scope));
}
