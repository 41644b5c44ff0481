import { describe, expect, it } from '@jest/globals';
import { rawBytes } from './base64.js';
import { dataPart, partKind, rawPart, textPart, urlPart } from './builders.js';
import type { Part } from './model.js';

describe('the part builders', () => {
  it('build each kind of part (DM-08b)', () => {
    expect(textPart('hi')).toEqual({ text: 'hi' });
    expect(dataPart({ a: 1 })).toEqual({ data: { a: 1 } });
    expect(rawPart(new Uint8Array([65, 66]))).toEqual({ raw: 'QUI=' });
    expect(urlPart('https://a.example/b.png')).toEqual({ url: 'https://a.example/b.png' });
  });

  it('take the optional fields of their kind (DM-04)', () => {
    const fields = { filename: 'a.txt', mediaType: 'text/plain', metadata: { a: 1 } };
    expect(textPart('hi', fields)).toEqual({ text: 'hi', ...fields });
    expect(dataPart(null, fields)).toEqual({ data: null, ...fields });
    expect(rawPart(new Uint8Array(), 'b.bin', 'image/png')).toEqual({
      raw: '',
      filename: 'b.bin',
      mediaType: 'image/png',
    });
    expect(urlPart('https://a.example', undefined, 'image/png')).toEqual({
      url: 'https://a.example',
      mediaType: 'image/png',
    });
  });

  it('leave out the keys that were not given', () => {
    expect(Object.keys(rawPart(new Uint8Array()))).toEqual(['raw']);
    expect(Object.keys(urlPart('x'))).toEqual(['url']);
  });

  it('encode only the bytes that a view shows', () => {
    const view = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    expect([...rawBytes(rawPart(view))]).toEqual([2, 3]);
  });
});

describe('partKind', () => {
  it.each([
    [{ text: '' }, 'text'],
    [{ raw: '' }, 'raw'],
    [{ url: '' }, 'url'],
    [{ data: null }, 'data'],
    [{ data: false }, 'data'],
    [{ text: 'x', url: null }, 'text'],
    [{}, ''],
    [{ data: undefined }, ''],
    [{ text: 'x', data: null }, ''],
    [{ text: '', raw: 'QQ==' }, ''],
    [{ text: 5 }, ''],
  ])('names the content of %j %j (DM-06, DM-08a, B-22)', (part, kind) => {
    expect(partKind(part as Part)).toBe(kind);
  });
});
