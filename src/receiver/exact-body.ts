import type { IncomingMessage } from 'node:http';
import { types } from 'node:util';
import { BadRequestException, PayloadTooLargeException } from '@nestjs/common';
import { A2AConfigurationError } from '../context/configuration.error.js';

/** A request of Express, or of Fastify, which has that of Node as `raw`. */
interface HostRequest {
  readonly raw?: IncomingMessage;
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/**
 * The body of a request, byte for byte as it was sent.
 *
 * What a parser kept of it (`rawBody`, or a body that is bytes) is taken; else the request is read, if nobody has done so.
 *
 * @throws {PayloadTooLargeException} when it is larger than that, and nothing more is kept of it
 * @throws {BadRequestException} when the sender leaves before its end
 * @throws {A2AConfigurationError} when a parser has read the body and kept no bytes
 */
export async function exactBody(request: unknown, maxBytes: number): Promise<Uint8Array> {
  const { raw = request as IncomingMessage, rawBody, body } = request as HostRequest;
  const kept = [rawBody, body].find((each) => types.isUint8Array(each));
  if (kept !== undefined) {
    if (kept.byteLength > maxBytes) throw new PayloadTooLargeException();
    return kept;
  }
  if (raw.readableDidRead || raw.readableEnded) throw unavailable();
  return read(raw, maxBytes);
}

function read(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The rest is let go by, so that the sender gets to read the answer.
      request.off('data', onData).resume();
      reject(new PayloadTooLargeException());
    };
    const onLoss = (): void => {
      reject(new BadRequestException());
    };
    // Who left while the headers were looked at has closed it already.
    if (request.destroyed) onLoss();
    request
      .on('data', onData)
      .once('end', () => {
        resolve(Buffer.concat(chunks));
      })
      .once('error', onLoss)
      .once('close', onLoss);
  });
}

function unavailable(): A2AConfigurationError {
  return new A2AConfigurationError(
    'The bytes of the notification are gone: a body parser has read them. Create the application with { rawBody: true }, and on ' +
      "Fastify call app.useBodyParser('application/a2a+json') as well.",
  );
}
