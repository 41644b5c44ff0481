import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#protocol';
import type { Addressed } from '../../card/card.service.js';
import { render, type Rendering } from '../../card/rendering.js';
import { Clock } from '../../context/clock.js';
import { JWKS_PATH } from '../../signing/jwks-path.js';
import { SigningKeys } from '../../signing/signing.keys.js';
import type { WellKnownDocument } from './well-known-document.js';

/**
 * The public keys that the agent signs with.
 *
 * @see RFC 7517 §5 JWK Set Format
 */
@Injectable()
export class JwksDocument implements WellKnownDocument {
  readonly contentType = 'application/jwk-set+json';
  private rendering: Rendering | undefined;

  constructor(
    private readonly keys: SigningKeys,
    private readonly clock: Clock,
  ) {}

  paths(): readonly string[] {
    return this.keys.isEmpty ? [] : [JWKS_PATH];
  }

  answer(): Promise<Addressed> {
    this.rendering ??= render(this.keys.jwks() as unknown as JsonObject, { modifiedAt: this.clock.now() });
    return Promise.resolve({ rendering: this.rendering, audience: 'public' });
  }
}
