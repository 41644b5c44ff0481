import type { Agent } from 'node:http';
import { guardedRequest, PublicTargetPolicy, type TargetPolicy } from '#outbound';
import { decodeUtf8, readStrictJson } from '#protocol';

/**
 * Reads a JWK set. It is only called for `https` URLs at hosts that the caller of the verification trusts.
 *
 * One of your own has to keep to that: no redirects, a bound on size, and no addresses of your own network.
 *
 * @param signal Aborts when the time for all key sets of a verification is over.
 * @returns The parsed JSON.
 */
export type JwksFetch = (url: URL, signal: AbortSignal) => Promise<unknown>;

/** The most that is read of a key set, in bytes. */
export const MAX_JWKS_BYTES = 65_536;

/** Where a {@link jwksFetch} may go, and over what. */
export interface JwksFetchOptions {
  /** @default public hosts alone */
  readonly policy?: TargetPolicy;
  /** An `https.Agent` as a template for connections: certificate authorities, client certificates. */
  readonly agent?: Agent;
}

/**
 * Makes a reader of JWK sets: over `https`, to public addresses, no redirects, no credentials, at most 64 KiB.
 *
 * @example
 * jwksFetch({ policy: new PublicTargetPolicy({ allowHosts: ['agents.internal'] }) })
 */
export function jwksFetch({ policy = new PublicTargetPolicy(), agent }: JwksFetchOptions = {}): JwksFetch {
  return async (url, signal) => {
    if (url.protocol !== 'https:') throw new TypeError('A key set is only read over https');
    const { status, body, isTruncated } = await guardedRequest(url, {
      policy,
      signal,
      headers: { Accept: 'application/jwk-set+json, application/json' },
      maxResponseBytes: MAX_JWKS_BYTES,
      ...(agent && { agent }),
    });
    if (status !== 200) throw new TypeError(`The key set was answered with ${status}`);
    if (isTruncated) throw new TypeError(`The key set has more than ${MAX_JWKS_BYTES} bytes`);
    return readStrictJson(decodeUtf8(body)).value;
  };
}
