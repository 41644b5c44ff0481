import { TargetRefusedError } from './target-refused-error.js';

/** What the URL parser drops, or turns into something else, and other parsers do not. */
const AMBIGUOUS = /[\u0000-\u0020\u007f\\]/u;
const SCHEME = /^([a-z][a-z0-9+.-]*):/iu;
const AUTHORITY = /^https?:\/\/([^/?#]+)/iu;

/**
 * Reads a URL that a request may go to, by the rules that no policy loosens: http or https, a host, no userinfo.
 *
 * A URL that the parser would have to repair first (spaces, tabs, backslashes, missing slashes, an escaped host) is
 * refused, since whoever else reads it may repair it to another host.
 *
 * @throws {TargetRefusedError}
 */
export function parseTarget(url: string): URL {
  if (AMBIGUOUS.test(url)) throw new TargetRefusedError('INVALID_URL');
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw new TargetRefusedError('INVALID_URL');
  if (scheme !== 'http' && scheme !== 'https') throw new TargetRefusedError('SCHEME_NOT_ALLOWED');
  const authority = AUTHORITY.exec(url)?.[1];
  if (authority === undefined) throw new TargetRefusedError('INVALID_URL');
  // An empty user name leaves no trace in what is parsed.
  if (authority.includes('@')) throw new TargetRefusedError('USERINFO_NOT_ALLOWED');
  if (authority.includes('%') || !URL.canParse(url)) throw new TargetRefusedError('INVALID_URL');
  const target = new URL(url);
  if (hostOf(target).split('.').includes('')) throw new TargetRefusedError('INVALID_URL');
  return target;
}

/** The host of a parsed URL, as it is looked up: in lower case, without brackets and without a trailing dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/gu, '').replace(/\.$/u, '');
}

/** The port of a target, also when the URL leaves it out. */
export function portOf({ protocol, port }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
