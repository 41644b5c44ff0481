import type { MessageName, MessageTypes } from './message-types.js';
import type { AgentCapabilities } from './model.js';

/**
 * The eleven operations, spelled and ordered as the specification lists them.
 *
 * @see A2A v1.0 §5.3 Method Mapping Reference
 */
export const A2A_METHODS = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
] as const;

/** The name of an operation. */
export type A2AMethod = (typeof A2A_METHODS)[number];

/** The capability that a card must declare before an operation is served. */
export type RequiredCapability = Exclude<keyof AgentCapabilities, 'extensions'>;

const DEFINITIONS = {
  SendMessage: {
    method: 'SendMessage',
    request: 'SendMessageRequest',
    response: 'SendMessageResponse',
    streaming: false,
  },
  SendStreamingMessage: {
    method: 'SendStreamingMessage',
    request: 'SendMessageRequest',
    response: 'StreamResponse',
    streaming: true,
    capability: 'streaming',
  },
  GetTask: { method: 'GetTask', request: 'GetTaskRequest', response: 'Task', streaming: false },
  ListTasks: { method: 'ListTasks', request: 'ListTasksRequest', response: 'ListTasksResponse', streaming: false },
  CancelTask: { method: 'CancelTask', request: 'CancelTaskRequest', response: 'Task', streaming: false },
  SubscribeToTask: {
    method: 'SubscribeToTask',
    request: 'SubscribeToTaskRequest',
    response: 'StreamResponse',
    streaming: true,
    capability: 'streaming',
  },
  CreateTaskPushNotificationConfig: {
    method: 'CreateTaskPushNotificationConfig',
    request: 'TaskPushNotificationConfig',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    capability: 'pushNotifications',
  },
  GetTaskPushNotificationConfig: {
    method: 'GetTaskPushNotificationConfig',
    request: 'GetTaskPushNotificationConfigRequest',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    capability: 'pushNotifications',
  },
  ListTaskPushNotificationConfigs: {
    method: 'ListTaskPushNotificationConfigs',
    request: 'ListTaskPushNotificationConfigsRequest',
    response: 'ListTaskPushNotificationConfigsResponse',
    streaming: false,
    capability: 'pushNotifications',
  },
  DeleteTaskPushNotificationConfig: {
    method: 'DeleteTaskPushNotificationConfig',
    request: 'DeleteTaskPushNotificationConfigRequest',
    response: 'google.protobuf.Empty',
    streaming: false,
    capability: 'pushNotifications',
  },
  GetExtendedAgentCard: {
    method: 'GetExtendedAgentCard',
    request: 'GetExtendedAgentCardRequest',
    response: 'AgentCard',
    streaming: false,
    capability: 'extendedAgentCard',
  },
} as const satisfies Record<A2AMethod, Definition>;

/** One row of {@link OPERATIONS}. */
export interface Operation<M extends A2AMethod = A2AMethod> {
  readonly method: M;
  /** The name of the message that `params` holds. */
  readonly request: (typeof DEFINITIONS)[M]['request'];
  /** The name of the message that `result` holds, or each event of the stream. */
  readonly response: (typeof DEFINITIONS)[M]['response'];
  readonly streaming: boolean;
  readonly capability?: RequiredCapability;
}

/**
 * What each operation takes, answers and needs.
 *
 * @see A2A v1.0 §3.1 Core Operations
 */
export const OPERATIONS: { readonly [M in A2AMethod]: Operation<M> } = DEFINITIONS;

/** The request of an operation. */
export type RequestOf<M extends A2AMethod> = MessageTypes[Operation<M>['request']];

/** The response of an operation; for a streaming one, each event of its stream. */
export type ResponseOf<M extends A2AMethod> = Operation<M>['response'] extends infer R
  ? R extends MessageName
    ? MessageTypes[R]
    : Record<string, never>
  : never;

const methods: ReadonlySet<string> = new Set(A2A_METHODS);

/** Tells whether a string names an operation, in its exact spelling. */
export function isA2AMethod(name: string): name is A2AMethod {
  return methods.has(name);
}

interface Definition {
  readonly method: A2AMethod;
  readonly request: MessageName;
  readonly response: MessageName | 'google.protobuf.Empty';
  readonly streaming: boolean;
  readonly capability?: RequiredCapability;
}
