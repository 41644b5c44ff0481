import type { AgentExtension } from '#protocol';

/** The injection token of the {@link A2ASettings}. */
export const A2A_SETTINGS = Symbol('A2A_SETTINGS');

/** The options with all defaults filled in. Durations are milliseconds, sizes bytes; `Infinity` lifts a bound. */
export interface A2ASettings {
  /** The endpoint's path below the host's global prefix. */
  readonly path: string;
  /** What the listener serves. */
  readonly role: 'all' | 'agent';
  /** Full paths that are served in every role. */
  readonly healthPaths: readonly string[];
  readonly maxBodyBytes: number;
  readonly allowedOrigins: readonly string[];
  readonly versionPolicy: 'lenient' | 'strict';
  readonly extensions: readonly AgentExtension[];
  /** The value of `WWW-Authenticate` on a 401. */
  readonly challenge: string | undefined;
  /** Whether the card promises an extended one. */
  readonly extendedAgentCard: boolean;
  /** The tenant that the card's interface advertises. */
  readonly interfaceTenant: string | undefined;
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
  readonly maxHistory: number;
  readonly maxTaskBytes: number;
  readonly taskTimeout: number;
  readonly storeTimeout: number;
  readonly lease: number;
  readonly maxConcurrentRunsPerOwner: number;
  readonly streaming: boolean;
  readonly closeOnInterrupted: 'send' | 'always' | 'never';
  readonly keepAlive: number;
  readonly writeDeadline: number;
  readonly maxStreamSeatsPerOwner: number;
  readonly streamSeatOverflow: 'refuse' | 'evict-oldest';
  readonly skillMetadataKey: string;
  readonly enforceInputModes: boolean;
  /** The media types that skills without input modes of their own take. */
  readonly defaultInputModes: readonly string[];
  readonly terminalTaskRetention: number;
  readonly pausedTaskRetention: number;
  readonly drainMs: number;
  readonly shutdownTimeout: number;
}
