import type { JsonObject, JsonValue } from './json.js';
import type { SecurityRequirement, SecurityScheme } from './security-scheme.js';

/**
 * The lifecycle states of a task, by their proto names.
 *
 * @see A2A v1.0 §4.1.3 TaskState
 */
export const TaskState = {
  Unspecified: 'TASK_STATE_UNSPECIFIED',
  Submitted: 'TASK_STATE_SUBMITTED',
  Working: 'TASK_STATE_WORKING',
  Completed: 'TASK_STATE_COMPLETED',
  Failed: 'TASK_STATE_FAILED',
  Canceled: 'TASK_STATE_CANCELED',
  InputRequired: 'TASK_STATE_INPUT_REQUIRED',
  Rejected: 'TASK_STATE_REJECTED',
  AuthRequired: 'TASK_STATE_AUTH_REQUIRED',
} as const;
export type TaskState = (typeof TaskState)[keyof typeof TaskState];

/**
 * Who sent a message.
 *
 * @see A2A v1.0 §4.1.5 Role
 */
export const Role = { Unspecified: 'ROLE_UNSPECIFIED', User: 'ROLE_USER', Agent: 'ROLE_AGENT' } as const;
export type Role = (typeof Role)[keyof typeof Role];

/** What every kind of part may carry beside its content. */
export interface PartFields {
  metadata?: JsonObject;
  filename?: string;
  /** A media type, such as `text/plain`. */
  mediaType?: string;
}

/** A part whose content is text. */
export interface TextPart extends PartFields {
  text: string;
}

/** A part whose content is bytes, as standard base64. See `rawBytes(part)`. */
export interface RawPart extends PartFields {
  raw: string;
}

/** A part whose content lies at a URL. */
export interface UrlPart extends PartFields {
  url: string;
}

/** A part whose content is a JSON value, `null` and falsy values included. */
export interface DataPart extends PartFields {
  data: JsonValue;
}

/**
 * One piece of content: exactly one of `text`, `raw`, `url` and `data`.
 *
 * @see A2A v1.0 §4.1.6 Part
 */
export type Part = TextPart | RawPart | UrlPart | DataPart;

/** @see A2A v1.0 §4.1.4 Message */
export interface Message {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: Role;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
  referenceTaskIds?: string[];
}

/** @see A2A v1.0 §4.1.7 Artifact */
export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
}

/** @see A2A v1.0 §4.1.2 TaskStatus */
export interface TaskStatus {
  state: TaskState;
  message?: Message;
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  timestamp?: string;
}

/** @see A2A v1.0 §4.1.1 Task */
export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: JsonObject;
}

/** @see A2A v1.0 §4.2.1 TaskStatusUpdateEvent */
export interface TaskStatusUpdateEvent {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: JsonObject;
}

/** @see A2A v1.0 §4.2.2 TaskArtifactUpdateEvent */
export interface TaskArtifactUpdateEvent {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
}

/**
 * Exactly one of the four.
 *
 * @see A2A v1.0 §3.2.3 Stream Response
 */
export type StreamResponse =
  | { task: Task }
  | { message: Message }
  | { statusUpdate: TaskStatusUpdateEvent }
  | { artifactUpdate: TaskArtifactUpdateEvent };

/** @see A2A v1.0 §4.3.2 AuthenticationInfo */
export interface AuthenticationInfo {
  scheme: string;
  credentials?: string;
}

/** @see A2A v1.0 §4.3.1 PushNotificationConfig */
export interface TaskPushNotificationConfig {
  tenant?: string;
  id?: string;
  taskId?: string;
  url: string;
  token?: string;
  authentication?: AuthenticationInfo;
}

/** @see A2A v1.0 §3.2.2 SendMessageConfiguration */
export interface SendMessageConfiguration {
  acceptedOutputModes?: string[];
  taskPushNotificationConfig?: TaskPushNotificationConfig;
  historyLength?: number;
  returnImmediately?: boolean;
}

