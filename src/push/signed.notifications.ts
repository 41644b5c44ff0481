import { createHash, randomUUID } from 'node:crypto';
import { NOTIFICATION_JWT_TYPE, NOTIFICATION_SIGNATURE_HEADER } from '#protocol';
import type { Clock } from '../context/clock.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import type { SigningKeys } from '../signing/signing.keys.js';
import { NotificationSigner } from './notification.signer.js';
import type { PushSettings } from './push.settings.js';

/**
 * Signs notifications with the first of the agent's keys.
 *
 * - The signature covers the task, the time and the bytes of the body, so that none of them can be another.
 * - Each attempt has a `jti` of its own: a retry is no replay.
 *
 * @see A2A v1.0 §13.2 Push Notification Security
 */
export class SignedNotifications extends NotificationSigner {
  constructor(
    private readonly keys: SigningKeys,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** @throws {A2AConfigurationError} when there is no key */
  async headers(taskId: string, body: string): Promise<Readonly<Record<string, string>>> {
    const claims = {
      iat: Math.floor(this.clock.now() / 1_000),
      jti: randomUUID(),
      task_id: taskId,
      body_sha256: createHash('sha256').update(body).digest('base64url'),
    };
    const jwt = await this.keys.signJwt(claims, { typ: NOTIFICATION_JWT_TYPE });
    return { [NOTIFICATION_SIGNATURE_HEADER]: jwt };
  }
}

/**
 * What signs notifications as the options have it.
 *
 * @returns undefined when they are sent without a signature
 * @throws {A2AConfigurationError} when they are to be signed and there is no key
 */
export function notificationSigner(
  { isSigned }: Pick<PushSettings, 'isSigned'>,
  keys: SigningKeys,
  clock: Clock,
): NotificationSigner | undefined {
  if (!isSigned) return undefined;
  if (keys.isEmpty) {
    throw new A2AConfigurationError(
      'push.signed is on, and there is no key to sign notifications with. Set signing.keys, or take push.signed away.',
    );
  }
  return new SignedNotifications(keys, clock);
}
