import type { A2AErrorCode } from './a2a-error-code.js';
import type { A2AErrorInit } from './a2a-error.js';
import { errorInfo } from './error-details.js';
import { ERROR_TABLE } from './error-table.js';

/** What an error may carry beside its message. */
export interface KnownErrorOptions {
  /** Becomes the metadata of the error's `google.rpc.ErrorInfo`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** For the log. It never reaches the caller. */
  readonly cause?: unknown;
}

/** Builds the parts of an error of JSON-RPC itself, which has details only when it has metadata. */
export function rpcError(code: A2AErrorCode, message?: string, options: KnownErrorOptions = {}): A2AErrorInit {
  const { metadata, cause } = options;
  const { reason, message: standard } = ERROR_TABLE[code];
  const data = metadata && [errorInfo(reason, metadata)];
  return { code, reason, message: message ?? standard, cause, data };
}

/**
 * Builds the parts of an error of the A2A domain, which always has a `google.rpc.ErrorInfo`.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export function domainError(code: A2AErrorCode, message?: string, options: KnownErrorOptions = {}): A2AErrorInit {
  return rpcError(code, message, { metadata: {}, ...options });
}