/** @see A2A v1.0 §3.2.1 SendMessageRequest */
export interface SendMessageRequest {
  tenant?: string;
  /** Its `messageId` is minted by the server when the client sent none. */
  message: Omit<Message, 'messageId'> & { messageId?: string };
  configuration?: SendMessageConfiguration;
  metadata?: JsonObject;
}

/** @see A2A v1.0 §3.1.1 Send Message */
export type SendMessageResponse = { task: Task } | { message: Message };

/** @see A2A v1.0 §3.1.3 Get Task */
export interface GetTaskRequest {
  tenant?: string;
  id: string;
  historyLength?: number;
}

/** @see A2A v1.0 §3.1.4 List Tasks */
export interface ListTasksRequest {
  tenant?: string;
  contextId?: string;
  status?: TaskState;
  pageSize?: number;
  pageToken?: string;
  historyLength?: number;
  /** RFC 3339. */
  statusTimestampAfter?: string;
  includeArtifacts?: boolean;
}

/** @see A2A v1.0 §3.1.4 List Tasks */
export interface ListTasksResponse {
  tasks: Task[];
  nextPageToken: string;
  pageSize: number;
  totalSize: number;
}

/** @see A2A v1.0 §3.1.5 Cancel Task */
export interface CancelTaskRequest {
  tenant?: string;
  id: string;
  metadata?: JsonObject;
}

/** @see A2A v1.0 §3.1.6 Subscribe to Task */
export interface SubscribeToTaskRequest {
  tenant?: string;
  id: string;
}

/** @see A2A v1.0 §3.1.8 Get Push Notification Config */
export interface GetTaskPushNotificationConfigRequest {
  tenant?: string;
  taskId: string;
  id: string;
}

/** @see A2A v1.0 §3.1.9 List Push Notification Configs */
export interface ListTaskPushNotificationConfigsRequest {
  tenant?: string;
  taskId: string;
  pageSize?: number;
  pageToken?: string;
}

/** @see A2A v1.0 §3.1.9 List Push Notification Configs */
export interface ListTaskPushNotificationConfigsResponse {
  configs: TaskPushNotificationConfig[];
  nextPageToken?: string;
}

/** @see A2A v1.0 §3.1.10 Delete Push Notification Config */
export interface DeleteTaskPushNotificationConfigRequest {
  tenant?: string;
  taskId: string;
  id: string;
}

/** @see A2A v1.0 §3.1.11 Get Extended Agent Card */
export interface GetExtendedAgentCardRequest {
  tenant?: string;
}

/** @see A2A v1.0 §4.4.6 AgentInterface */
export interface AgentInterface {
  url: string;
  /** `JSONRPC`, `GRPC`, `HTTP+JSON` or the URI of a custom binding. */
  protocolBinding: string;
  tenant?: string;
  protocolVersion: string;
}

/** @see A2A v1.0 §4.4.2 AgentProvider */
export interface AgentProvider {
  url: string;
  organization: string;
}

/** @see A2A v1.0 §4.4.4 AgentExtension */
export interface AgentExtension {
  uri: string;
  description?: string;
  required?: boolean;
  params?: JsonObject;
}

/** @see A2A v1.0 §4.4.3 AgentCapabilities */
export interface AgentCapabilities {
  streaming?: boolean;
  pushNotifications?: boolean;
  extensions?: AgentExtension[];
  extendedAgentCard?: boolean;
}

/** @see A2A v1.0 §4.4.5 AgentSkill */
export interface AgentSkill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
  securityRequirements?: SecurityRequirement[];
}

/** @see A2A v1.0 §4.4.7 AgentCardSignature */
export interface AgentCardSignature {
  protected: string;
  signature: string;
  header?: JsonObject;
}

/** @see A2A v1.0 §4.4.1 AgentCard */
export interface AgentCard {
  name: string;
  description: string;
  supportedInterfaces: AgentInterface[];
  provider?: AgentProvider;
  version: string;
  documentationUrl?: string;
  capabilities: AgentCapabilities;
  securitySchemes?: Record<string, SecurityScheme>;
  securityRequirements?: SecurityRequirement[];
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: AgentSkill[];
  signatures?: AgentCardSignature[];
  iconUrl?: string;
}
