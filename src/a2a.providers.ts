import type { DynamicModule, FactoryProvider, Provider } from '@nestjs/common';
import { DiscoveryModule, ModuleRef } from '@nestjs/core';
import { A2A_OPTIONS } from './a2a.constants.js';
import { CARD_PROVIDERS } from './a2a.card.js';
import { A2A_DATA_SOURCE, databaseModule, type DatabaseOptions } from './a2a.database.js';
import { PublicTargetPolicy, TargetPolicy } from '#outbound';
import { DEFAULT_PATH, resolveOptions, type A2AModuleExtras, type A2AOptions } from './a2a.options.js';
import { A2AService } from './a2a.service.js';
import { BodyReader } from './bindings/body/body.reader.js';
import { EndpointPath } from './bindings/body/endpoint-path.js';
import { EntryGate } from './bindings/body/entry.gate.js';
import { EntryMiddleware } from './bindings/body/entry.middleware.js';
import { OriginPolicy } from './bindings/body/origin.policy.js';
import { CallFactory } from './bindings/jsonrpc/call.factory.js';
import { createJsonRpcController } from './bindings/jsonrpc/jsonrpc.controller.js';
import { RpcDispatcher } from './bindings/jsonrpc/rpc.dispatcher.js';
import { callerCheckProviders } from './bindings/caller-check.js';
import { AgentPaths } from './bindings/role/agent-paths.js';
import { RoleGate } from './bindings/role/role.gate.js';
import { RouteConflictDetector } from './bindings/route-conflict.detector.js';
import { StreamRelay } from './bindings/sse/stream-relay.js';
import { A2A_CARD_OPTIONS } from './card/card.options.js';
import { ExtendedCardProvider, NoExtendedCard } from './card/extended-card.provider.js';
import { A2A_PROTECTED_RESOURCE } from './card/protected-resource.options.js';
import { Clock, SystemClock } from './context/clock.js';
import { IdGenerator, UuidGenerator } from './context/id-generator.js';
import type { PortOption } from './context/port-option.js';
import { A2A_SETTINGS, type A2ASettings } from './context/settings.js';
import { TaskEventBus } from './events/task-event.bus.js';
import { SilentEventRelay, TaskEventRelay } from './events/task-event.relay.js';
import { StoreEventRelay } from './events/store-event.relay.js';
import type { LoggingStore } from './events/task-watch.js';
import { existingProvider } from './existing-provider.js';
import { TaskFeeds } from './events/task-feeds.js';
import { LostRunSweeper } from './execution/lost-run.sweeper.js';
import { ReplicaHeartbeat } from './execution/replica.heartbeat.js';
import { RunRegistry } from './execution/run.registry.js';
import { PausedTaskRetention } from './execution/paused-task.retention.js';
import { TaskCanceller } from './execution/task.canceller.js';
import { TaskRetention } from './execution/task.retention.js';
import { TaskRunner } from './execution/task.runner.js';
import { CapabilityPolicy } from './operations/capability.policy.js';
import { MessageIntake } from './operations/message.intake.js';
import { MessageService } from './operations/message.service.js';
import { PushConfigService } from './operations/push-config.service.js';
import { RequestHandler } from './operations/request.handler.js';
import { SeatRegistry } from './operations/seat.registry.js';
import { SkillSelector } from './operations/skill.selector.js';
import { StreamService } from './operations/stream.service.js';
import { TaskLister } from './operations/task.lister.js';
import { TaskReader } from './operations/task.reader.js';
import { TaskService } from './operations/task.service.js';
import { PushConfigIntake } from './push/push-config.intake.js';
import { NOTIFICATION_SIGNER, PUSH_DISPATCHER } from './push/push.providers.js';
import { PushSecrets } from './push/push.secrets.js';
import { PushSender } from './push/push.sender.js';
import { A2A_PUSH_SETTINGS, resolvePushOptions } from './push/push.settings.js';
import { OwnerGuard } from './security/owner.guard.js';
import { PrincipalResolver } from './security/principal.resolver.js';
import { PrincipalService } from './security/principal.service.js';
import { ScopeGuard } from './security/scope.guard.js';
import { TenantGuard } from './security/tenant.guard.js';
import { loadSigningKeys } from './signing/load-signing-keys.js';
import { SigningKeys } from './signing/signing.keys.js';
import { SkillAccessor } from './skills/skill.accessor.js';
import { SkillExplorer } from './skills/skill.explorer.js';
import { SkillInvoker } from './skills/skill.invoker.js';
import { A2A_SKILL_DEFINITIONS, SkillOrchestrator } from './skills/skill.orchestrator.js';
import { SkillRegistry } from './skills/skill.registry.js';
import { NamedSkillRouter, SkillRouter } from './skills/skill.router.js';
import { MemoryTaskStore } from './store/memory/memory-task.store.js';
import { StoreProbe } from './store/store-probe.js';
import { TaskStore } from './store/task.store.js';

/** Adds what the extras ask for to the module that the options define. */
export function extendDefinition(definition: DynamicModule, extras: A2AModuleExtras): DynamicModule {
  const { path = DEFAULT_PATH, guards = [], principalGuards = [OwnerGuard, TenantGuard, ScopeGuard] } = extras;
  return {
    ...definition,
    global: extras.isGlobal ?? false,
    imports: [
      ...(definition.imports ?? []),
      DiscoveryModule,
      databaseModule(extras.database ?? {}),
      ...(extras.imports ?? []),
    ],
    controllers: [createJsonRpcController(path, guards, principalGuards)],
    providers: [
      ...(definition.providers ?? []),
      ...portProviders(path),
      storeProvider(extras.database),
      ...callerCheckProviders([...guards, ...principalGuards]),
      RELAY,
      NOTIFICATION_SIGNER,
      PUSH_DISPATCHER,
      ...CARD_PROVIDERS,
      ...SERVICES,
    ],
    exports: [A2AService, TaskStore, PrincipalService, SkillRegistry],
  };
}

