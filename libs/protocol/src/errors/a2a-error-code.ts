/**
 * Every JSON-RPC error code that this package answers with, by name.
 *
 * @see A2A v1.0 §5.4 Error Code Mappings, §9.5 Error Handling
 */
export const A2AErrorCode = {
  JsonParse: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  Internal: -32603,
  TaskNotFound: -32001,
  TaskNotCancelable: -32002,
  PushNotificationNotSupported: -32003,
  UnsupportedOperation: -32004,
  ContentTypeNotSupported: -32005,
  InvalidAgentResponse: -32006,
  ExtendedAgentCardNotConfigured: -32007,
  ExtensionSupportRequired: -32008,
  VersionNotSupported: -32009,
  Unauthenticated: -31401,
  PermissionDenied: -31403,
} as const;
export type A2AErrorCode = (typeof A2AErrorCode)[keyof typeof A2AErrorCode];
