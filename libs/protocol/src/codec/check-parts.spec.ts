import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dataPart, rawPart, textPart, urlPart } from '../builders.js';
import type { JsonValue } from '../json.js';
import { NotJsonError } from '../not-json-error.js';
import { checkParts, toPart } from './check-parts.js';
import { encode } from './encode.js';
import { InvalidPartError } from './invalid-part-error.js';

describe('checkParts', () => {
  it('takes what the builders build', () => {
    const parts = [
      textPart('', { mediaType: 'text/plain', metadata: { a: 1 } }),
      dataPart(null),
      rawPart(new Uint8Array([1]), 'f.bin'),
      urlPart('https://a.example', 'f', 'image/png'),
    ];
    expect(checkParts(parts)).toEqual(parts);
  });

  it('takes no parts at all as an empty array (DM-09c)', () => {
    expect(checkParts(undefined)).toEqual([]);
    expect(checkParts(null)).toEqual([]);
    expect(checkParts([])).toEqual([]);
  });

  it('copies: later changes to the value change nothing (DM-15)', () => {
    const data = { a: [1] };
    const metadata = { b: 1 };
    const [part] = checkParts([{ data, metadata }]);
    data.a.push(2);
    metadata.b = 2;
    expect(part).toEqual({ data: { a: [1] }, metadata: { b: 1 } });
  });

  it('gives the normal form: standard base64, known fields, none of them empty', () => {
    expect(checkParts([{ raw: '-_8', filename: '', mediaType: '', metadata: {}, kind: 'file' }])).toEqual([
      { raw: '+/8=' },
    ]);
    expect(Object.keys(toPart({ text: 'x', url: null, data: undefined, metadata: undefined }))).toEqual(['text']);
  });

  it('makes JSON of entities and dates', () => {
    class Invoice {
      total = 5;
      due = new Date(0);
    }
    expect(toPart(dataPart(new Invoice()))).toEqual({ data: { total: 5, due: '1970-01-01T00:00:00.000Z' } });
  });

  it.each<[string, unknown, string]>([
    ['no content', {}, 'parts[1]'],
    ['two contents', { text: 'a', data: null }, 'parts[1]'],
    ['a string', 'text', 'parts[1]'],
    ['null', null, 'parts[1]'],
    ['an array', [], 'parts[1]'],
    ['a hole', undefined, 'parts[1]'],
    ['text that is no string', { text: 5 }, 'parts[1].text'],
    ['bytes that are no base64', { raw: '!' }, 'parts[1].raw'],
    ['bytes as such', { raw: new Uint8Array(1) }, 'parts[1].raw'],
    ['a URL object', { url: new URL('https://a.example') }, 'parts[1].url'],
    ['a filename that is no string', { text: 'a', filename: 1 }, 'parts[1].filename'],
    ['metadata that is no object', { text: 'a', metadata: [1] }, 'parts[1].metadata'],
  ])('refuses %s, naming the part (DM-03)', (_, part, path) => {
    const error = caught(() => checkParts([textPart('ok'), part]));
    expect(error).toBeInstanceOf(InvalidPartError);
    expect(error).toMatchObject({ path });
    expect(error.message.startsWith(path)).toBe(true);
  });

  it('refuses what is no array', () => {
    expect(() => checkParts('text', 'artifact.parts')).toThrow(/^artifact\.parts must be an array/);
    expect(() => checkParts({ text: 'x' })).toThrow(InvalidPartError);
  });

  it('refuses data and metadata that are no JSON, naming the place (CTX-11)', () => {
    const error = caught(() => checkParts([dataPart({ total: NaN })]));
    expect(error).toBeInstanceOf(NotJsonError);
    expect(error).toMatchObject({ path: 'parts[0].data.total' });
    expect(caught(() => toPart({ text: 'x', metadata: { f: () => 1 } }))).toMatchObject({ path: 'part.metadata.f' });
  });

  it('gives parts that encode as they are', () => {
    const content = fc.oneof(
      fc.record({ text: fc.string() }),
      fc.record({ data: fc.jsonValue() as fc.Arbitrary<JsonValue> }),
      fc.record({ url: fc.string() }),
      fc.uint8Array().map((bytes) => rawPart(bytes)),
    );
    fc.assert(
      fc.property(content, fc.string(), fc.string(), (given, filename, mediaType) => {
        const part = toPart({ ...given, filename, mediaType });
        expect(encode('Part', part)).toEqual(part);
      }),
    );
  });
});

function caught(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown');
}
