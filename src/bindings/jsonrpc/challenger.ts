import { Inject, Injectable, Logger } from '@nestjs/common';
import { ProtectedResource } from '../../card/protected-resource.js';
import { scopeTokens } from '../../card/scope-token.js';
import { describeError } from '../../context/describe-error.js';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import { MissingScopeError } from '../../operations/skill-scope.policy.js';
import { bearerOnly, withBearer } from './challenge.js';

/**
 * Says to callers that are refused what would let them in.
 *
 * @see A2A v1.0 §7.4 Server Authentication Responsibilities
 * @see RFC 6750 §3 The WWW-Authenticate Response Header Field, RFC 9728 §5.1 WWW-Authenticate Response
 */
@Injectable()
export class Challenger {
  private readonly logger = new Logger(Challenger.name);

  constructor(
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
    private readonly resource: ProtectedResource,
  ) {}

  /**
   * @param status of the refusal
   * @param error what was thrown
   * @param request the request of the host's HTTP adapter
   * @returns the value of `WWW-Authenticate`, if any
   */
  async challenge(status: number, error: unknown, request: unknown): Promise<string | undefined> {
    const { challenge } = this.settings;
    const missing = error instanceof MissingScopeError ? scopeTokens(error.required) : undefined;
    if (status !== 401 && !missing) return undefined;
    const resource = await this.metadata(request);
    if (!missing) return resource ? withBearer(challenge, resource) : challenge;
    const scope = missing.length > 0 ? { scope: missing.join(' ') } : {};
    return bearerOnly(challenge, { error: 'insufficient_scope', ...scope, ...resource });
  }

  private async metadata(request: unknown): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      const url = await this.resource.metadataUrl(request);
      return url === undefined ? undefined : { resource_metadata: url };
    } catch (error) {
      // The refusal is worth more than where to read on.
      this.logger.warn(`A challenge names no metadata: ${describeError(error)}`);
      return undefined;
    }
  }
}
