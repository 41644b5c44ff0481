import { createHash, createHmac, randomUUID, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { TrustedJwk } from '#client';
import { jwkOf } from './signing-keys.js';

/** What a notification differs in from a good one. `undefined` takes a claim or a member of the header away. */
export interface Forgery {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** An event about a task, as bytes. */
export function eventBytes(taskId: string, fields: object = {}): Buffer {
  const status = { state: 'TASK_STATE_WORKING' };
  return Buffer.from(JSON.stringify({ statusUpdate: { taskId, contextId: 'ä', status }, ...fields }));
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** Signs a notification with the key of kid `k`. */
export function signatureOf(
  key: KeyObject | Uint8Array,
  { taskId, body, now }: { readonly taskId: string; readonly body: Uint8Array; readonly now: number },
  { header = {}, claims = {} }: Forgery = {},
): Promise<string> {
  return new SignJWT({
    iat: Math.floor(now / 1_000),
    jti: randomUUID(),
    task_id: taskId,
    body_sha256: sha256(body),
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'a2a-notification+jwt', ...header })
    .sign(key);
}

/** Puts another header before the payload of a JWT, and signs it by hand: not at all, or with a shared secret. */
export function rewritten(jwt: string, header: object, secret?: string | Uint8Array): string {
  const [, payload = ''] = jwt.split('.');
  const input = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}`;
  const signature = secret === undefined ? '' : createHmac('sha256', secret).update(input).digest('base64url');
  return `${input}.${signature}`;
}

/** A public key as a receiver trusts it. */
export function trusted(key: KeyObject, fields: Readonly<Record<string, unknown>> = { kid: 'k' }): TrustedJwk {
  return { ...jwkOf(key), ...fields };
}
