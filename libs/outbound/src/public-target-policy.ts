import { isIP } from 'node:net';
import { isPublicAddress } from './address-policy.js';
import { BLOCKED_PORTS } from './blocked-ports.js';
import { lookupBySystem, lookupInDns, type NameLookup } from './name-lookup.js';
import { hostOf, parseTarget, portOf } from './parse-target.js';
import { isPrivateName } from './private-names.js';
import { TargetPolicy } from './target-policy.js';
import { TargetRefusedError } from './target-refused-error.js';

/** How a {@link PublicTargetPolicy} differs from the plain one. */
export interface PublicTargetPolicyOptions {
  /**
   * Lets requests go to private names and addresses. For development and tests only. Other schemes, userinfo and the
   * ports of other protocols stay refused.
   *
   * @default false
   */
  readonly allowPrivate?: boolean;
  /** @default false: http is allowed */
  readonly requireHttps?: boolean;
  /** The only ports that are allowed. @default all but the well-known ports of other protocols */
  readonly allowedPorts?: readonly number[];
  /**
   * Hosts that may be private: names or addresses, exactly as a URL has them.
   *
   * @default none
   * @example ['hooks.internal', '10.0.0.7']
   */
  readonly allowHosts?: readonly string[];
  /**
   * Finds the addresses of a name.
   *
   * @default the name servers; the system's resolver for hosts that may be private
   */
  readonly lookup?: NameLookup;
}

/** Lets requests go to public hosts only. */
export class PublicTargetPolicy extends TargetPolicy {
  private readonly privateHosts: ReadonlySet<string>;
  private readonly allowedPorts: ReadonlySet<number> | undefined;

  constructor(private readonly options: PublicTargetPolicyOptions = {}) {
    super();
    this.privateHosts = new Set(options.allowHosts?.map((host) => host.toLowerCase().replace(/^\[|\]$|\.$/gu, '')));
    this.allowedPorts = options.allowedPorts && new Set(options.allowedPorts);
  }

  override checkUrl(url: string): URL {
    const target = parseTarget(url);
    if (this.options.requireHttps === true && target.protocol !== 'https:') {
      throw new TargetRefusedError('HTTPS_REQUIRED');
    }
    if (!this.isPortAllowed(portOf(target))) throw new TargetRefusedError('PORT_NOT_ALLOWED');
    const host = hostOf(target);
    if (isIP(host) !== 0) this.checkAddress(host, host);
    else if (!this.mayBePrivate(host) && isPrivateName(host)) throw new TargetRefusedError('HOST_NOT_PUBLIC');
    return target;
  }

  override checkAddress(address: string, host: string): void {
    if (!this.mayBePrivate(host) && !isPublicAddress(address)) throw new TargetRefusedError('ADDRESS_NOT_PUBLIC');
  }

  override async lookup(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const { lookup = this.mayBePrivate(hostname) ? lookupBySystem : lookupInDns } = this.options;
    return lookup(hostname, signal);
  }

  private mayBePrivate(host: string): boolean {
    return this.options.allowPrivate === true || this.privateHosts.has(host);
  }

  private isPortAllowed(port: number): boolean {
    return this.allowedPorts?.has(port) ?? !BLOCKED_PORTS.has(port);
  }
}
