import { A2AErrorCode } from './a2a-error-code.js';
import { A2AError } from './a2a-error.js';
import { domainError, type KnownErrorOptions } from './known-error.js';

/**
 * The caller did not say who it is, or could not prove it.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class UnauthenticatedError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.Unauthenticated, message, options));
  }
}

/**
 * The caller is known and may not do this.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class PermissionDeniedError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.PermissionDenied, message, options));
  }
}
