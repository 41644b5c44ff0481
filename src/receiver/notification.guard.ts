import type { IncomingHttpHeaders } from 'node:http';
import {
  BadRequestException,
  ConflictException,
  Inject,
  Injectable,
  Logger,
  NotFoundException,
  Optional,
  ServiceUnavailableException,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
  type HttpException,
} from '@nestjs/common';
import {
  NotificationRefusedError,
  NotificationVerifier,
  ReplayStoreFullError,
  type NotificationRefusalCode,
} from '#client';
import { exactBody } from './exact-body.js';
import { markReceived } from './received-notification.decorator.js';
import { A2A_RECEIVER_OPTIONS, DEFAULT_MAX_NOTIFICATION_BYTES, type ReceiverOptions } from './receiver.options.js';

/** What each refusal is answered with. The texts are those of the statuses, and tell no sender what was wrong. */
const ANSWERS: Readonly<Record<NotificationRefusalCode, new () => HttpException>> = {
  token: UnauthorizedException,
  unsigned: UnauthorizedException,
  signature: UnauthorizedException,
  expired: UnauthorizedException,
  body: UnauthorizedException,
  malformed: BadRequestException,
  task: NotFoundException,
  replayed: ConflictException,
};

/**
 * Lets the notifications through that the `NotificationVerifier` of the module accepts; `@ReceivedNotification()` gives them
 * to the handler.
 *
 * - It needs the body byte for byte. On Express it reads the body itself when no parser has, as none does by default.
 * - A sender who is not known from the headers is refused before the body is read.
 *
 * It answers 401 to who is not known, 400 to what is no notification, 404 for tasks that are not ours, 409 to a replay, 413
 * to what is too large, and 503 while the memory of notifications is full.
 *
 * @see A2A v1.0 §4.3.3 Push Notification Payload, §13.2 Push Notification Security
 */
@Injectable()
export class NotificationGuard implements CanActivate {
  private readonly logger = new Logger(NotificationGuard.name);
  private readonly maxBytes: number;

  constructor(
    private readonly verifier: NotificationVerifier,
    @Optional() @Inject(A2A_RECEIVER_OPTIONS) options: ReceiverOptions | undefined,
  ) {
    this.maxBytes = options?.maxBodyBytes ?? DEFAULT_MAX_NOTIFICATION_BYTES;
  }

  /**
   * @throws {HttpException} when it must not be acted upon
   * @throws {A2AConfigurationError} when the bytes of the body are not to be had
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<{ readonly headers: IncomingHttpHeaders }>();
    try {
      const body = (): Promise<Uint8Array> => exactBody(request, this.maxBytes);
      markReceived(request, await this.verifier.verify({ headers: request.headers, body }));
      return true;
    } catch (error) {
      throw this.answerTo(error);
    }
  }

  private answerTo(error: unknown): unknown {
    const isFull = error instanceof ReplayStoreFullError;
    if (!isFull && !(error instanceof NotificationRefusedError)) return error;
    this.logger.warn(`Refused a notification: ${error.message}`);
    return isFull ? new ServiceUnavailableException() : new ANSWERS[error.code]();
  }
}
