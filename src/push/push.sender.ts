import { Inject, Injectable, Optional } from '@nestjs/common';
import { guardedRequest, TargetPolicy } from '#outbound';
import type { PushConfigRecord } from '../store/push-config.record.js';
import { authorizationOf, isSentInTheClear } from './authorization.js';
import { DeliveryError } from './delivery.error.js';
import { NotificationSigner } from './notification.signer.js';
import { A2A_PUSH_SETTINGS, type PushSettings } from './push.settings.js';
import { PushSecrets } from './push.secrets.js';

/** How much of a receiver's answer is read, in bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Sends notifications to webhooks.
 *
 * @see A2A v1.0 §4.3.3 Push Notification Payload
 */
@Injectable()
export class PushSender {
  constructor(
    private readonly policy: TargetPolicy,
    private readonly secrets: PushSecrets,
    @Inject(A2A_PUSH_SETTINGS) private readonly settings: PushSettings,
    @Optional() private readonly signer?: NotificationSigner,
  ) {}

  /**
   * Makes one attempt.
   *
   * @param json a StreamResponse
   * @param signal ends the attempt; its reason is thrown
   * @throws {DeliveryError} when the receiver did not take it; texts hold neither credentials nor the URL's query
   * @throws {TargetRefusedError} when the webhook must not be called
   */
  async send(record: PushConfigRecord, json: string, signal?: AbortSignal): Promise<void> {
    const { policy, settings } = this;
    const config = this.secrets.open(record);
    if (isSentInTheClear(policy.checkUrl(config.url), config, settings)) {
      throw new DeliveryError('Credentials are not sent over http.');
    }
    const authorization = authorizationOf(config);
    const { status } = await guardedRequest(config.url, {
      policy,
      method: 'POST',
      headers: {
        'Content-Type': 'application/a2a+json',
        ...(config.token && Object.fromEntries(settings.tokenHeaders.map((name) => [name, config.token]))),
        ...(authorization !== undefined && { Authorization: authorization }),
        ...(this.signer && (await this.signer.headers(config.taskId, json))),
      },
      body: json,
      timeoutMs: settings.timeout,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      ...(settings.agent && { agent: settings.agent }),
      ...(signal && { signal }),
    });
    if (status < 200 || status > 299) throw new DeliveryError(`The receiver answered ${status}.`);
  }
}
