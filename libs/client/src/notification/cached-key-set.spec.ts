import { describe, expect, it } from '@jest/globals';
import { trusted } from '../../../../test/support/notifications.js';
import { keyPair } from '../../../../test/support/signing-keys.js';
import type { TrustedJwk } from '../jwk-set.js';
import { CachedKeySet } from './cached-key-set.js';

const key = (kid: string): TrustedJwk => trusted(keyPair('EdDSA').publicKey, { kid });

/** A key set of a host that a test moves. */
function stage(...keys: TrustedJwk[]) {
  const it = { keys, now: 0, reads: [] as string[], error: undefined as Error | undefined };
  const set = new CachedKeySet(
    'https://keys.example/jwks.json',
    async ({ href }) => {
      it.reads.push(href);
      if (it.error) throw it.error;
      return { keys: [null, ...it.keys] };
    },
    () => it.now,
  );
  const kids = async (kid: string) => (await set.named(kid)).map((each) => each.kid);
  return Object.assign(it, { kids });
}

describe('the key set of an agent (S-07, S-11)', () => {
  it('is read when it is needed, and once for all who wait', async () => {
    const it = stage(key('a'));
    expect(await Promise.all([it.kids('a'), it.kids('b'), it.kids('a')])).toEqual([['a'], [], ['a']]);
    expect(await it.kids('a')).toEqual(['a']);
    expect(it.reads).toEqual(['https://keys.example/jwks.json']);
  });

  it('is read again for a kid that it does not have, and no more than every thirty seconds', async () => {
    const it = stage(key('a'));
    await it.kids('a');
    it.keys = [key('a'), key('b')];
    for (let count = 0; count < 50; count++) expect(await it.kids(`stranger ${count}`)).toEqual([]);
    it.now = 29_999;
    expect(await it.kids('b')).toEqual([]);
    expect(it.reads).toHaveLength(1);
    it.now = 30_000;
    expect(await it.kids('b')).toEqual(['b']);
    expect(await it.kids('stranger')).toEqual([]);
    expect(it.reads).toHaveLength(2);
  });

  it('is read again when it is ten minutes old, so that a key that was taken away is trusted no longer', async () => {
    const it = stage(key('a'));
    await it.kids('a');
    it.keys = [];
    it.now = 599_999;
    expect(await it.kids('a')).toEqual(['a']);
    it.now = 600_000;
    expect(await it.kids('a')).toEqual([]);
  });

  it('that cannot be read makes no key good, and is tried no more than every thirty seconds', async () => {
    const it = stage(key('a'));
    it.error = new Error('down');
    for (let count = 0; count < 50; count++) await expect(it.kids('a')).rejects.toThrow('keys.example');
    expect(it.reads).toHaveLength(1);
    it.error = undefined;
    it.now = 30_000;
    expect(await it.kids('a')).toEqual(['a']);
    it.now = 700_000;
    it.error = new Error('down');
    await expect(it.kids('a')).rejects.toMatchObject({ cause: it.error });
  });

  it('may fail to be read again while it is fresh', async () => {
    const it = stage(key('a'));
    await it.kids('a');
    it.error = new Error('down');
    it.now = 60_000;
    expect(await it.kids('b')).toEqual([]);
    expect(await it.kids('a')).toEqual(['a']);
  });
});
