/** The header of a notification that carries the token of its config. */
export const NOTIFICATION_TOKEN_HEADER = 'A2A-Notification-Token';

/**
 * The header of a notification that carries its signature: a JWT in the compact form, with the claims
 *
 * - `iat`: when the attempt was made, in seconds;
 * - `jti`: another for each attempt;
 * - `task_id`: the task that the notification is about;
 * - `body_sha256`: the SHA-256 of the bytes of the body, as base64url.
 *
 * It is no part of A2A, which leaves open how receivers know who sent a notification.
 *
 * @see A2A v1.0 §13.2 Push Notification Security; RFC 7519 JSON Web Token
 */
export const NOTIFICATION_SIGNATURE_HEADER = 'A2A-Notification-Signature';

/** The `typ` of the JWT of a notification, so that no other token of the same key can be taken for one (RFC 8725 §3.11). */
export const NOTIFICATION_JWT_TYPE = 'a2a-notification+jwt';
