import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scrub } from './scrub.js';

describe('scrub', () => {
  it('leaves ordinary text of any script as it is (FAULT-03)', () => {
    expect(scrub('Grüße, 漢字 – عربي 😀 <b>&amp;</b>')).toBe('Grüße, 漢字 – عربي 😀 <b>&amp;</b>');
  });

  it('strips C0, DEL and C1 control characters, line ends and escapes included (FAULT-03)', () => {
    expect(scrub('a\r\nb\tc\0d\x1b[31me\x7ff\x80g\x9fh\x85i')).toBe('abcd[31mefghi');
  });

  it('strips the characters that reorder text (FAULT-03)', () => {
    const marks = [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
    expect(scrub(`a${String.fromCharCode(...marks)}b`)).toBe('ab');
  });

  it('replaces lone surrogates and keeps pairs', () => {
    expect(scrub('a\ud800b\udc00c😀')).toBe('a\ufffdb\ufffdc😀');
  });

  it('caps the length and shows that it did (ROUTE-04b)', () => {
    expect(scrub('x'.repeat(200))).toBe('x'.repeat(200));
    expect(scrub('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(scrub('abcdef', 4)).toBe('abc…');
  });

  it('does not cut a pair in half', () => {
    expect(scrub('ab😀cd', 4)).toBe('ab…');
  });

  it('gives well-formed text within the cap, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const clean = scrub(text, max);
        expect(clean.length).toBeLessThanOrEqual(max);
        expect(clean).not.toMatch(/\p{Surrogate}|\p{Cc}/u);
        expect(scrub(clean, max)).toBe(clean);
      }),
    );
  });
});
