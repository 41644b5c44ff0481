import { Inject, Injectable } from '@nestjs/common';
import type { JsonObject } from '#protocol';
import { Clock } from '../context/clock.js';
import { SkillRegistry } from '../skills/skill.registry.js';
import { BaseUrlResolver } from './base-url.resolver.js';
import { A2A_CARD_OPTIONS, httpInterface, type CardOptions } from './card.options.js';
import type { Addressed } from './card.service.js';
import { A2A_MOUNTED_BINDINGS, type MountedBinding } from './mounted-binding.js';
import { A2A_PROTECTED_RESOURCE, type ProtectedResourceOptions } from './protected-resource.options.js';
import { render, RenderingCache } from './rendering.js';
import { scopeTokens } from './scope-token.js';

/**
 * Where clients look for the metadata of a protected resource.
 *
 * @see RFC 9728 §3 Obtaining Protected Resource Metadata
 */
export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/** Tells clients which authorization servers the agent trusts. */
@Injectable()
export class ProtectedResource {
  private readonly cache = new RenderingCache();

  constructor(
    @Inject(A2A_PROTECTED_RESOURCE) private readonly options: ProtectedResourceOptions | undefined,
    @Inject(A2A_CARD_OPTIONS) private readonly card: CardOptions,
    @Inject(A2A_MOUNTED_BINDINGS) private readonly bindings: readonly MountedBinding[],
    private readonly baseUrls: BaseUrlResolver,
    private readonly registry: SkillRegistry,
    private readonly clock: Clock,
  ) {}

  /**
   * The paths of the metadata: the one for the whole host, and those with the path of the endpoint or the resource in
   * them. None when the agent tells nothing. Not to be asked before the application is initialised.
   *
   * @see RFC 9728 §3.1 Protected Resource Metadata Request
   */
  paths(): string[] {
    if (!this.options) return [];
    const { url } = this.card;
    const known = [
      this.options.resource,
      httpInterface(this.card)?.url,
      typeof url === 'string' ? this.endpointAt(url.replace(/\/+$/u, '')) : undefined,
    ].flatMap((each) => (each === undefined ? [] : [new URL(each).pathname.replace(/\/+$/u, '')]));
    const paths = ['', this.endpointAt(''), ...known].filter((path) => /^(?:\/[\w.~-]+)*$/u.test(path));
    return [...new Set(paths)].map((path) => PROTECTED_RESOURCE_PATH + path);
  }

  /**
   * The metadata. Only to be asked for when there are {@link paths}.
   *
   * @param request the request of the host's HTTP adapter
   * @throws {InvalidHostError} when the request has to say where the agent is, and does not
   */
  async metadataFor(request: unknown): Promise<Addressed> {
    const resource = this.options?.resource ?? httpInterface(this.card)?.url;
    const { url, isPinned } =
      resource === undefined ? await this.baseUrls.resolve(request) : { url: '', isPinned: true };
    const rendering = await this.cache.get(url, () =>
      Promise.resolve(render(this.metadata(resource ?? this.endpointAt(url)), { modifiedAt: this.clock.now() })),
    );
    return { rendering, audience: isPinned ? 'public' : 'host' };
  }

  /**
   * Where the metadata is, for a challenge.
   *
   * @returns `undefined` when the agent tells nothing
   * @throws {InvalidHostError} as {@link metadataFor}
   */
  async metadataUrl(request: unknown): Promise<string | undefined> {
    if (!this.options) return undefined;
    // Below the base, and not at the root of its host: a proxy that serves us below a path leads this there, too.
    const { url } = await this.baseUrls.resolve(request);
    return url + PROTECTED_RESOURCE_PATH + this.endpointAt('');
  }

  private endpointAt(base: string): string {
    return this.bindings[0]?.urlAt(base) ?? base;
  }

  private metadata(resource: string): JsonObject {
    const { authorizationServers = [], scopesSupported, bearerMethodsSupported = ['header'] } = this.options ?? {};
    const scopes = scopeTokens(scopesSupported ?? this.registry.descriptions().flatMap((skill) => skill.scopes));
    const documentation = this.options?.documentationUrl ?? this.card.documentationUrl;
    return {
      resource,
      authorization_servers: [...authorizationServers],
      // An empty list is left out (RFC 9728 §3.2).
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: [...bearerMethodsSupported],
      resource_name: this.options?.resourceName ?? this.card.name,
      ...(documentation !== undefined && { resource_documentation: documentation }),
    };
  }
}
