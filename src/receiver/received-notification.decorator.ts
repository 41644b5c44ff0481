import { createParamDecorator } from '@nestjs/common';
import type { VerifiedNotification } from '#client';
import { A2AConfigurationError } from '../context/configuration.error.js';

/** Where the guard keeps the notification of a request. */
const NOTIFICATION = Symbol('nestjs-a2a.notification');

interface Marked {
  [NOTIFICATION]?: VerifiedNotification;
}

/** Notes what a request turned out to be. */
export function markReceived(request: unknown, notification: VerifiedNotification): void {
  (request as Marked)[NOTIFICATION] = notification;
}

/**
 * Gives a handler the notification that the `NotificationGuard` has verified: `{ taskId, event, jti }`.
 *
 * @throws {A2AConfigurationError} when no guard has
 *
 * @example
 * @Post('hook')
 * @UseGuards(NotificationGuard)
 * receive(@ReceivedNotification() { taskId, event }: VerifiedNotification) {}
 */
export const ReceivedNotification = createParamDecorator((_data: unknown, context): VerifiedNotification => {
  const notification = context.switchToHttp().getRequest<Marked>()[NOTIFICATION];
  if (notification !== undefined) return notification;
  const handler = `${context.getClass().name}.${context.getHandler().name}`;
  throw new A2AConfigurationError(
    `${handler} takes a notification that nobody has verified. Put @UseGuards(NotificationGuard) on it.`,
  );
});
