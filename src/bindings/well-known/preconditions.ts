import type { IncomingHttpHeaders } from 'node:http';
import type { Rendering } from '../../card/rendering.js';

/** The quoted part of an entity tag, which is all that the weak comparison looks at. */
const OPAQUE_TAG = /"[^"]*"/gu;
/** All three forms of an HTTP date begin with the name of a day; the oldest names no zone. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*?( GMT)?$/u;

/**
 * Whether a client has a document already, by the preconditions of its request.
 *
 * @see RFC 9110 §13.1.2 If-None-Match, §13.1.3 If-Modified-Since
 */
export function isUnchanged(headers: IncomingHttpHeaders, { etag, modifiedAt }: Rendering): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) {
    // Compared weakly: proxies that compress make strong tags weak ones.
    return tags.trim() === '*' || (tags.match(OPAQUE_TAG)?.includes(etag.replace(/^W\//u, '')) ?? false);
  }
  const since = timeOf(headers['if-modified-since']);
  // To the letter: replicas, and URLs that come back, give other cards other times, and not always later ones.
  return modifiedAt !== undefined && since === Math.floor(modifiedAt / 1_000) * 1_000;
}

/** @returns epoch milliseconds, or `undefined` for what is no date of HTTP */
function timeOf(date: string | undefined): number | undefined {
  const match = HTTP_DATE.exec(date ?? '');
  if (!match) return undefined;
  const time = Date.parse(match[1] === undefined ? `${match[0]} GMT` : match[0]);
  return Number.isNaN(time) ? undefined : time;
}
