import type { IncomingHttpHeaders } from 'node:http';
import type { Addressed, Audience } from '../../card/card.service.js';
import type { HttpReply } from '../body/http-reply.js';
import { isUnchanged } from './preconditions.js';

const METHODS = 'GET, HEAD';

/** What the host's own middleware has said already about an answer. */
export interface HostHeaders {
  readonly vary: string | undefined;
  /** Whether it has decided which pages of other origins may read the answer. */
  readonly decidesOrigins: boolean;
}

/**
 * Answers a GET or HEAD for a document, or says that the client has it already.
 *
 * @param maxAge for how long caches may keep it, in seconds
 * @see A2A v1.0 §8.6.1 Server Requirements
 */
export function documentReply(
  { rendering, audience }: Addressed,
  { contentType, maxAge }: { readonly contentType: string; readonly maxAge: number },
  request: IncomingHttpHeaders,
  host: HostHeaders,
): HttpReply {
  const { body, etag, modifiedAt } = rendering;
  const headers = {
    'Cache-Control': cacheControl(audience, maxAge),
    ETag: etag,
    ...(modifiedAt !== undefined && { 'Last-Modified': new Date(modifiedAt).toUTCString() }),
    ...(audience === 'host' && { Vary: joined(host.vary, 'Host, X-Forwarded-Host, X-Forwarded-Proto') }),
    ...(audience !== 'request' && originHeaders(host)),
  };
  if (isUnchanged(request, rendering)) return { status: 304, headers, body: '' };
  return { status: 200, headers: { ...headers, 'Content-Type': contentType }, body };
}

/** Tells browsers, before they ask for a document with headers of their own, that they may. */
export function preflightReply(host: HostHeaders): HttpReply {
  const headers = {
    ...originHeaders(host),
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': '86400',
    Allow: METHODS,
  };
  return { status: 204, headers, body: '' };
}

/** Refuses to do anything with a document but read it. */
export function readOnlyReply(): HttpReply {
  return problemReply(405, 'Only GET and HEAD are allowed here.', { Allow: METHODS });
}

/** Says in Nest's way what is wrong. */
export function problemReply(
  statusCode: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return {
    status: statusCode,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify({ statusCode, message }),
  };
}

function cacheControl(audience: Audience, maxAge: number): string {
  switch (audience) {
    case 'public':
      return `public, max-age=${maxAge}`;
    case 'host':
      // Whoever names the host names it for himself alone.
      return `private, max-age=${maxAge}`;
    case 'request':
      return 'private, no-cache';
  }
}

/** What is open to everybody may be read by every page, without credentials; a decision of the host's stands. */
function originHeaders({ decidesOrigins }: HostHeaders): Readonly<Record<string, string>> {
  return decidesOrigins ? {} : { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' };
}

function joined(present: string | undefined, more: string): string {
  return present === undefined || present === '' ? more : `${present}, ${more}`;
}
