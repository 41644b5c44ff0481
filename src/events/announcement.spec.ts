import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeAnnouncement, encodeAnnouncement } from './announcement.js';

const ids = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }).filter((id) => !/\p{Surrogate}/u.test(id));
const versions = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe('An announcement', () => {
  it('survives the way through texts of at most 7,500 bytes (R-25)', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(ids, versions), { maxLength: 60 }), (entries) => {
        const announced = new Map(entries);
        const texts = encodeAnnouncement(announced);
        expect(texts.every((text) => Buffer.byteLength(text) <= 7_500)).toBe(true);
        expect(new Map(texts.flatMap((text) => [...decodeAnnouncement(text)]))).toEqual(announced);
      }),
    );
  });

  it('of 1,000 tasks takes as few texts as it may', () => {
    const announced = new Map(Array.from({ length: 1_000 }, (_, index) => [`task-${index}`, index]));
    expect(encodeAnnouncement(announced)).toHaveLength(2);
  });

  it.each(['漢'.repeat(3_000), '\ud800'])('leaves out an id that no text can carry', (id) => {
    expect(encodeAnnouncement(new Map([[id, 1]]))).toEqual([]);
  });

  it('is read from no text of anybody else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const [id, version] of decodeAnnouncement(text))
          expect([typeof id, version >= 0]).toEqual(['string', true]);
      }),
    );
    expect(decodeAnnouncement('x\n1:%E0%A4%A\n-1:a\n2:b\n3:a b')).toEqual(new Map([['b', 2]]));
  });
});
