import {
  Catch,
  HttpException,
  Injectable,
  Logger,
  NotFoundException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import {
  findA2AError,
  InternalError,
  InvalidRequestError,
  PermissionDeniedError,
  scrub,
  UnauthenticatedError,
} from '#protocol';
import { describeError } from '../../context/describe-error.js';
import { TooManyStreamsError } from '../../operations/seat.registry.js';
import { captureOf } from '../body/capture.js';
import { sendReply, type HttpReply } from '../body/http-reply.js';
import { errorReply, HttpRefusal } from '../body/rpc-reply.js';
import { Challenger } from './challenger.js';
import { idOf } from './rpc-request.js';

/**
 * Answers whatever was thrown on the way of a call, by us or by the host's guards, with a JSON-RPC error.
 *
 * Of an error that was not meant for the caller nothing is told but that there was one.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
@Catch()
@Injectable()
export class RpcExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(RpcExceptionFilter.name);

  constructor(private readonly challenger: Challenger) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<unknown>();
    const reply = this.replyTo(exception, request);
    if (reply.status !== 401 && reply.status !== 403) sendReply(http.getResponse(), reply);
    else void this.refuse(reply, exception, request, http.getResponse());
  }

  private async refuse(reply: HttpReply, exception: unknown, request: unknown, response: unknown): Promise<void> {
    const challenge = await this.challenger.challenge(reply.status, exception, request);
    const headers = { ...reply.headers, ...(challenge !== undefined && { 'WWW-Authenticate': challenge }) };
    try {
      sendReply(response, { ...reply, headers });
    } catch (error) {
      // Nobody waits for this method: what it throws would end the process.
      this.logger.error(`A refusal could not be answered with its challenge: ${describeError(error)}`);
      sendReply(response, reply);
    }
  }

  private replyTo(exception: unknown, request: unknown): HttpReply {
    if (!captureOf(request) && exception instanceof HttpException) return plainReply(exception);
    const reply = this.errorReplyTo(exception, idOf(request));
    if (reply.status === 401 || reply.status === 403) {
      this.logger.warn(`Refused a call with ${reply.status}: ${scrub(describeError(exception))}`);
    }
    return reply;
  }

  private errorReplyTo(exception: unknown, id: string): HttpReply {
    if (exception instanceof HttpRefusal) return errorReply('null', exception.error, exception);
    if (exception instanceof TooManyStreamsError) return errorReply(id, exception, { status: 429 });
    const error = findA2AError(exception);
    if (error) return errorReply(id, error);
    switch (exception instanceof HttpException ? exception.getStatus() : 0) {
      case 401:
        return errorReply(id, new UnauthenticatedError());
      case 403:
        return errorReply(id, new PermissionDeniedError());
      case 429:
        return errorReply(id, new InvalidRequestError('Too many requests.'), { status: 429 });
      default:
        this.logger.error(`A call failed: ${describeError(exception)}`, (exception as Partial<Error> | null)?.stack);
        return errorReply(id, new InternalError());
    }
  }
}

/** What Nest answers where no route is. */
function plainReply(exception: HttpException): HttpReply {
  const status = exception instanceof NotFoundException ? 404 : exception.getStatus();
  return {
    status,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(exception.getResponse()),
  };
}