const SERVICES: readonly Provider[] = [
  A2AService,
  AgentPaths,
  BodyReader,
  CallFactory,
  CapabilityPolicy,
  EndpointPath,
  EntryGate,
  EntryMiddleware,
  MessageIntake,
  LostRunSweeper,
  MessageService,
  OriginPolicy,
  PausedTaskRetention,
  PrincipalService,
  PushConfigIntake,
  PushConfigService,
  PushSecrets,
  PushSender,
  ReplicaHeartbeat,
  RequestHandler,
  RoleGate,
  RouteConflictDetector,
  RpcDispatcher,
  RunRegistry,
  SkillAccessor,
  SkillExplorer,
  SkillInvoker,
  SkillOrchestrator,
  SkillRegistry,
  SeatRegistry,
  SkillSelector,
  StoreProbe,
  StreamRelay,
  StreamService,
  TaskCanceller,
  TaskEventBus,
  TaskFeeds,
  TaskLister,
  TaskReader,
  TaskRetention,
  TaskRunner,
  TaskService,
];

/** What the options decide: settings, and the ports that the host may fill. */
function portProviders(path: string): Provider[] {
  return [
    fromOptions(A2A_SETTINGS, (options) => resolveOptions(options, path)),
    fromOptions(A2A_CARD_OPTIONS, ({ card }) => card),
    fromOptions(SigningKeys, ({ signing }) => loadSigningKeys(signing)),
    fromOptions(A2A_PUSH_SETTINGS, ({ push }) => resolvePushOptions(push)),
    fromOptions(TargetPolicy, ({ push }, modules) => {
      const { policy, allowPrivate = false, requireHttps = false } = push || {};
      return policy === undefined
        ? new PublicTargetPolicy({ allowPrivate, requireHttps })
        : resolvePort(policy, modules);
    }),
    fromOptions(A2A_PROTECTED_RESOURCE, ({ protectedResource }) => protectedResource),
    fromOptions(ExtendedCardProvider, ({ extendedCard }, modules) => {
      if (extendedCard === undefined) return new NoExtendedCard();
      return isPort<ExtendedCardProvider>(extendedCard, 'provide')
        ? resolvePort(extendedCard, modules)
        : { provide: extendedCard };
    }),
    fromOptions(A2A_SKILL_DEFINITIONS, ({ skills = [] }) => skills),
    fromOptions(Clock, ({ clock }) => clock ?? new SystemClock()),
    fromOptions(IdGenerator, ({ ids }) => ids ?? new UuidGenerator()),
    fromOptions(PrincipalResolver, ({ principal }, modules) =>
      isPort<PrincipalResolver>(principal, 'resolve') ? resolvePort(principal, modules) : { resolve: principal },
    ),
    fromOptions(SkillRouter, ({ router }, modules) => {
      if (router === undefined) return new NamedSkillRouter();
      return isPort<SkillRouter>(router, 'route') ? resolvePort(router, modules) : { route: router };
    }),
  ];
}

/** The store that the host names, else one on its DataSource, else one in memory. */
function storeProvider(database: DatabaseOptions | false = {}): Provider {
  return {
    provide: TaskStore,
    inject: [A2A_OPTIONS, A2A_SETTINGS, ModuleRef, A2A_DATA_SOURCE],
    useFactory: async (
      { store }: A2AOptions,
      { maxHistory }: A2ASettings,
      modules: ModuleRef,
      dataSource: unknown,
    ): Promise<TaskStore> => {
      if (store !== undefined) return resolvePort(store, modules);
      if (dataSource === undefined || database === false) return new MemoryTaskStore(maxHistory);
      const { openStore } = await import('./store/typeorm/create-store.js');
      return openStore(dataSource as never, { maxHistory, createTables: database.createTables ?? true });
    },
  };
}

/** What brings the updates of other processes here, when the store can tell them. */
const RELAY: FactoryProvider<TaskEventRelay> = {
  provide: TaskEventRelay,
  inject: [TaskEventBus, TaskStore, A2A_SETTINGS],
  useFactory: (bus: TaskEventBus, store: TaskStore, { storeTimeout }: A2ASettings) =>
    isLogging(store) ? new StoreEventRelay(bus, store, storeTimeout) : new SilentEventRelay(),
};

function isLogging(store: TaskStore): store is LoggingStore {
  return store.eventsAfter !== undefined && store.versionsOf !== undefined;
}

function fromOptions<T>(
  provide: FactoryProvider['provide'],
  make: (options: A2AOptions, modules: ModuleRef) => T | Promise<T>,
): Provider {
  return { provide, inject: [A2A_OPTIONS, ModuleRef], useFactory: make };
}

/** Tells a class or an instance from a plain function. */
function isPort<T>(option: unknown, method: string): option is PortOption<T> {
  if (typeof option !== 'function') return true;
  const prototype: unknown = option.prototype;
  return typeof prototype === 'object' && prototype !== null && method in prototype;
}

function resolvePort<T extends object>(option: PortOption<T>, modules: ModuleRef): T | Promise<T> {
  if (typeof option === 'function') return modules.create(option);
  return 'useExisting' in option ? existingProvider(option.useExisting, modules) : option;
}
