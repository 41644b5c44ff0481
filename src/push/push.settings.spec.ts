import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { resolvePushOptions } from './push.settings.js';

describe('The settings of push notifications', () => {
  it('have the defaults that the options promise (PCFG-07, PUSH-07, PUSH-08, R-18)', () => {
    expect(resolvePushOptions()).toEqual({
      isEnabled: true,
      isDurable: false,
      allowPrivate: false,
      requireHttps: false,
      agent: undefined,
      timeout: 10_000,
      maxConfigsPerTask: 8,
      maxInFlight: 16,
      maxInFlightPerOwner: 4,
      maxWaiting: 16,
      maxWaitingPerOwner: 4,
      tokenHeaders: ['A2A-Notification-Token'],
      revealCredentials: false,
      encryptionKeys: [],
      isSigned: false,
      minRetryDelay: 1_000,
      maxRetryDelay: 300_000,
      giveUpAfter: 86_400_000,
    });
  });

  it('are off with false alone (PUSH-12)', () => {
    expect(resolvePushOptions(false).isEnabled).toBe(false);
    expect(resolvePushOptions({}).isEnabled).toBe(true);
  });

  it.each([0, -1, NaN])('take %p for the default', (value) => {
    const { maxConfigsPerTask, maxInFlight, timeout } = resolvePushOptions({
      ...{ maxConfigsPerTask: value, maxInFlight: value, timeoutMs: value },
    });
    expect({ maxConfigsPerTask, maxInFlight, timeout }).toEqual({
      ...{ maxConfigsPerTask: 8, maxInFlight: 16, timeout: 10_000 },
    });
  });

  it('bound with whole numbers that a database takes (PCFG-07)', () => {
    expect(resolvePushOptions({ maxConfigsPerTask: 0.5 }).maxConfigsPerTask).toBe(1);
    expect(resolvePushOptions({ maxConfigsPerTask: Infinity }).maxConfigsPerTask).toBe(2 ** 31 - 1);
    expect(resolvePushOptions({ maxInFlight: Infinity }).maxInFlight).toBe(2 ** 31 - 1);
  });

  it.each(['', 'A B', 'A:', 'A\r\nB', 'Ä'])('refuse %j as the name of a header (R-18)', (name) => {
    expect(() => resolvePushOptions({ tokenHeaders: ['A2A-Notification-Token', name] })).toThrow(
      /^push\.tokenHeaders: .* cannot carry a token\./u,
    );
  });

  it('take keys as bytes and as base64 (B-97)', () => {
    const bytes = randomBytes(32);
    const { encryptionKeys } = resolvePushOptions({
      encryptionKeys: [bytes.toString('base64'), new Uint8Array(bytes)],
    });
    expect(encryptionKeys).toEqual([bytes, bytes]);
  });

  it.each([0, 16, 31, 33, 64])('refuse a key of %i bytes, and do not show it (B-97, S-06)', (size) => {
    const key = Buffer.alloc(size, 'marker').toString('base64');
    const attempt = () => resolvePushOptions({ encryptionKeys: [randomBytes(32), key] });
    expect(attempt).toThrow(A2AConfigurationError);
    expect(attempt).toThrow(`push.encryptionKeys[1] has ${size} bytes, not 32. Make one with \`openssl`);
    if (size > 0) expect(attempt).not.toThrow(key);
  });
});
