import type * as model from './model.js';
import type * as security from './security-scheme.js';

/** The type of each message of the protocol, by its proto name. */
export interface MessageTypes {
  Task: model.Task;
  TaskStatus: model.TaskStatus;
  Message: model.Message;
  Part: model.Part;
  Artifact: model.Artifact;
  TaskStatusUpdateEvent: model.TaskStatusUpdateEvent;
  TaskArtifactUpdateEvent: model.TaskArtifactUpdateEvent;
  StreamResponse: model.StreamResponse;
  AuthenticationInfo: model.AuthenticationInfo;
  TaskPushNotificationConfig: model.TaskPushNotificationConfig;

  SendMessageConfiguration: model.SendMessageConfiguration;
  SendMessageRequest: model.SendMessageRequest;
  SendMessageResponse: model.SendMessageResponse;
  GetTaskRequest: model.GetTaskRequest;
  ListTasksRequest: model.ListTasksRequest;
  ListTasksResponse: model.ListTasksResponse;
  CancelTaskRequest: model.CancelTaskRequest;
  SubscribeToTaskRequest: model.SubscribeToTaskRequest;
  GetTaskPushNotificationConfigRequest: model.GetTaskPushNotificationConfigRequest;
  ListTaskPushNotificationConfigsRequest: model.ListTaskPushNotificationConfigsRequest;
  ListTaskPushNotificationConfigsResponse: model.ListTaskPushNotificationConfigsResponse;
  DeleteTaskPushNotificationConfigRequest: model.DeleteTaskPushNotificationConfigRequest;
  GetExtendedAgentCardRequest: model.GetExtendedAgentCardRequest;

  AgentCard: model.AgentCard;
  AgentInterface: model.AgentInterface;
  AgentProvider: model.AgentProvider;
  AgentCapabilities: model.AgentCapabilities;
  AgentExtension: model.AgentExtension;
  AgentSkill: model.AgentSkill;
  AgentCardSignature: model.AgentCardSignature;

  StringList: security.StringList;
  SecurityRequirement: security.SecurityRequirement;
  SecurityScheme: security.SecurityScheme;
  APIKeySecurityScheme: security.APIKeySecurityScheme;
  HTTPAuthSecurityScheme: security.HTTPAuthSecurityScheme;
  OAuth2SecurityScheme: security.OAuth2SecurityScheme;
  OpenIdConnectSecurityScheme: security.OpenIdConnectSecurityScheme;
  MutualTlsSecurityScheme: security.MutualTlsSecurityScheme;
  OAuthFlows: security.OAuthFlows;
  AuthorizationCodeOAuthFlow: security.AuthorizationCodeOAuthFlow;
  ClientCredentialsOAuthFlow: security.ClientCredentialsOAuthFlow;
  ImplicitOAuthFlow: security.ImplicitOAuthFlow;
  PasswordOAuthFlow: security.PasswordOAuthFlow;
  DeviceCodeOAuthFlow: security.DeviceCodeOAuthFlow;
}

/** The proto name of a message of the protocol. */
export type MessageName = keyof MessageTypes;
