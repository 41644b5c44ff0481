import {
  always,
  bool,
  enumeration,
  id,
  int32,
  message,
  oneof,
  optional,
  repeated,
  required,
  string,
  struct,
  timestamp,
} from './field.js';

/** The requests and responses of the operations (A2A v1.0 §3.1, §3.2). */
export const OPERATION_MESSAGES = {
  SendMessageConfiguration: {
    acceptedOutputModes: repeated(string),
    taskPushNotificationConfig: message('TaskPushNotificationConfig'),
    historyLength: optional(int32(0)),
    returnImmediately: bool,
  },
  SendMessageRequest: {
    tenant: id,
    message: required(message('Message')),
    configuration: message('SendMessageConfiguration'),
    metadata: struct,
  },
  SendMessageResponse: {
    task: oneof('payload', message('Task')),
    message: oneof('payload', message('Message')),
  },
  GetTaskRequest: {
    tenant: id,
    id: required(id),
    historyLength: optional(int32(0)),
  },
  ListTasksRequest: {
    tenant: id,
    contextId: id,
    status: enumeration('TaskState'),
    pageSize: optional(int32(1)),
    pageToken: string,
    historyLength: optional(int32(0)),
    statusTimestampAfter: timestamp,
    includeArtifacts: optional(bool),
  },
  ListTasksResponse: {
    tasks: required(repeated(message('Task'))),
    nextPageToken: required(string),
    pageSize: required(int32(0)),
    totalSize: required(int32(0)),
  },
  CancelTaskRequest: {
    tenant: id,
    id: required(id),
    metadata: struct,
  },
  SubscribeToTaskRequest: {
    tenant: id,
    id: required(id),
  },
  GetTaskPushNotificationConfigRequest: {
    tenant: id,
    taskId: required(id),
    id: required(id),
  },
  ListTaskPushNotificationConfigsRequest: {
    tenant: id,
    taskId: required(id),
    pageSize: int32(0),
    pageToken: string,
  },
  ListTaskPushNotificationConfigsResponse: {
    configs: always(repeated(message('TaskPushNotificationConfig'))),
    nextPageToken: string,
  },
  DeleteTaskPushNotificationConfigRequest: {
    tenant: id,
    taskId: required(id),
    id: required(id),
  },
  GetExtendedAgentCardRequest: {
    tenant: id,
  },
};
