import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normalizeBase64, rawBytes } from './base64.js';

describe('normalizeBase64', () => {
  it.each([
    ['', ''],
    ['QQ==', 'QQ=='],
    ['QQ', 'QQ=='],
    ['QUI', 'QUI='],
    ['QUJD', 'QUJD'],
    ['-_-_', '+/+/'],
    ['-_8', '+/8='],
    ['-_8=', '+/8='],
  ])('reads %j as %j (DM-05, R-41)', (text, standard) => {
    expect(normalizeBase64(text)).toBe(standard);
  });

  it.each([
    ['a length that no bytes have', 'QQQQQ'],
    ['one digit', 'Q'],
    ['partial padding', 'QQ='],
    ['too much padding', 'QUI=='],
    ['padding where none belongs', 'QUJD='],
    ['padding alone', '=='],
    ['padding in the middle', 'QQ==QUJD'],
    ['bits that carry no byte', 'QR=='],
    ['bits that carry no byte, unpadded', 'QUJ'],
    ['both alphabets at once', '+_8='],
    ['white space', 'QU JD'],
    ['a line end', 'QUJD\n'],
    ['other characters', 'QU*D'],
    ['another script', 'ＱＱ=='],
  ])('refuses %s (DM-05)', (_, text) => {
    expect(normalizeBase64(text)).toBeUndefined();
  });

  it('takes every way to spell some bytes to the one standard way (DM-05)', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const standard = Buffer.from(bytes).toString('base64');
        const spellings = [standard, standard.replace(/=+$/, ''), Buffer.from(bytes).toString('base64url')];
        expect(spellings.map(normalizeBase64)).toEqual([standard, standard, standard]);
        expect(rawBytes({ raw: standard })).toEqual(bytes);
      }),
    );
  });

  it('accepts exactly what decodes and encodes back to itself', () => {
    const digits = fc.string({ unit: fc.constantFrom('A', 'Q', 'R', 'U', 'g', '/', '+', 'w', '=') });
    fc.assert(
      fc.property(digits, (text) => {
        const canonical = Buffer.from(text, 'base64').toString('base64');
        const accepted = text === canonical || text === canonical.replace(/=+$/, '');
        expect(normalizeBase64(text)).toBe(accepted ? canonical : undefined);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('rawBytes', () => {
  it('gives bytes that share no memory with others', () => {
    const bytes = rawBytes({ raw: 'QUJD' });
    expect([...bytes]).toEqual([65, 66, 67]);
    expect(bytes.buffer.byteLength).toBe(3);
  });
});
