import { isIP } from 'node:net';
import { withDeadline } from './deadline.js';
import { lookupInDns } from './name-lookup.js';
import { hostOf } from './parse-target.js';

/** How long a name may take to resolve at registration, in milliseconds. */
const RESOLVE_TIMEOUT_MS = 3_000;

/**
 * Decides where requests may go that strangers name. A host may put its own in the place of `PublicTargetPolicy`.
 *
 * A target is judged when it is registered (`checkUrl`, then `resolve`), and again with each request: its URL, every
 * address that its name stands for at that moment, and the address that was connected to.
 */
export abstract class TargetPolicy {
  /**
   * Reads and judges a URL, without asking anybody.
   *
   * @throws {TargetRefusedError}
   */
  abstract checkUrl(url: string): URL;

  /**
   * Judges an address to which a request would go.
   *
   * @param address An IPv4 or IPv6 address, perhaps with a zone.
   * @param host The host of the URL: in lower case, without brackets and without a trailing dot.
   * @throws {TargetRefusedError}
   */
  abstract checkAddress(address: string, host: string): void;

  /** Finds all addresses of a host name, for `resolve` and for each request. */
  async lookup(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    return lookupInDns(hostname, signal);
  }

  /**
   * Judges the addresses of a checked URL's host at registration.
   *
   * A name that does not resolve within three seconds is let through: the check with each request decides.
   *
   * @throws {TargetRefusedError} when any address is refused
   * @throws the reason of `signal`, once that has aborted
   */
  async resolve(url: URL, signal?: AbortSignal): Promise<void> {
    const host = hostOf(url);
    for (const address of await this.addressesAtRegistration(host, signal)) this.checkAddress(address, host);
  }

  private async addressesAtRegistration(host: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    try {
      const onTimeout = (): Error => new Error('The name was not resolved in time.');
      return await withDeadline(RESOLVE_TIMEOUT_MS, onTimeout, signal, async (aborted) => this.lookup(host, aborted));
    } catch {
      signal?.throwIfAborted();
      return [];
    }
  }
}
