import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import { bodyTooLarge } from './entry.gate.js';

/** How much of a refused body is let go by, so that the client gets to read why. */
const LINGER_BYTES = 1024 * 1024;
/** For how long, in milliseconds. */
const LINGER_TIME = 1_000;

/** Reads the body of a request, up to the cap. */
@Injectable()
export class BodyReader {
  constructor(@Inject(A2A_SETTINGS) private readonly settings: A2ASettings) {}

  /**
   * @returns the bytes, or `undefined` when the client left before it had sent them all
   * @throws {HttpRefusal} when there are more than the cap; the rest is not read
   */
  read(request: IncomingMessage): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        if (size <= this.settings.maxBodyBytes) {
          chunks.push(chunk);
          return;
        }
        request.off('data', onData).pause();
        reject(bodyTooLarge(this.settings));
      };
      request
        .on('data', onData)
        .once('end', () => {
          resolve(Buffer.concat(chunks));
        })
        .once('error', () => {
          resolve(undefined);
        })
        .once('close', () => {
          resolve(undefined);
        });
    });
  }
}

/**
 * Gets rid of the body of a refused request. Closing at once would take the answer from a client that is still sending.
 */
export function letGo(request: IncomingMessage): void {
  if (request.complete) return;
  let left = LINGER_BYTES;
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, LINGER_TIME).unref();
  request
    .on('data', (chunk: Buffer) => {
      left -= chunk.length;
      // A client that cannot send on has the time to read; a reset connection would lose it the answer.
      if (left < 0) request.pause();
    })
    .once('close', () => {
      clearTimeout(timer);
    })
    .resume();
}
