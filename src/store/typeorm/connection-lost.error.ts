/** The connection broke while it was used: what was sent may have been done, or not. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';

  constructor(cause: unknown) {
    super('The connection to the database was lost.', { cause });
  }
}

/** Codes of Node for connections that cannot be had, or broke. */
const NODE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);

/** Whether an error means that the database is out of reach, and not that it refused what was asked. */
export function isConnectionLoss(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && (NODE_CODES.has(code) || /^(?:08|57P)/u.test(code))) return true;
  return (
    typeof message === 'string' &&
    /connection (?:terminated|ended|timeout)|not queryable|timeout expired/iu.test(message)
  );
}
