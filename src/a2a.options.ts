import { validateHeaderValue } from 'node:http';
import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import type { AgentCard, AgentExtension } from '#protocol';
import type { DatabaseOptions } from './a2a.database.js';
import { resolveHealthPaths, resolveRole, type A2ARole } from './bindings/role/role.js';
import { assertCardOptions, DEFAULT_MODES, type CardOptions } from './card/card.options.js';
import type { ExtendedCardAnswer, ExtendedCardContext, ExtendedCardProvider } from './card/extended-card.provider.js';
import { assertProtectedResource, type ProtectedResourceOptions } from './card/protected-resource.options.js';
import type { Clock } from './context/clock.js';
import { A2AConfigurationError } from './context/configuration.error.js';
import type { IdGenerator } from './context/id-generator.js';
import { boundOr, durationOr, MAX_DELAY, positiveOr } from './context/numbers.js';
import type { PortOption } from './context/port-option.js';
import type { PrincipalAnswer } from './context/principal.js';
import type { A2ASettings } from './context/settings.js';
import type { PushOptions } from './push/push.options.js';
import type { PrincipalResolver } from './security/principal.resolver.js';
import type { SigningOptions } from './signing/signing.options.js';
import type { SkillDefinition } from './skills/registered-skill.js';
import type { RoutingRequest, SkillRouter } from './skills/skill.router.js';
import type { TaskStore } from './store/task.store.js';

/**
 * The options of the module. Numbers that are zero or negative stand for the default, or lift a bound where that is said.
 *
 * @example
 * A2AModule.forRoot({
 *   guards: [AuthGuard('jwt')],
 *   card: { name: 'Invoices', description: 'Answers questions about invoices.', url: 'https://invoices.example.com' },
 *   principal: (request) => ({ owner: request.user?.sub, scopes: request.user?.scopes ?? [] }),
 * })
 */
