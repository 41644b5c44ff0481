/**
 * Why a notification is refused. Codes stay as they are; messages may change.
 *
 * - `token`: the token is missing, or another.
 * - `unsigned`: it has no signature, and needs one.
 * - `signature`: the signature is malformed, or not that of a trusted key, or the key set cannot be read.
 * - `expired`: it was signed too long ago, or in the future.
 * - `body`: the signature is over another body.
 * - `malformed`: the body is no StreamResponse, or names no task.
 * - `task`: the task is none of ours, or not the one that was signed.
 * - `replayed`: it has been here before.
 */
export type NotificationRefusalCode =
  'token' | 'unsigned' | 'signature' | 'expired' | 'body' | 'malformed' | 'task' | 'replayed';

/** Says that a notification must not be acted upon. Its text holds nothing of the notification. */
export class NotificationRefusedError extends Error {
  override readonly name = 'NotificationRefusedError';

  constructor(
    readonly code: NotificationRefusalCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
