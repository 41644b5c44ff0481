import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareCursors, decodeCursor, encodeCursor, type ListCursor } from './cursor.js';

const ids = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 64 })
  .filter((id) => id.length <= 256 && !/\p{Surrogate}/u.test(id));
const cursors: fc.Arbitrary<ListCursor> = fc.record({ statusAt: fc.nat({ max: 8_640_000_000_000_000 }), id: ids });

const TOKEN = encodeCursor({ statusAt: 5, id: 'a' });

describe('A list cursor', () => {
  it('survives the way to the client and back (LIST-06)', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
      }),
    );
  });

  it('is text that needs no escaping in a URL', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(encodeCursor(cursor)).toMatch(/^[\w-]+$/u);
      }),
    );
  });

  it('is no cursor any more when it was changed, wherever and however (LIST-06, LIST-07a, B-77)', () => {
    const changes = fc.record({ at: fc.nat(), remove: fc.nat({ max: 3 }), insert: fc.string({ maxLength: 3 }) });
    fc.assert(
      fc.property(cursors, changes, (cursor, { at, remove, insert }) => {
        const token = encodeCursor(cursor);
        const place = at % (token.length + 1);
        const changed = token.slice(0, place) + insert + token.slice(place + remove);
        fc.pre(changed !== token);
        expect(decodeCursor(changed)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('is no cursor any more when it was cut off, at any place (LIST-07a)', () => {
    const token = encodeCursor({ statusAt: 1_767_225_600_000, id: '0b9b2c1e-1f2f-4d3a-9a54-3f1f7f6d2c10' });
    for (let length = 0; length < token.length; length++) expect(decodeCursor(token.slice(0, length))).toBeUndefined();
  });

  it.each(['', '=', ' ', '\n', '.', '==', '%3D', '\u0000'])('takes no token with %j behind it (B-77)', (suffix) => {
    const token = encodeCursor({ statusAt: 1, id: 'abc' });
    expect(decodeCursor(token + suffix)).toEqual(suffix === '' ? { statusAt: 1, id: 'abc' } : undefined);
  });

  it('takes no text that it has not written (B-77)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const decoded = decodeCursor(text);
        if (decoded) expect(encodeCursor(decoded)).toBe(text);
      }),
    );
  });

  it('takes a token written by hand as it takes its own, so that the next cases refuse what they say', () => {
    expect(decodeCursor(encoded('1:1:a'))).toEqual({ statusAt: 1, id: 'a' });
  });

  it.each([
    '',
    'garbage',
    '0',
    Buffer.from('1:1:a').toString('base64url'),
    encoded('2:5:a'),
    encoded('1:5'),
    encoded('1:'),
    encoded('1:5:'),
    encoded('1::a'),
    encoded('1:-5:a'),
    encoded('1:05:a'),
    encoded('1:5.0:a'),
    encoded('1:5e0:a'),
    encoded('1: 5:a'),
    encodeCursor({ statusAt: -1, id: 'a' }),
    encodeCursor({ statusAt: 1.5, id: 'a' }),
    encodeCursor({ statusAt: NaN, id: 'a' }),
    encodeCursor({ statusAt: 1e21, id: 'a' }),
    encodeCursor({ statusAt: 1, id: '' }),
    encodeCursor({ statusAt: 1, id: 'x'.repeat(257) }),
    Buffer.from('1:1:\xff', 'latin1').toString('base64url'),
    Buffer.from(Buffer.from(TOKEN, 'base64url')).toString('base64').replace(/=*$/u, '='),
  ])('refuses %j (B-77)', (token) => {
    expect(decodeCursor(token)).toBeUndefined();
  });

  it('orders places by time and then by id, both descending, as a total order (R-30)', () => {
    const near = fc.record({ statusAt: fc.nat({ max: 2 }), id: fc.constantFrom('a', 'b', 'B', 'ä') });
    fc.assert(
      fc.property(near, near, near, (a, b, c) => {
        expect(Math.sign(compareCursors(a, b)) + Math.sign(compareCursors(b, a))).toBe(0);
        expect(compareCursors(a, b) === 0).toBe(a.statusAt === b.statusAt && a.id === b.id);
        if (a.statusAt > b.statusAt) expect(compareCursors(a, b)).toBeLessThan(0);
        if (a.statusAt === b.statusAt && a.id > b.id) expect(compareCursors(a, b)).toBeLessThan(0);
        if (compareCursors(a, b) <= 0 && compareCursors(b, c) <= 0) {
          expect(compareCursors(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });
});

/** Writes a token by hand, with the checksum that fits: what is wrong with it is its text. */
function encoded(text: string): string {
  const [version = '', ...rest] = text.split(':');
  const place = rest.join(':');
  const checksum = createHash('sha256').update(place).digest('base64url').slice(0, 8);
  return Buffer.from(`${version}:${checksum}:${place}`, 'utf8').toString('base64url');
}
