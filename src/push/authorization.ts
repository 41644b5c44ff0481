import type { TaskPushNotificationConfig } from '#protocol';
import type { PushSettings } from './push.settings.js';

/** The schemes whose credentials can be sent as they are. */
const SCHEMES: ReadonlySet<string> = new Set(['bearer', 'basic']);

/**
 * The `Authorization` header that a config asks for; `undefined` when it has no credentials, or a scheme whose credentials
 * have to be computed.
 *
 * @see A2A v1.0 §4.3.3 Push Notification Payload
 */
export function authorizationOf({ authentication }: TaskPushNotificationConfig): string | undefined {
  if (!authentication?.credentials || !SCHEMES.has(authentication.scheme.toLowerCase())) return undefined;
  return `${authentication.scheme} ${authentication.credentials}`;
}

/** Whether the credentials of a config would go over a connection that anybody may read. */
export function isSentInTheClear(
  target: URL,
  { authentication }: TaskPushNotificationConfig,
  { allowPrivate }: PushSettings,
): boolean {
  return target.protocol === 'http:' && Boolean(authentication?.credentials) && !allowPrivate;
}
