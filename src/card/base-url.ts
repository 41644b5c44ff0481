/** What comes before the paths of the application in its URLs, without a slash at its end. */
export interface BaseUrl {
  readonly url: string;
  /** Whether the configuration says so. Else the request does, and then it is true for its sender alone. */
  readonly isPinned: boolean;
}

/** A request names a host that is none. */
export class InvalidHostError extends Error {
  override readonly name = 'InvalidHostError';

  constructor() {
    super('The host of the request is not valid.');
  }
}

/** A request of Express or Fastify, as far as it tells where it was sent to. */
interface AddressedRequest {
  readonly raw?: { readonly url?: string };
  readonly originalUrl?: string;
  readonly url?: string;
  readonly headers?: { readonly host?: string };
  /** The `Host`, or the forwarded one where the application trusts its proxy. */
  readonly host?: string | undefined;
  readonly protocol?: string | undefined;
}

const NAME_OR_ADDRESS = /^(?:[A-Za-z0-9._-]+|\[[A-Fa-f0-9:.]+\])(?::[0-9]{1,5})?$/u;
const MAX_AUTHORITY = 262;

/**
 * The base URL by which a request came. Forwarded headers count only where the application trusts its proxy (`trust
 * proxy` of Express, `trustProxy` of Fastify); else they are anyone's word.
 *
 * @throws {InvalidHostError} when the host is no name or address with an optional port
 * @see RFC 9112 §3.2 Request Target
 */
export function baseUrlOfRequest(request: unknown): BaseUrl {
  const { raw, originalUrl, url, headers, host, protocol } = request as AddressedRequest;
  // A target in absolute form replaces the Host header.
  const named = authorityOf(originalUrl ?? raw?.url ?? url ?? '') ?? (host || headers?.host) ?? '';
  const authority = named === '' ? 'localhost' : named.toLowerCase();
  const scheme = protocol?.toLowerCase() === 'https' ? 'https' : 'http';
  const base = `${scheme}://${authority}`;
  if (authority.length > MAX_AUTHORITY || !NAME_OR_ADDRESS.test(authority) || !URL.canParse(base)) {
    throw new InvalidHostError();
  }
  return { url: base, isPinned: false };
}

/** Whether a text can come before a path: an absolute URL of HTTP with nothing behind its own path, and no user name. */
export function isBaseUrl(text: unknown): text is string {
  return (
    // A user name would be published with it.
    typeof text === 'string' && /^https?:\/\/[\x21-\x7e]+$/iu.test(text) && !/[?#@]/u.test(text) && URL.canParse(text)
  );
}

/** A base URL as the configuration writes it. */
export function pinnedBaseUrl(text: string): BaseUrl {
  return { url: text.replace(/\/+$/u, ''), isPinned: true };
}

function authorityOf(target: string): string | undefined {
  return /^https?:\/\/([^/?#]*)/iu.exec(target)?.[1];
}
