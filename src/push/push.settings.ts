import type { Agent } from 'node:http';
import { NOTIFICATION_TOKEN_HEADER } from '#protocol';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { countOr, durationOr, positiveOr } from '../context/numbers.js';
import type { PushOptions } from './push.options.js';

/** The injection token of the {@link PushSettings}. */
export const A2A_PUSH_SETTINGS = Symbol('A2A_PUSH_SETTINGS');

/** The options with all defaults filled in. Durations are milliseconds. */
export interface PushSettings {
  /** Whether there are push notifications at all. */
  readonly isEnabled: boolean;
  readonly isDurable: boolean;
  readonly allowPrivate: boolean;
  readonly requireHttps: boolean;
  readonly agent: Agent | undefined;
  readonly timeout: number;
  readonly maxConfigsPerTask: number;
  readonly maxInFlight: number;
  readonly maxInFlightPerOwner: number;
  readonly maxWaiting: number;
  readonly maxWaitingPerOwner: number;
  readonly tokenHeaders: readonly string[];
  readonly revealCredentials: boolean;
  /** The first one encrypts, all decrypt; none: nothing is encrypted. */
  readonly encryptionKeys: readonly Buffer[];
  readonly isSigned: boolean;
  readonly minRetryDelay: number;
  readonly maxRetryDelay: number;
  readonly giveUpAfter: number;
}

const KEY_BYTES = 32;
const HOUR = 3_600_000;

/**
 * Fills in the defaults.
 *
 * @throws {A2AConfigurationError} for a header that is none, or a key of another size
 */
export function resolvePushOptions(options: PushOptions | false = {}): PushSettings {
  const given = options || {};
  const { tokenHeaders = [NOTIFICATION_TOKEN_HEADER], encryptionKeys = [], retry = {} } = given;
  return {
    isEnabled: options !== false,
    isDurable: given.delivery === 'durable',
    allowPrivate: given.allowPrivate ?? false,
    requireHttps: given.requireHttps ?? false,
    agent: given.agent,
    timeout: durationOr(given.timeoutMs, 10_000),
    maxConfigsPerTask: countOr(given.maxConfigsPerTask, 8),
    maxInFlight: countOr(given.maxInFlight, 16),
    maxInFlightPerOwner: countOr(given.maxInFlightPerOwner, 4),
    maxWaiting: countOr(given.maxWaiting, 16),
    maxWaitingPerOwner: countOr(given.maxWaitingPerOwner, 4),
    tokenHeaders: tokenHeaders.map(checkedHeader),
    revealCredentials: given.revealCredentials ?? false,
    encryptionKeys: encryptionKeys.map(checkedKey),
    isSigned: given.signed ?? false,
    minRetryDelay: durationOr(retry.minDelayMs, 1_000),
    maxRetryDelay: durationOr(retry.maxDelayMs, 300_000),
    giveUpAfter: positiveOr(retry.giveUpAfterMs, 24 * HOUR),
  };
}

/** Headers that say how a request is to be read, or that have another content here. */
const TAKEN = /^(?:authorization|connection|content-\w+|host|te|trailer|transfer-encoding|upgrade)$/iu;

function checkedHeader(name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/u.test(name) && !TAKEN.test(name)) return name;
  throw new A2AConfigurationError(
    `push.tokenHeaders: ${JSON.stringify(name)} cannot carry a token. Name a header of its own, such as "X-Notification-Token".`,
  );
}

function checkedKey(key: string | Uint8Array, index: number): Buffer {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : Buffer.from(key);
  if (bytes.length === KEY_BYTES) return bytes;
  throw new A2AConfigurationError(
    `push.encryptionKeys[${index}] has ${bytes.length} bytes, not ${KEY_BYTES}. Make one with \`openssl rand -base64 ${KEY_BYTES}\`.`,
  );
}
