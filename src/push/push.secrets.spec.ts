import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pushConfigOf } from '../../test/support/push-configs.js';
import type { PushConfigRecord } from '../store/push-config.record.js';
import { PushSecrets, withoutCredentials } from './push.secrets.js';
import { resolvePushOptions } from './push.settings.js';

const KEY = randomBytes(32);
const OTHER_KEY = randomBytes(32);
const TASK = { id: 'task', owner: 'alice' };

function secretsWith(...encryptionKeys: Buffer[]): PushSecrets {
  return new PushSecrets(resolvePushOptions({ encryptionKeys }));
}

function recordWith(config: Partial<PushConfigRecord['config']>): PushConfigRecord {
  const { config: whole, ...record } = pushConfigOf(TASK);
  const { id, taskId, url } = whole;
  return { ...record, config: { id, taskId, url, ...config } };
}

describe('The secrets of push configs', () => {
  const record = pushConfigOf(TASK, { id: 'c' });
  const { url, token, authentication } = record.config;

  it('are stored as they are without a key (B-97)', () => {
    expect(secretsWith().seal(record)).toEqual(record);
    expect(secretsWith().open(record)).toEqual(record.config);
  });

  it('leave the config when they are sealed, and come back when it is opened (B-97, S-05)', () => {
    const sealed = secretsWith(KEY).seal(record);
    expect(sealed.config).toEqual({ id: 'c', taskId: 'task', url, authentication: { scheme: 'Bearer' } });
    const text = Buffer.from(sealed.sealed!.split('.')[1]!, 'base64url').toString('latin1');
    for (const secret of [token!, authentication!.credentials!]) {
      expect(JSON.stringify(sealed)).not.toContain(secret);
      expect(text).not.toContain(secret);
    }
    expect(secretsWith(KEY).open(sealed)).toEqual(record.config);
  });

  it('come back whatever they are, and whichever of them there is (B-97)', () => {
    const latin1 = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) });
    const some = fc.option(latin1, { nil: undefined });
    fc.assert(
      fc.property(some, some, (aToken, credentials) => {
        const config = {
          ...(aToken !== undefined && { token: aToken }),
          ...(credentials !== undefined && { authentication: { scheme: 'Basic', credentials } }),
        };
        const given = recordWith(config);
        expect(secretsWith(KEY).open(secretsWith(KEY).seal(given))).toEqual(given.config);
      }),
    );
  });

  it('are not sealed when there are none', () => {
    const plain = recordWith({ authentication: { scheme: 'Bearer' } });
    expect(secretsWith(KEY).seal(plain)).toEqual(plain);
  });

  it('look different each time, so that equal ones are not told apart from others (S-05)', () => {
    const secrets = secretsWith(KEY);
    expect(secrets.seal(record).sealed).not.toBe(secrets.seal(record).sealed);
  });

  it.each<[string, (sealed: PushConfigRecord) => PushConfigRecord]>([
    ['config', (sealed) => ({ ...sealed, config: { ...sealed.config, id: 'd' } })],
    ['task', (sealed) => ({ ...sealed, config: { ...sealed.config, taskId: 'another' } })],
    ['owner', (sealed) => ({ ...sealed, owner: 'mallory' })],
  ])('do not open in the row of another %s (S-05)', (_what, move) => {
    const moved = move(secretsWith(KEY).seal(record));
    expect(() => secretsWith(KEY).open(moved)).toThrow();
    expect(secretsWith(KEY).reveal(moved)).toEqual(moved.config);
  });

  it('do not open once any byte has been changed (S-05)', () => {
    const sealed = secretsWith(KEY).seal(record);
    const [id, content] = sealed.sealed!.split('.') as [string, string];
    const bytes = Buffer.from(content, 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      const tampered = { ...sealed, sealed: `${id}.${changed.toString('base64url')}` };
      expect(() => secretsWith(KEY).open(tampered)).toThrow();
    }
  });

  it.each(['', '.', 'x', 'KEY', 'KEY.', 'KEY.AA', 'KEY.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'KEY.%'])(
    'do not open from %j, and the config is shown without them (S-05)',
    (text) => {
      const sealed = secretsWith(KEY).seal(record);
      const broken = { ...sealed, sealed: text.replace('KEY', sealed.sealed!.split('.')[0]!) };
      expect(() => secretsWith(KEY).open(broken)).toThrow();
      expect(secretsWith(KEY).reveal(broken)).toEqual(sealed.config);
    },
  );

  it('open with an older key, and are sealed with the first (B-97)', () => {
    const old = secretsWith(KEY).seal(record);
    const rotated = secretsWith(OTHER_KEY, KEY);
    expect(rotated.open(old)).toEqual(record.config);
    const renewed = rotated.seal(record);
    expect(secretsWith(OTHER_KEY).open(renewed)).toEqual(record.config);
    expect(() => secretsWith(KEY).open(renewed)).toThrow();
  });

  it('are lost with their key: what is sent fails with the cause, what is shown lacks them (B-97)', () => {
    const sealed = secretsWith(KEY).seal(record);
    for (const secrets of [secretsWith(OTHER_KEY), secretsWith()]) {
      expect(() => secrets.open(sealed)).toThrow(/not among push\.encryptionKeys/u);
      expect(secrets.reveal(sealed)).toEqual(sealed.config);
    }
  });

  it('may lie beside configs that were stored before there was a key', () => {
    expect(secretsWith(KEY).open(record)).toEqual(record.config);
  });
});

describe('A config that is shown', () => {
  it('has its token and its scheme, and no credentials (R-10)', () => {
    const { config } = pushConfigOf(TASK, { id: 'c' });
    const { url, token } = config;
    expect(withoutCredentials(config)).toEqual({
      ...{ id: 'c', taskId: 'task', url, token, authentication: { scheme: 'Bearer' } },
    });
    expect(withoutCredentials({ url: 'u' })).toEqual({ url: 'u' });
  });
});
