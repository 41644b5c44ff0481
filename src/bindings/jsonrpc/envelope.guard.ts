import { Injectable, NotFoundException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { methodNotAllowed } from '../body/entry.gate.js';
import { rawRequest } from '../body/capture.js';
import { envelopeOf } from './rpc-request.js';

/** Lets a request through when it is a JSON-RPC call. */
@Injectable()
export class EnvelopeGuard implements CanActivate {
  /** @throws {A2AError} or {HttpRefusal} saying what is wrong with the envelope */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<unknown>();
    const envelope = envelopeOf(request);
    // Routers are more lenient than the entry middleware: what it has not seen is not the endpoint.
    if (!envelope) throw new NotFoundException();
    if (rawRequest(request).method !== 'POST') throw methodNotAllowed();
    if ('error' in envelope) throw envelope.error;
    return true;
  }
}
