import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bearerOnly, withBearer } from './challenge.js';

const METADATA = { resource_metadata: 'https://a.example/m' };
const ADDED = 'resource_metadata="https://a.example/m"';

/** What may stand between the commas of a header. */
const ELEMENTS = [
  'Bearer',
  ' Basic realm="a, Bearer b"',
  'bearer  realm="\\",x"',
  'error=x',
  ' ',
  '',
  'realm = "y"',
  'X abc==',
];

describe('A Bearer challenge with parameters added (ISO-02, RFC 9110 §11.6.1)', () => {
  it.each([
    [undefined, `Bearer ${ADDED}`],
    ['', `Bearer ${ADDED}`],
    [' , ', `Bearer ${ADDED}`],
    ['Bearer', `Bearer ${ADDED}`],
    ['bearer', `bearer ${ADDED}`],
    ['Bearer realm="a2a"', `Bearer realm="a2a", ${ADDED}`],
    ['Bearer realm="a, b", scope="x y"', `Bearer realm="a, b", scope="x y", ${ADDED}`],
    ['Bearer realm="say \\"hi, Basic\\""', `Bearer realm="say \\"hi, Basic\\"", ${ADDED}`],
    ['Bearer realm = a2a , error=x', `Bearer realm = a2a, error=x, ${ADDED}`],
    ['Basic realm="x"', `Basic realm="x", Bearer ${ADDED}`],
    ['Basic realm="x", Bearer realm="y"', `Basic realm="x", Bearer realm="y", ${ADDED}`],
    ['Bearer realm="y", Basic realm="x"', `Bearer realm="y", ${ADDED}, Basic realm="x"`],
    ['Bearer, Basic realm="x", charset="UTF-8"', `Bearer ${ADDED}, Basic realm="x", charset="UTF-8"`],
    ['Negotiate YII==, Bearer', `Negotiate YII==, Bearer ${ADDED}`],
    ['Bearer resource_metadata="https://own.example"', 'Bearer resource_metadata="https://own.example"'],
    ['Bearer Resource_Metadata = "https://own.example"', 'Bearer Resource_Metadata = "https://own.example"'],
  ])('%s becomes %s', (challenges, expected) => {
    expect(withBearer(challenges, METADATA)).toBe(expected);
  });

  it('stands alone when only it is wanted', () => {
    const params = { error: 'insufficient_scope', scope: 'a b' };
    const written = 'error="insufficient_scope", scope="a b"';
    expect(bearerOnly(undefined, params)).toBe(`Bearer ${written}`);
    expect(bearerOnly('Basic realm="x"', params)).toBe(`Bearer ${written}`);
    expect(bearerOnly('Basic realm="x", Bearer realm="y"', params)).toBe(`Bearer realm="y", ${written}`);
  });

  it('quotes what has quotes', () => {
    expect(bearerOnly(undefined, { scope: String.raw`a"b\c` })).toBe(String.raw`Bearer scope="a\"b\\c"`);
  });

  it('has each parameter once, whatever the host wrote', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ELEMENTS)), (elements) => {
        const once = withBearer(elements.join(','), METADATA);
        expect(once).toContain(ADDED);
        expect(withBearer(once, METADATA).split(ADDED)).toHaveLength(2);
      }),
    );
  });
});
