import { describe, expect, it } from '@jest/globals';
import { render, RenderingCache } from './rendering.js';

describe('A rendering', () => {
  it('has a tag that equal bytes share, and others do not (CARD-06)', () => {
    const { body, etag } = render({ name: 'Käse' });
    expect(body.toString('utf8')).toBe('{"name":"Käse"}');
    expect(etag).toMatch(/^"[\w-]{43}"$/u);
    expect(render({ name: 'Käse' }, { modifiedAt: 7 }).etag).toBe(etag);
    expect(render({ name: 'kaese' }).etag).not.toBe(etag);
    expect(render({})).not.toHaveProperty('modifiedAt');
  });
});

describe('The cache of renderings', () => {
  const cacheWithLog = () => {
    const cache = new RenderingCache();
    const made: string[] = [];
    const get = (key: string) =>
      cache.get(key, () => {
        made.push(key);
        return Promise.resolve(render({ key }));
      });
    return { cache, made, get };
  };

  it('makes one for each key, also for those who ask at the same time (CARD-06)', async () => {
    const { made, get } = cacheWithLog();
    const [one, other] = await Promise.all([get('a'), get('a'), get('b')]);
    expect(await get('a')).toBe(one);
    expect(other).toBe(one);
    expect(made).toEqual(['a', 'b']);
  });

  it('keeps those that were asked for last, and no more than sixteen (S-16)', async () => {
    const { made, get } = cacheWithLog();
    const keys = Array.from({ length: 16 }, (_, index) => `key-${index}`);
    for (const key of keys) await get(key);
    await get('key-0');
    await get('one more');
    made.length = 0;
    for (const key of ['key-0', 'key-2', 'one more']) await get(key);
    expect(made).toEqual([]);
    await get('key-1');
    expect(made).toEqual(['key-1']);
  });

  it('does not keep what failed', async () => {
    const { cache, get } = cacheWithLog();
    await expect(cache.get('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect((await get('a')).body.toString()).toBe('{"key":"a"}');
  });
});
