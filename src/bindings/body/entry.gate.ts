import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { ContentTypeNotSupportedError, InvalidRequestError, PermissionDeniedError, scrub } from '#protocol';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import { essenceOf } from './media-type.js';
import { OriginPolicy } from './origin.policy.js';
import { HttpRefusal } from './rpc-reply.js';

const CONTENT_TYPES: ReadonlySet<string | undefined> = new Set(['application/json', 'application/a2a+json']);

/**
 * Checks what a request's head says, before a byte of its body is read: method, Origin, content type, length.
 *
 * @see A2A v1.0 §9.1 Protocol Requirements
 */
@Injectable()
export class EntryGate {
  private readonly logger = new Logger(EntryGate.name);

  constructor(
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
    private readonly origins: OriginPolicy,
  ) {}

  /**
   * @param host the authority that the request was sent to
   * @throws {HttpRefusal} for the first check that fails
   */
  check({ method, headers }: IncomingMessage, host: string | undefined): void {
    if (method !== 'POST') throw methodNotAllowed();
    if (!this.origins.allows(headers.origin, host)) {
      this.logger.warn(`Refused the origin ${scrub(headers.origin ?? '')}.`);
      throw new HttpRefusal(403, new PermissionDeniedError('This origin may not call the agent.'));
    }
    if (!CONTENT_TYPES.has(essenceOf(headers['content-type']))) {
      throw unsupportedMedia('The content type must be application/json or application/a2a+json.');
    }
    if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      throw unsupportedMedia('The body must not be compressed.');
    }
    if (Number(headers['content-length'] ?? 0) > this.settings.maxBodyBytes) throw bodyTooLarge(this.settings);
  }
}

/** The refusal of anything but POST. */
export function methodNotAllowed(): HttpRefusal {
  return new HttpRefusal(405, new InvalidRequestError('Only POST is allowed here.'), { Allow: 'POST' });
}

/** The refusal of a body past the cap. */
export function bodyTooLarge({ maxBodyBytes }: A2ASettings): HttpRefusal {
  return new HttpRefusal(413, new InvalidRequestError(`The body is larger than ${maxBodyBytes} bytes.`));
}

function unsupportedMedia(message: string): HttpRefusal {
  return new HttpRefusal(415, new ContentTypeNotSupportedError(message));
}
