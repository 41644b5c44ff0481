import type { Principal } from './principal.js';
import type { RequestSnapshot } from './request-snapshot.js';
import type { Tier } from './tier.js';

/** Everything that the operations know of one call, whatever binding it came through. */
export interface CallContext {
  readonly principal: Principal;
  /** The tier in which the call creates tasks, and from which it sees them. */
  readonly tier: Tier;
  /** The protocol version that the call is served as, such as `1.0`. */
  readonly version: string;
  /** The extension URIs that the client asked for. */
  readonly requestedExtensions: readonly string[];
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
  /** The HTTP request as the host's guards see it. */
  readonly httpRequest: unknown;
  /** The HTTP response. It may have been finished for long when a skill looks at it. */
  readonly httpResponse: unknown;
  /** What of the HTTP request outlives it. */
  readonly request: RequestSnapshot;
}
