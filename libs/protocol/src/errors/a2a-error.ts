import { A2AErrorCode } from './a2a-error-code.js';
import { type ErrorDetail, toErrorDetails } from './error-details.js';
import { ERROR_TABLE, type ErrorTableRow } from './error-table.js';

/** The parts of an {@link A2AError}. */
export interface A2AErrorInit {
  /** The JSON-RPC error code. */
  readonly code: number;
  /** What the caller reads. Never put in it what the caller must not know. */
  readonly message: string;
  /**
   * UPPER_SNAKE.
   *
   * @default the one that belongs to the code, or `APPLICATION_ERROR`
   */
  readonly reason?: string;
  /** Any JSON value. What is no array of objects with an `@type` is wrapped in one. */
  readonly data?: unknown;
  /** For the log. It never reaches the caller. */
  readonly cause?: unknown;
}

/** Shared by every copy of this package in the process, where `instanceof` knows one only. */
const BRAND = Symbol.for('nestjs-a2a.error');

/**
 * An error that reaches the caller with its code, message and details as they are.
 *
 * @example
 * throw new A2AError({ code: -32050, message: 'The order is locked', data: { orderId } });
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class A2AError extends Error {
  readonly code: number;
  readonly reason: string;
  /** The details, in the shape that the wire wants. */
  declare readonly data?: readonly ErrorDetail[];

  constructor({ code, message, reason, data, cause }: A2AErrorInit) {
    super(message, cause === undefined ? undefined : { cause });
    const row = rowOf(code);
    this.name = row?.name ?? 'A2AError';
    // A code that is no integer would be no JSON-RPC error.
    this.code = Number.isSafeInteger(code) ? code : A2AErrorCode.Internal;
    this.reason = reason ?? row?.reason ?? 'APPLICATION_ERROR';
    const details = data === undefined ? undefined : toErrorDetails(data);
    if (details !== undefined) this.data = details;
  }

  get [BRAND](): true {
    return true;
  }
}

/** Tells whether a value is an A2A error, of this or of another copy of this package. */
export function isA2AError(value: unknown): value is A2AError {
  try {
    return typeof value === 'object' && value !== null && BRAND in value && value[BRAND] === true;
  } catch {
    // User code may throw a proxy that refuses to be looked at.
    return false;
  }
}

const MAX_CAUSES = 16;

/**
 * Finds the A2A error in a thrown value: the value itself, or the nearest in its chain of causes.
 *
 * @param value Anything that was thrown; chains are followed for 16 steps.
 */
export function findA2AError(value: unknown): A2AError | undefined {
  let current = value;
  // The bound also ends a chain that leads back to itself.
  for (let step = 0; step < MAX_CAUSES && current !== undefined; step += 1) {
    if (isA2AError(current)) return current;
    current = causeOf(current);
  }
  return undefined;
}

function causeOf(value: unknown): unknown {
  try {
    return typeof value === 'object' && value !== null && 'cause' in value ? value.cause : undefined;
  } catch {
    return undefined;
  }
}

function rowOf(code: number): ErrorTableRow | undefined {
  return Object.hasOwn(ERROR_TABLE, code) ? ERROR_TABLE[code as A2AErrorCode] : undefined;
}
