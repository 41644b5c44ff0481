import type { ServerResponse } from 'node:http';

/** An answer that is written as it is, past everything that would change its bytes. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or its UTF-8 bytes; left away where the status allows none. */
  readonly body: string | Buffer;
}

/** A reply of Fastify, as far as it is used here. */
interface FastifyReplyLike {
  readonly raw: ServerResponse;
  code(status: number): this;
  headers(headers: Readonly<Record<string, string>>): this;
  send(payload: Buffer | undefined): this;
}

/** The response of Node behind a response of Express or a reply of Fastify. */
export function rawResponse(response: unknown): ServerResponse {
  return (response as { raw?: ServerResponse }).raw ?? (response as ServerResponse);
}

/**
 * Writes a reply to a response of Express or Fastify, unless it was answered or has gone already. When the host has sent
 * a head of its own, only the body is written.
 */
export function sendReply(response: unknown, { status, headers, body }: HttpReply): void {
  const raw = rawResponse(response);
  if (raw.writableEnded || raw.destroyed) return;
  const isBodyless = status === 204 || status === 304;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  if (raw.headersSent) {
    raw.end(bytes);
    return;
  }
  if (raw !== response) {
    // A Buffer passes Fastify's serialisers as it is.
    (response as FastifyReplyLike)
      .code(status)
      .headers(headers)
      .send(isBodyless ? undefined : bytes);
    return;
  }
  raw.statusCode = status;
  for (const [name, value] of Object.entries(headers)) raw.setHeader(name, value);
  if (isBodyless) {
    raw.end();
    return;
  }
  raw.setHeader('Content-Length', bytes.length);
  raw.end(bytes);
}
