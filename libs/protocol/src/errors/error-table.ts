import { A2AErrorCode } from './a2a-error-code.js';

/** What one error code is called, says by default, and becomes in each binding. */
export interface ErrorTableRow {
  /** The name of the error in the specification, and of its class here. */
  readonly name: string;
  /** The machine-readable reason of its `google.rpc.ErrorInfo`. */
  readonly reason: string;
  /** The default message. */
  readonly message: string;
  /** The status in the HTTP+JSON binding. */
  readonly http: number;
  /** The name of the status in the gRPC binding. */
  readonly grpc: string;
}

/**
 * The one mapping from error codes to the bindings.
 *
 * @see A2A v1.0 §5.4 Error Code Mappings, §9.5 Error Handling
 */
export const ERROR_TABLE: Readonly<Record<A2AErrorCode, ErrorTableRow>> = {
  [A2AErrorCode.JsonParse]: {
    name: 'JsonParseError',
    reason: 'JSON_PARSE',
    message: 'Invalid JSON payload',
    http: 400,
    grpc: 'INVALID_ARGUMENT',
  },
  [A2AErrorCode.InvalidRequest]: {
    name: 'InvalidRequestError',
    reason: 'INVALID_REQUEST',
    message: 'Request payload validation error',
    http: 400,
    grpc: 'INVALID_ARGUMENT',
  },
  [A2AErrorCode.MethodNotFound]: {
    name: 'MethodNotFoundError',
    reason: 'METHOD_NOT_FOUND',
    message: 'Method not found',
    http: 404,
    grpc: 'UNIMPLEMENTED',
  },
  [A2AErrorCode.InvalidParams]: {
    name: 'InvalidParamsError',
    reason: 'INVALID_PARAMS',
    message: 'Invalid parameters',
    http: 400,
    grpc: 'INVALID_ARGUMENT',
  },
  [A2AErrorCode.Internal]: {
    name: 'InternalError',
    reason: 'INTERNAL',
    message: 'Internal error',
    http: 500,
    grpc: 'INTERNAL',
  },
  [A2AErrorCode.TaskNotFound]: {
    name: 'TaskNotFoundError',
    reason: 'TASK_NOT_FOUND',
    message: 'Task not found',
    http: 404,
    grpc: 'NOT_FOUND',
  },
  [A2AErrorCode.TaskNotCancelable]: {
    name: 'TaskNotCancelableError',
    reason: 'TASK_NOT_CANCELABLE',
    message: 'Task cannot be canceled',
    http: 400,
    grpc: 'FAILED_PRECONDITION',
  },
  [A2AErrorCode.PushNotificationNotSupported]: {
    name: 'PushNotificationNotSupportedError',
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    message: 'Push notifications are not supported',
    http: 400,
    grpc: 'FAILED_PRECONDITION',
  },
  [A2AErrorCode.UnsupportedOperation]: {
    name: 'UnsupportedOperationError',
    reason: 'UNSUPPORTED_OPERATION',
    message: 'This operation is not supported',
    http: 400,
    grpc: 'FAILED_PRECONDITION',
  },
  [A2AErrorCode.ContentTypeNotSupported]: {
    name: 'ContentTypeNotSupportedError',
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    message: 'Content type is not supported',
    http: 400,
    grpc: 'INVALID_ARGUMENT',
  },
  [A2AErrorCode.InvalidAgentResponse]: {
    name: 'InvalidAgentResponseError',
    reason: 'INVALID_AGENT_RESPONSE',
    message: 'Invalid agent response',
    http: 500,
    grpc: 'INTERNAL',
  },
  [A2AErrorCode.ExtendedAgentCardNotConfigured]: {
    name: 'ExtendedAgentCardNotConfiguredError',
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    message: 'Extended agent card is not configured',
    http: 400,
    grpc: 'FAILED_PRECONDITION',
  },
  [A2AErrorCode.ExtensionSupportRequired]: {
    name: 'ExtensionSupportRequiredError',
    reason: 'EXTENSION_SUPPORT_REQUIRED',
    message: 'Extension support is required',
    http: 400,
    grpc: 'FAILED_PRECONDITION',
  },
  [A2AErrorCode.VersionNotSupported]: {
    name: 'VersionNotSupportedError',
    reason: 'VERSION_NOT_SUPPORTED',
    message: 'Protocol version is not supported',
    http: 400,
    grpc: 'FAILED_PRECONDITION',
  },
  [A2AErrorCode.Unauthenticated]: {
    name: 'UnauthenticatedError',
    reason: 'UNAUTHENTICATED',
    message: 'Unauthenticated',
    http: 401,
    grpc: 'UNAUTHENTICATED',
  },
  [A2AErrorCode.PermissionDenied]: {
    name: 'PermissionDeniedError',
    reason: 'PERMISSION_DENIED',
    message: 'Permission denied',
    http: 403,
    grpc: 'PERMISSION_DENIED',
  },
};
