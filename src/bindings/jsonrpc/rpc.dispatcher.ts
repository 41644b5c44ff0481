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
import { RequestHandler } from '../../operations/request.handler.js';
import type { Envelope } from './envelope.js';

/** Brings a JSON-RPC call to its operation, and the answer into its wire form. */
@Injectable()
export class RpcDispatcher {
  private readonly logger = new Logger(RpcDispatcher.name);

  constructor(private readonly handler: RequestHandler) {}

  /**
   * @returns the JSON text of the result
   * @throws {A2AError} for everything that goes wrong
   */
  async dispatch({ method, params, duplicates }: Envelope, call: CallContext): Promise<string> {
    if (!isA2AMethod(method)) throw new MethodNotFoundError();
    const request = decodeRequest(method, params, duplicates);
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
