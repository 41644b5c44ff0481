import { A2AErrorCode } from './a2a-error-code.js';
import { A2AError } from './a2a-error.js';
import { badRequest, type FieldViolation } from './error-details.js';
import { type KnownErrorOptions, rpcError } from './known-error.js';

/**
 * The body is not JSON.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export class JsonParseError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(rpcError(A2AErrorCode.JsonParse, message, options));
  }
}

/**
 * The JSON is not a request.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export class InvalidRequestError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(rpcError(A2AErrorCode.InvalidRequest, message, options));
  }
}

/**
 * The method is none of the eleven.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export class MethodNotFoundError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(rpcError(A2AErrorCode.MethodNotFound, message, options));
  }
}

/**
 * The params break the rules of the method; each wrong field is named.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export class InvalidParamsError extends A2AError {
  readonly violations: readonly FieldViolation[];

  constructor(violations: readonly FieldViolation[], message?: string) {
    super({ ...rpcError(A2AErrorCode.InvalidParams, message), data: [badRequest(violations)] });
    this.violations = violations;
  }
}

/**
 * The server failed; the caller learns no more than that.
 *
 * @see A2A v1.0 §9.5 Error Handling
 */
export class InternalError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(rpcError(A2AErrorCode.Internal, message, options));
  }
}
