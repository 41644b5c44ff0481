import { Injectable } from '@nestjs/common';
import type { Addressed } from '../../card/card.service.js';
import { ProtectedResource } from '../../card/protected-resource.js';
import type { WellKnownDocument } from './well-known-document.js';

/**
 * The metadata of the agent as an OAuth 2 protected resource.
 *
 * @see RFC 9728 §3.2 Protected Resource Metadata Response
 */
@Injectable()
export class ProtectedResourceDocument implements WellKnownDocument {
  readonly contentType = 'application/json';

  constructor(private readonly resource: ProtectedResource) {}

  paths(): readonly string[] {
    return this.resource.paths();
  }

  answer(request: unknown): Promise<Addressed> {
    return this.resource.metadataFor(request);
  }
}
