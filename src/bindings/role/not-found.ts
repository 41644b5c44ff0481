import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { letGo } from '../body/body.reader.js';
import { sendReply, type HttpReply } from '../body/http-reply.js';

/** Tells nothing: neither what was asked for, nor by which framework it was not found. */
const NOT_FOUND: HttpReply = {
  status: 404,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  body: '{"statusCode":404,"message":"Not Found"}',
};

/** Answers a request to a path that is not served. */
export function answerNotFound(request: IncomingMessage, response: unknown): void {
  sendReply(response, NOT_FOUND);
  letGo(request);
}

/** Answers on a connection that the server no longer reads requests from, such as one to be upgraded, and ends it. */
export function endWithNotFound(socket: Duplex): void {
  const { headers, body } = NOT_FOUND;
  const fields = { ...headers, 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close' };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  // The server has let go of the connection, and nobody else hears of its faults.
  socket.on('error', () => {
    socket.destroy();
  });
  socket.end(['HTTP/1.1 404 Not Found', ...head, '', body].join('\r\n'), () => {
    socket.destroy();
  });
}
