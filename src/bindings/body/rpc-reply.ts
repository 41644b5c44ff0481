import { A2AError, A2AErrorCode } from '#protocol';
import type { HttpReply } from './http-reply.js';

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } as const;

/** A refusal with a status of its own. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';

  /**
   * @param status the HTTP status
   * @param error the JSON-RPC error in the body
   * @param headers further headers
   */
  constructor(
    readonly status: number,
    readonly error: A2AError,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(error.message);
  }
}

/** Statuses of errors that are no matter of the method called. All other errors ride on 200. */
const STATUS: Readonly<Record<number, number>> = {
  [A2AErrorCode.JsonParse]: 400,
  [A2AErrorCode.Unauthenticated]: 401,
  [A2AErrorCode.PermissionDenied]: 403,
};

/** The JSON text of a response with a result, both given as JSON texts. */
export function resultText(id: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** The JSON text of a response with an error; the id is a JSON text. */
export function errorText(id: string, { code, message, data }: A2AError): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, ...(data && { data }) })}}`;
}

/**
 * Writes a result.
 *
 * @param id the JSON text of the request's id, as it was sent
 * @param result the JSON text of the result
 *
 * @see A2A v1.0 §9.4 Core Methods
 */
export function resultReply(id: string, result: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return {
    status: 200,
    headers: { ...HEADERS, ...headers },
    body: resultText(id, result),
  };
}

/**
 * Writes an error.
 *
 * @param id the JSON text of the request's id, as it was sent; `null` when it could not be read
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export function errorReply(id: string, error: A2AError, options: Partial<Omit<HttpReply, 'body'>> = {}): HttpReply {
  return {
    status: options.status ?? STATUS[error.code] ?? 200,
    headers: { ...HEADERS, ...options.headers },
    body: errorText(id, error),
  };
}
