import { inspect } from 'node:util';
import { scrub } from '#protocol';

const MAX_LENGTH = 4_000;

/** Writes an error for the log: name, message and causes, without what could forge log lines. */
export function describeError(error: unknown): string {
  const lines: string[] = [];
  let current: unknown = error;
  while (current !== undefined && current !== null && lines.length < 5) {
    // Errors of Node's core may come from another realm, so no `instanceof`.
    const { name, message, cause } = current as { name?: unknown; message?: unknown; cause?: unknown };
    const isError = typeof name === 'string' && typeof message === 'string';
    lines.push(isError ? `${name}: ${message}` : inspect(current, { depth: 1, breakLength: Infinity }));
    current = cause;
  }
  return scrub(lines.join(' <- '), MAX_LENGTH);
}