export interface A2AOptions {
  readonly card: CardOptions;
  /**
   * Says who calls. There is no default: tasks always have an owner.
   *
   * The request is that of the host's HTTP adapter.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the host's own request type, whatever it is
  readonly principal: ((request: any) => PrincipalReturn) | PortOption<PrincipalResolver>;
  /** Skills beside those found on providers; listed before them. @default [] */
  readonly skills?: readonly SkillDefinition[];
  /** @default a store on the host's DataSource when it has one, else in memory */
  readonly store?: PortOption<TaskStore>;
  /** Picks the skill for a message. @default by name */
  readonly router?:
    ((request: RoutingRequest) => string | undefined | Promise<string | undefined>) | PortOption<SkillRouter>;
  /** Browser origins that may call beside the endpoint's own, such as `https://app.example.com`. @default [] */
  readonly allowedOrigins?: readonly string[];
  /** Whether a call without `A2A-Version` is served as 1.0, or refused. @default 'lenient' */
  readonly versionPolicy?: 'lenient' | 'strict';
  /** Extensions that the agent supports, or requires. @default [] */
  readonly extensions?: readonly AgentExtension[];
  /** The `WWW-Authenticate` of a 401, such as `Bearer`. @default none, or what `protectedResource` makes of it */
  readonly challenge?: string;
  /** Tells clients where to get tokens, by OAuth 2 protected resource metadata (RFC 9728). @default nothing is told */
  readonly protectedResource?: ProtectedResourceOptions;
  /**
   * Gives authenticated callers a card of their own. The card then promises it; nothing for a caller is -32007.
   *
   * @default none, and the card promises none
   */
  readonly extendedCard?:
    | ((card: AgentCard, context: ExtendedCardContext) => ExtendedCardAnswer | Promise<ExtendedCardAnswer>)
    | PortOption<ExtendedCardProvider>;
  /** Bytes. @default 1 MiB */
  readonly maxBodyBytes?: number;
  /** Bytes that one task may take; negative: no bound. @default 16 MiB */
  readonly maxTaskBytes?: number;
  /** Messages that a task's history keeps. @default 200 */
  readonly maxHistory?: number;
  /** @default 50 */
  readonly defaultPageSize?: number;
  /** @default 100, as the specification has it */
  readonly maxPageSize?: number;
  /** How long one run of a skill may take, in milliseconds. @default 5 minutes */
  readonly taskTimeout?: number;
  /** How long the store may take over one operation, in milliseconds. @default 30 seconds */
  readonly storeTimeout?: number;
  /**
   * For how long a process is believed to live that is not heard of, in milliseconds. What it ran is failed then by another
   * one, or by itself when it is back. For stores that several processes may share. @default 30 seconds
   */
  readonly lease?: number;
  /** Runs that one owner may have at once; negative: no bound. @default 16 */
  readonly maxConcurrentRunsPerOwner?: number;
  /** Whether and how tasks are streamed; `false`: not at all, and the card says so. @default { } */
  readonly streaming?:
    | false
    | {
        /** Which streams end when the task is paused: those of a send, all, or none. @default 'send' */
        readonly closeOnInterrupted?: 'send' | 'always' | 'never';
        /** How often an idle stream shows that it lives, and every caller is checked again, in milliseconds. @default 15 seconds */
        readonly keepAliveMs?: number;
        /** How long a reader may take over what was sent, in milliseconds. @default 10 seconds */
        readonly writeDeadlineMs?: number;
      };
  /** Streams that one owner may have open at once, in this process; negative: no bound. @default 16 */
  readonly maxStreamSeatsPerOwner?: number;
  /** What an owner's stream past the bound does: it is refused, or takes the place of the oldest. @default 'refuse' */
  readonly streamSeatOverflow?: 'refuse' | 'evict-oldest';
  /** Keys by which clients can tell that the card, and notifications, come from the agent. @default nothing is signed */
  readonly signing?: SigningOptions;
  /** Whether and how webhooks are notified; `false`: not at all, and the card says so. @default { } */
  readonly push?: PushOptions | false;
  /** Settled tasks kept per owner, tenant and scope set; negative: the host's own affair. @default 64 */
  readonly terminalTaskRetention?: number;
  /** Paused tasks kept per owner, tenant and scope set; the oldest beyond are cancelled. Negative: no bound. @default 64 */
  readonly pausedTaskRetention?: number;
  /** The key under which a task's metadata names its skill. @default 'a2a.skill' */
  readonly skillMetadataKey?: string;
  /** Whether parts of a media type that the skill does not take are refused. @default true */
  readonly enforceInputModes?: boolean;
  readonly shutdown?: {
    /** How long live runs may finish by themselves, in milliseconds. @default 10 seconds */
    readonly drainMs?: number;
    /** How long shutting down may take altogether, in milliseconds. @default 15 seconds */
    readonly timeoutMs?: number;
  };
  /**
   * What the listener of this process serves: the whole application, or the agent and health alone, with 404 for everything
   * else. @default the environment variable `A2A_ROLE`, else 'all'
   */
  readonly role?: A2ARole;
  /**
   * Full paths, the global prefix included, at which the host tells of its health. The role `agent` serves them to the
   * letter, beside the agent. @default ['/health', '/health/live', '/health/ready']
   */
  readonly healthPaths?: readonly string[];
  /** Tells the time. @default the machine's clock */
  readonly clock?: Clock;
  /** Mints ids. @default UUIDs */
  readonly ids?: IdGenerator;
}

type PrincipalReturn = PrincipalAnswer | null | undefined | Promise<PrincipalAnswer | null | undefined>;

/** What has to be known when the module is defined, before any option is resolved. */
export interface A2AModuleExtras {
  /** The endpoint's path, below the host's global prefix. @default '/a2a' */
  readonly path?: string;
  /** The host's guards, run on every call after the protocol's own checks. @default [] */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[];
  /** Replaces the guards that note owner, tenant and scopes as `request.a2a`. @default the three of this package */
  readonly principalGuards?: readonly (Type<CanActivate> | CanActivate)[];
  /** Modules that the guards, and classes among the options, take their dependencies from. @default [] */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  /** Which DataSource keeps the tasks when no `store` is given; `false`: none. @default the default one, if there is one */
  readonly database?: DatabaseOptions | false;
  /** Whether the exports of the module can be injected everywhere. @default false */
  readonly isGlobal?: boolean;
}

export const DEFAULT_PATH = '/a2a';

