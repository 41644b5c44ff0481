import { A2AErrorCode } from './a2a-error-code.js';
import { A2AError } from './a2a-error.js';
import { domainError, type KnownErrorOptions } from './known-error.js';

/**
 * The task does not exist, or not for this caller.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class TaskNotFoundError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.TaskNotFound, message, options));
  }
}

/**
 * The task is over, so it cannot be canceled.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class TaskNotCancelableError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.TaskNotCancelable, message, options));
  }
}

/**
 * This agent sends no push notifications.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class PushNotificationNotSupportedError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.PushNotificationNotSupported, message, options));
  }
}

/**
 * The operation, or an aspect of it, is not supported here.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class UnsupportedOperationError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.UnsupportedOperation, message, options));
  }
}

/**
 * A media type of the request is not supported.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class ContentTypeNotSupportedError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.ContentTypeNotSupported, message, options));
  }
}

/**
 * The agent itself built a response that breaks the protocol.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class InvalidAgentResponseError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.InvalidAgentResponse, message, options));
  }
}

/**
 * The card promises an extended card that there is not.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class ExtendedAgentCardNotConfiguredError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.ExtendedAgentCardNotConfigured, message, options));
  }
}

/**
 * The client does not declare an extension that the card requires.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class ExtensionSupportRequiredError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.ExtensionSupportRequired, message, options));
  }
}

/**
 * The client asks for a protocol version that is not spoken here.
 *
 * @see A2A v1.0 §3.3.2 Error Handling
 */
export class VersionNotSupportedError extends A2AError {
  constructor(message?: string, options?: KnownErrorOptions) {
    super(domainError(A2AErrorCode.VersionNotSupported, message, options));
  }
}
