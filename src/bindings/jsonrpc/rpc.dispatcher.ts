import { Injectable, Logger } from '@nestjs/common';
import {
  decodeRequest,
  encode,
  InternalError,
  isA2AError,
  isA2AMethod,
  MethodNotFoundError,
  OPERATIONS,
  type A2AMethod,
} from '#protocol';
import type { CallContext } from '../../context/call-context.js';
import { RequestHandler, type StreamingMethod } from '../../operations/request.handler.js';
import type { StreamSource } from '../sse/stream-relay.js';
import type { Envelope } from './envelope.js';

/** Brings a JSON-RPC call to its operation, and the answer into its wire form. */
@Injectable()
export class RpcDispatcher {
  private readonly logger = new Logger(RpcDispatcher.name);

  constructor(private readonly handler: RequestHandler) {}

  /**
   * @returns the JSON text of the result, or what opens a stream
   * @throws {A2AError} for everything that goes wrong
   */
  async dispatch(envelope: Envelope, call: CallContext): Promise<string | StreamSource> {
    const { method, params, duplicates } = envelope;
    if (!isA2AMethod(method)) throw new MethodNotFoundError();
    const request = decodeRequest(method, params, duplicates);
    if (isStreaming(method)) return (signal) => this.handler.stream(method, request as never, { ...call, signal });
    const response = await this.handler.handle(method, request, call);
    return this.serialize(method, response);
  }

  private serialize(method: A2AMethod, response: unknown): string {
    const { response: name } = OPERATIONS[method];
    try {
      return name === 'google.protobuf.Empty' ? '{}' : JSON.stringify(encode(name, response as never));
    } catch (error) {
      if (isA2AError(error)) throw error;
      this.logger.error(`The result of ${method} has no JSON form.`);
      throw new InternalError();
    }
  }
}

function isStreaming(method: A2AMethod): method is StreamingMethod {
  return OPERATIONS[method].streaming;
}
