import { expect } from '@jest/globals';
import type { HttpAnswer } from './http-client.js';
import type { RpcAnswer } from './rpc.js';

type Answer = HttpAnswer | RpcAnswer;

/** Expects an error envelope, whole and with nothing beside it. */
export function expectError(answer: Answer, expected: { status?: number; id?: unknown; code: number }): void {
  const { status = 200, id = 1, code } = expected;
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({
    status,
    body: { jsonrpc: '2.0', id, error: expect.objectContaining({ code, message: expect.any(String) }) },
  });
  expect(headerOf(answer, 'content-type')).toBe('application/json');
  expect(headerOf(answer, 'cache-control')).toBe('no-store');
}

/** A header of an answer, whichever client it came through. */
export function headerOf({ headers }: Answer, name: string): string | undefined {
  return headers instanceof Headers ? (headers.get(name) ?? undefined) : headers[name];
}

/** The fields that an -32602 names. */
export function violatedFields({ body }: Answer): string[] {
  const { error } = body as { error: { data: { fieldViolations: { field: string }[] }[] } };
  return (error.data[0]?.fieldViolations ?? []).map(({ field }) => field);
}
