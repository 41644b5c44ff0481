import { Inject, Injectable } from '@nestjs/common';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import { JWKS_PATH } from '../../signing/jwks-path.js';
import { AGENT_CARD_PATH, LEGACY_AGENT_CARD_PATH } from '../well-known/agent-card.document.js';
import { EndpointPath } from '../body/endpoint-path.js';

/** The documents by which clients find the agent and learn how to identify themselves. */
const DOCUMENTS: readonly string[] = [AGENT_CARD_PATH, LEGACY_AGENT_CARD_PATH, JWKS_PATH];

/** The metadata of a protected resource, at its own path or with the resource's path behind it (RFC 9728 §3.1). */
const RESOURCE_METADATA = /^\/\.well-known\/oauth-protected-resource(?:\/[\w~-][\w.~-]*)*$/u;

/**
 * The paths that the listener serves in the role `agent`.
 *
 * A path is compared to the letter, as it was sent. Nothing is decoded, folded or resolved, so there is no second reading
 * of a path by which a router could come to something else.
 */
@Injectable()
export class AgentPaths {
  private readonly listed: ReadonlySet<string>;

  constructor(
    @Inject(A2A_SETTINGS) { healthPaths }: A2ASettings,
    private readonly endpoint: EndpointPath,
  ) {
    this.listed = new Set([...DOCUMENTS, ...healthPaths]);
  }

  /** @param target the target of a request line; a target that names a host is on no list */
  includes(target = ''): boolean {
    const [path = ''] = target.split('?', 1);
    return this.listed.has(path) || this.endpoint.matches(target) || RESOURCE_METADATA.test(path);
  }
}
