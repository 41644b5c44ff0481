import { createHash } from 'node:crypto';
import { NOTIFICATION_SIGNATURE_HEADER, NOTIFICATION_TOKEN_HEADER, type StreamResponse } from '#protocol';
import { jwksFetch } from '../jwks-fetch.js';
import { CachedKeySet } from './cached-key-set.js';
import { MemoryReplayStore } from './memory-replay-store.js';
import { headerOf, type NotificationHeaders } from './notification-headers.js';
import { NotificationRefusedError } from './notification-refused-error.js';
import type { NotificationVerifierOptions } from './notification-verifier.options.js';
import { readEvent } from './notified-event.js';
import type { ReplayStore } from './replay-store.js';
import { isSameSecret } from './secret.js';
import { SignatureVerifier, type SignedClaims } from './signature-verifier.js';

/** A notification as it arrived. */
export interface NotificationRequest {
  readonly headers: NotificationHeaders;
  /**
   * The body, byte for byte as it was sent. A function is called only when the headers are those of a known sender, so
   * that nobody else makes us read.
   */
  readonly body: Uint8Array | (() => Promise<Uint8Array>);
}

/** A notification of a known sender, about a task of ours. */
export interface VerifiedNotification {
  readonly taskId: string;
  readonly event: StreamResponse;
  /** Another one for each attempt; undefined when the notification is not signed. */
  readonly jti?: string;
}

const DEFAULT_MAX_AGE_MS = 300_000;
const DEFAULT_CLOCK_TOLERANCE_MS = 30_000;

/**
 * Verifies notifications at the receiver's side.
 *
 * - Who sends is settled first: what strangers send is not read where the headers suffice to tell, is not remembered, and
 *   learns nothing about tasks.
 * - A signed notification is accepted once, and only while it is young. Without a signature nothing tells a replay from a
 *   retry: handle those notifications so that twice is as good as once.
 * - It is remembered last. When what comes after it fails, the agent tries again with another signature.
 *
 * @see A2A v1.0 §4.3.3 Push Notification Payload, §13.2 Push Notification Security
 */
export class NotificationVerifier {
  private readonly signatures: SignatureVerifier | undefined;
  private readonly requireSignature: boolean;
  private readonly tokenHeader: string;
  private readonly maxAge: number;
  private readonly clockTolerance: number;
  private readonly replays: ReplayStore;
  private readonly now: () => number;

  /** @throws {TypeError} When the options make no sense, or would believe everybody. */
  constructor(private readonly options: NotificationVerifierOptions) {
    const { token, keys, jwksUrl, now = Date.now } = options;
    const hasKeys = keys !== undefined || jwksUrl !== undefined;
    this.requireSignature = options.requireSignature ?? hasKeys;
    if (this.requireSignature && !hasKeys) throw new TypeError('requireSignature: give keys or jwksUrl');
    if (token === '' || (token === undefined && !this.requireSignature)) {
      throw new TypeError('Nothing tells who sends a notification: give a token, or keys and requireSignature');
    }
    this.now = now;
    const fetched =
      jwksUrl === undefined ? undefined : new CachedKeySet(jwksUrl, options.fetchJwks ?? jwksFetch(), now);
    this.signatures = hasKeys ? new SignatureVerifier(keys, fetched) : undefined;
    this.tokenHeader = options.tokenHeader ?? NOTIFICATION_TOKEN_HEADER;
    this.maxAge = duration('maxAgeMs', options.maxAgeMs ?? DEFAULT_MAX_AGE_MS);
    this.clockTolerance = duration('clockToleranceMs', options.clockToleranceMs ?? DEFAULT_CLOCK_TOLERANCE_MS);
    this.replays = options.replays ?? new MemoryReplayStore({ now });
  }

  /**
   * @throws {NotificationRefusedError} When it must not be acted upon.
   * @throws {ReplayStoreFullError} When the memory of accepted notifications is full.
   * @throws Whatever `isExpected`, `token`, `body` and `replays` throw.
   */
  async verify({ headers, body }: NotificationRequest): Promise<VerifiedNotification> {
    const given = this.givenToken(headers);
    const claims = await this.verifySignature(headers);
    const bytes = typeof body === 'function' ? await body() : body;
    if (claims && claims.bodyHash !== hashOf(bytes)) {
      throw new NotificationRefusedError('body', 'The signature is over another body.');
    }
    const { taskId, event } = readEvent(bytes);
    await this.checkTokenOfTask(given, taskId);
    if (claims && claims.taskId !== taskId) {
      throw new NotificationRefusedError('task', 'The signature is over another task.');
    }
    if (!(await this.options.isExpected(taskId))) {
      throw new NotificationRefusedError('task', 'The task is none of ours.');
    }
    if (claims) await this.remember(claims);
    return { taskId, event, ...(claims && { jti: claims.jti }) };
  }

  /** The token that came, checked as far as that is possible before the task is known. */
  private givenToken(headers: NotificationHeaders): string | undefined {
    const { token } = this.options;
    if (token === undefined) return undefined;
    const given = headerOf(headers, this.tokenHeader);
    if (given === undefined || (typeof token === 'string' && !isSameSecret(given, token))) throw wrongToken();
    return given;
  }

  private async checkTokenOfTask(given: string | undefined, taskId: string): Promise<void> {
    const { token } = this.options;
    if (typeof token !== 'function' || given === undefined) return;
    const expected = (await token(taskId)) ?? '';
    // It is compared in any case: a task that is not ours takes as long as one that is.
    if (!isSameSecret(given, expected) || expected === '') throw wrongToken();
  }

  private async verifySignature(headers: NotificationHeaders): Promise<SignedClaims | undefined> {
    if (this.signatures === undefined) return undefined;
    const jwt = headerOf(headers, NOTIFICATION_SIGNATURE_HEADER);
    if (jwt === undefined) {
      if (this.requireSignature) throw new NotificationRefusedError('unsigned', 'The notification is not signed.');
      return undefined;
    }
    const claims = await this.signatures.verify(jwt);
    this.assertFresh(claims);
    return claims;
  }

  private assertFresh({ issuedAt }: SignedClaims): void {
    const age = this.now() - issuedAt;
    if (age > this.maxAge || age < -this.clockTolerance) {
      throw new NotificationRefusedError('expired', 'The notification was signed too long ago, or in the future.');
    }
  }

  private async remember(claims: SignedClaims): Promise<void> {
    // Its body may have been a long time coming, and what is too old is remembered by nobody.
    this.assertFresh(claims);
    const { jti, issuedAt } = claims;
    if (await this.replays.remember(jti, issuedAt + this.maxAge)) return;
    throw new NotificationRefusedError('replayed', 'The notification has been here before.');
  }
}

function duration(name: string, value: number): number {
  if (value >= 0 && Number.isFinite(value)) return value;
  throw new TypeError(`${name} has to be a number of milliseconds`);
}

function wrongToken(): NotificationRefusedError {
  return new NotificationRefusedError('token', 'The token is missing, or another.');
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
