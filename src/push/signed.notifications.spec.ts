import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose';
import { ManualClock } from '../../test/support/manual-clock.js';
import { keyPair, pemOf } from '../../test/support/signing-keys.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { loadSigningKeys } from '../signing/load-signing-keys.js';
import { resolvePushOptions } from './push.settings.js';
import { notificationSigner, SignedNotifications } from './signed.notifications.js';

const HEADER = 'A2A-Notification-Signature';
const { privateKey, publicKey } = keyPair('ES256');
const load = () => loadSigningKeys({ keys: [{ key: pemOf(privateKey), kid: 'k' }] });

describe('signed notifications (§13.2, S-11)', () => {
  it('carry a JWT of a type of its own, over task, time and body', async () => {
    const clock = new ManualClock(1_750_000_000_999);
    const body = '{"text":"äöü €"}';
    const headers = await new SignedNotifications(await load(), clock).headers('task 1', body);
    expect(Object.keys(headers)).toEqual([HEADER]);
    const jwt = headers[HEADER]!;
    await expect(compactVerify(jwt, publicKey)).resolves.toBeDefined();
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: 'ES256', kid: 'k', typ: 'a2a-notification+jwt' });
    expect(decodeJwt(jwt)).toEqual({
      iat: 1_750_000_000,
      jti: expect.stringMatching(/^[\da-f-]{36}$/u),
      task_id: 'task 1',
      body_sha256: createHash('sha256').update(Buffer.from(body, 'utf8')).digest('base64url'),
    });
  });

  it('have another jti at each attempt, so that a retry is no replay', async () => {
    const signer = new SignedNotifications(await load(), new ManualClock());
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => decodeJwt((await signer.headers('t', '{}'))[HEADER]!).jti),
    );
    expect(new Set(ids).size).toBe(20);
  });
});

describe('the option push.signed', () => {
  it('is off by default', async () => {
    expect(notificationSigner(resolvePushOptions(), await load(), new ManualClock())).toBeUndefined();
    expect(notificationSigner(resolvePushOptions(false), await load(), new ManualClock())).toBeUndefined();
  });

  it('makes a signer of the keys', async () => {
    const settings = resolvePushOptions({ signed: true });
    expect(notificationSigner(settings, await load(), new ManualClock())).toBeInstanceOf(SignedNotifications);
  });

  it('without keys is an error that names the cure', async () => {
    const none = await loadSigningKeys(undefined);
    const make = () => notificationSigner(resolvePushOptions({ signed: true }), none, new ManualClock());
    expect(make).toThrow(A2AConfigurationError);
    expect(make).toThrow('Set signing.keys');
  });
});