const MINUTE = 60_000;
const MIB = 1024 * 1024;

/**
 * Fills in the defaults.
 *
 * @throws {A2AConfigurationError} for options that contradict themselves or lack something
 */
export function resolveOptions(options: A2AOptions, path: string): A2ASettings {
  assertComplete(options);
  const streaming = options.streaming || {};
  const settings: A2ASettings = {
    path: checkedPath(path),
    role: resolveRole(options.role, process.env),
    healthPaths: resolveHealthPaths(options.healthPaths),
    maxBodyBytes: positiveOr(options.maxBodyBytes, MIB),
    allowedOrigins: [...(options.allowedOrigins ?? [])],
    versionPolicy: options.versionPolicy ?? 'lenient',
    extensions: structuredClone(options.extensions ?? []),
    challenge: checkedChallenge(options.challenge),
    extendedAgentCard: options.extendedCard !== undefined,
    interfaceTenant: options.card.tenant,
    defaultPageSize: positiveOr(options.defaultPageSize, 50),
    maxPageSize: positiveOr(options.maxPageSize, 100),
    maxHistory: positiveOr(options.maxHistory, 200),
    maxTaskBytes: boundOr(options.maxTaskBytes, 16 * MIB),
    taskTimeout: durationOr(options.taskTimeout, 5 * MINUTE),
    storeTimeout: durationOr(options.storeTimeout, MINUTE / 2),
    lease: durationOr(options.lease, MINUTE / 2),
    maxConcurrentRunsPerOwner: boundOr(options.maxConcurrentRunsPerOwner, 16),
    terminalTaskRetention: boundOr(options.terminalTaskRetention, 64),
    pausedTaskRetention: boundOr(options.pausedTaskRetention, 64),
    streaming: options.streaming !== false,
    closeOnInterrupted: streaming.closeOnInterrupted ?? 'send',
    keepAlive: durationOr(streaming.keepAliveMs, 15_000),
    writeDeadline: durationOr(streaming.writeDeadlineMs, 10_000),
    maxStreamSeatsPerOwner: boundOr(options.maxStreamSeatsPerOwner, 16),
    streamSeatOverflow: options.streamSeatOverflow ?? 'refuse',
    skillMetadataKey: options.skillMetadataKey ?? 'a2a.skill',
    enforceInputModes: options.enforceInputModes ?? true,
    defaultInputModes: options.card.defaultInputModes ?? DEFAULT_MODES,
    drainMs: Math.min(Math.max(0, options.shutdown?.drainMs ?? 10_000), MAX_DELAY),
    shutdownTimeout: durationOr(options.shutdown?.timeoutMs, 15_000),
  };
  if (settings.defaultPageSize > settings.maxPageSize) {
    throw new A2AConfigurationError(
      `defaultPageSize (${settings.defaultPageSize}) is larger than maxPageSize (${settings.maxPageSize}). Lower the one or raise the other.`,
    );
  }
  return settings;
}

/** JavaScript callers, and casts, can leave out what the types demand. */
function assertComplete({ principal, card, protectedResource }: Partial<A2AOptions>): void {
  if (!principal) {
    throw new A2AConfigurationError(
      'The option `principal` is missing: every task has an owner. Pass a function that takes the owner from the request, such as `(request) => ({ owner: request.user?.sub })`.',
    );
  }
  assertCardOptions(card ?? ({} as CardOptions));
  if (protectedResource) assertProtectedResource(protectedResource);
}

function checkedChallenge(challenge: string | undefined): string | undefined {
  if (challenge === undefined) return undefined;
  try {
    validateHeaderValue('WWW-Authenticate', challenge);
  } catch {
    throw new A2AConfigurationError(
      `The option \`challenge\` is ${JSON.stringify(challenge)}, which no header can carry. Use Latin-1 characters in one line, such as 'Bearer realm="invoices"'.`,
    );
  }
  return challenge;
}

function checkedPath(path: string): string {
  if (!/^(?:\/[\w.~-]+)+$/u.test(path)) {
    throw new A2AConfigurationError(
      `The path ${JSON.stringify(path)} cannot be served. It must start with "/" and name plain segments, such as "/a2a".`,
    );
  }
  return path;
}
