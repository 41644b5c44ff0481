import type { JsonValue } from '../json.js';
import { toJson } from '../to-json.js';

/**
 * One structured detail of an error: an object that names its type.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export interface ErrorDetail {
  readonly '@type': string;
  readonly [key: string]: JsonValue;
}

/** One field of the request that is wrong, and why. */
export interface FieldViolation {
  /** The path from `params`, in camelCase, such as `message.parts[0]`. */
  readonly field: string;
  readonly description: string;
}

const GOOGLE_APIS = 'type.googleapis.com/';

/**
 * Builds the `google.rpc.ErrorInfo` that each error of the A2A domain carries.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export function errorInfo(reason: string, metadata: Readonly<Record<string, string>> = {}): ErrorDetail {
  return {
    '@type': `${GOOGLE_APIS}google.rpc.ErrorInfo`,
    reason,
    domain: 'a2a-protocol.org',
    ...(Object.keys(metadata).length > 0 && { metadata: { ...metadata } }),
  };
}

/**
 * Builds the `google.rpc.BadRequest` that names the wrong fields of a request.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export function badRequest(violations: readonly FieldViolation[]): ErrorDetail {
  return {
    '@type': `${GOOGLE_APIS}google.rpc.BadRequest`,
    fieldViolations: violations.map(({ field, description }) => ({ field, description })),
  };
}

/**
 * Gives any JSON value the shape that `error.data` must have: an array of objects with an `@type` stays as it is,
 * everything else becomes the value of one `google.protobuf.Struct` detail.
 *
 * @returns A copy; undefined when the value is not JSON, which no wire could carry.
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export function toErrorDetails(data: unknown): readonly ErrorDetail[] | undefined {
  let value: JsonValue;
  try {
    value = toJson(data);
  } catch {
    // The error on its way must not give way to one about its details.
    return undefined;
  }
  if (Array.isArray(value) && value.every(isErrorDetail)) return value;
  return [{ '@type': `${GOOGLE_APIS}google.protobuf.Struct`, value }];
}

function isErrorDetail(value: JsonValue): value is ErrorDetail {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, '@type') &&
    typeof (value as ErrorDetail)['@type'] === 'string'
  );
}
