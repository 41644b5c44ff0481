export { A2AModule } from './a2a.module.js';
export type { DatabaseOptions } from './a2a.database.js';
export type { A2AModuleExtras, A2AOptions } from './a2a.options.js';
export { A2AService, type A2AHealth, type A2AStatistics } from './a2a.service.js';
export type { A2ARole } from './bindings/role/role.js';
export { AGENT_CARD_PATH } from './bindings/well-known/agent-card.document.js';
export type { CardInterface, CardOptions } from './card/card.options.js';
export {
  ExtendedCardProvider,
  type ExtendedCardAnswer,
  type ExtendedCardContext,
} from './card/extended-card.provider.js';
export type { ProtectedResourceOptions } from './card/protected-resource.options.js';
export {
  apiKey,
  httpBasic,
  httpBearer,
  mutualTls,
  oauth2,
  openIdConnect,
  type OAuth2Flow,
} from './card/security-schemes.js';
export { A2A_CONTEXT_TYPE, A2AExecutionContext, type A2AExecution } from './context/a2a-execution-context.js';
export type { CallContext } from './context/call-context.js';
export { Clock, SystemClock } from './context/clock.js';
export { A2AConfigurationError } from './context/configuration.error.js';
export { IdGenerator, UuidGenerator } from './context/id-generator.js';
export type { Principal, PrincipalAnswer } from './context/principal.js';
export type { PortOption } from './context/port-option.js';
export { currentA2ARequest, runWithA2ARequest, type RequestSnapshot } from './context/request-snapshot.js';
export type { SkillDescription } from './context/skill-description.js';
export { TaskContext, type ArtifactInput, type ArtifactOptions, type Content } from './context/task-context.js';
export { UNNARROWED, type Tier } from './context/tier.js';
export {
  DeadlineExceededError,
  ShutdownError,
  TaskEndedError,
  TaskSettledElsewhereError,
  TaskTooLargeError,
} from './execution/run-errors.js';
export type { PushOptions } from './push/push.options.js';
export { OwnerGuard } from './security/owner.guard.js';
export { PrincipalResolver } from './security/principal.resolver.js';
export { PrincipalService } from './security/principal.service.js';
export { ScopeGuard } from './security/scope.guard.js';
export { TenantGuard } from './security/tenant.guard.js';
export type {
  PrivateJwk,
  SigningKey,
  SigningKeyMaterial,
  SigningKeyNames,
  SigningKeySource,
  SigningOptions,
} from './signing/signing.options.js';
export { isDirectMessage, message, type DirectMessage } from './skills/direct-message.js';
export type { SkillDefinition } from './skills/registered-skill.js';
export type { StandardSchema } from './skills/schema.pipe.js';
export { SkillInputError } from './skills/skill-input.error.js';
export { SkillCaller, SkillInput, SkillMessage, SkillTask, SkillText } from './skills/skill-params.decorator.js';
export { NamedSkillRouter, SkillRouter, type RoutingRequest } from './skills/skill.router.js';
export { Skill, type SkillOptions } from './skills/skill.decorator.js';
export type { ListCursor } from './store/cursor.js';
export { MemoryTaskStore } from './store/memory/memory-task.store.js';
export { MemoryPushConfigStore } from './store/memory/memory-push-config.store.js';
export type { PushConfigKey, PushConfigRecord } from './store/push-config.record.js';
export { PushConfigStore } from './store/push-config.store.js';
export type { ClaimedPushConfig, PushClaim, PushCursors } from './store/push-cursors.js';
export type { ChannelListener, StoreChannel } from './store/store-channel.js';
export { statusTime } from './store/status-time.js';
export { PushConfigConflictError, TaskRecordConflictError, TaskRecordNotFoundError } from './store/store-errors.js';
export type { TaskRecord } from './store/task-record.js';
export { applyUpdate } from './store/task-reducer.js';
export type { ArtifactUpdate, MessageUpdate, StatusUpdate, TaskUpdate, VersionedUpdate } from './store/task-update.js';
export {
  TaskStore,
  type PushConfigDraft,
  type TaskAppend,
  type TaskDraft,
  type TaskPage,
  type TaskQuery,
  type TaskSettle,
  type TaskWritten,
} from './store/task.store.js';
export type { TaskKey } from './store/task-key.js';
export { PublicTargetPolicy, TargetPolicy, TargetRefusedError, type PublicTargetPolicyOptions } from '#outbound';
export {
  A2AError,
  ContentTypeNotSupportedError,
  dataPart,
  InternalError,
  InvalidParamsError,
  PermissionDeniedError,
  PROTOCOL_VERSION,
  rawBytes,
  rawPart,
  Role,
  TaskNotFoundError,
  TaskState,
  textPart,
  UnauthenticatedError,
  UnsupportedOperationError,
  urlPart,
  type AgentCapabilities,
  type AgentCard,
  type AgentExtension,
  type AgentSkill,
  type Artifact,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type SecurityRequirement,
  type SecurityScheme,
  type SendMessageConfiguration,
  type Task,
  type TaskStatus,
} from '#protocol';
