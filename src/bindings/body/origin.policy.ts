import { Inject, Injectable } from '@nestjs/common';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';

/**
 * Decides which browser origins may call the endpoint: the endpoint's own, and those on the list.
 *
 * It only refuses. Headers that let a browser read an answer are the host's.
 */
@Injectable()
export class OriginPolicy {
  private allowed: ReadonlySet<string>;

  constructor(@Inject(A2A_SETTINGS) settings: A2ASettings) {
    this.allowed = normalized(settings.allowedOrigins);
  }

  /** Replaces the whole list at once. */
  setAllowedOrigins(origins: readonly string[]): void {
    this.allowed = normalized(origins);
  }

  /**
   * @param origin the `Origin` header; clients that are no browsers send none
   * @param host the authority that the request was sent to
   */
  allows(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined) return true;
    const named = origin.toLowerCase();
    return this.allowed.has(named) || (host !== undefined && authorityOf(named) === host.toLowerCase());
  }
}

function normalized(origins: readonly string[]): ReadonlySet<string> {
  return new Set(origins.map((origin) => origin.toLowerCase()));
}

/** The authority of an origin, its port as written; `undefined` for `null`, `file://` and what is no origin. */
function authorityOf(origin: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#@\s]+)$/u.exec(origin)?.[1];
}
