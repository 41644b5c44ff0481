import { captureOf, rawRequest } from '../body/capture.js';
import { readEnvelope, type BadEnvelope, type Envelope } from './envelope.js';

const ENVELOPE = Symbol('nestjs-a2a.envelope');

/** The envelope of a request, read once. `undefined` when the request is none to the endpoint. */
export function envelopeOf(request: unknown): Envelope | BadEnvelope | undefined {
  const raw = rawRequest(request) as { [ENVELOPE]?: Envelope | BadEnvelope | undefined };
  const capture = captureOf(request);
  if (!capture) return undefined;
  return (raw[ENVELOPE] ??= readEnvelope(capture.bytes));
}

/** The JSON text of the id to answer a request with: its own as soon as it can be read. */
export function idOf(request: unknown): string {
  return envelopeOf(request)?.id ?? 'null';
}
