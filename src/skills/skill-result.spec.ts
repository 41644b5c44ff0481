import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import { isStream, toArtifact } from './skill-result.js';

class Invoice {
  constructor(
    readonly id: number,
    readonly due = new Date(Date.UTC(2026, 0, 1)),
  ) {}

  get label(): string {
    return `Invoice ${this.id}`;
  }
}

describe('A skill’s result', () => {
  it.each([
    ['a string', 'text', [{ text: 'text' }]],
    ['an empty string', '', [{ text: '' }]],
    ['null', null, [{ data: null }]],
    ['false', false, [{ data: false }]],
    ['zero', 0, [{ data: 0 }]],
    ['an object', { a: 1 }, [{ data: { a: 1 } }]],
    ['an array', [1, 'x'], [{ data: [1, 'x'] }]],
    ['an empty array', [], [{ data: [] }]],
    ['a class instance', new Invoice(7), [{ data: { id: 7, due: '2026-01-01T00:00:00.000Z' } }]],
    ['a date', new Date(0), [{ data: '1970-01-01T00:00:00.000Z' }]],
    ['a part', { text: 'x', mediaType: 'text/markdown' }, [{ text: 'x', mediaType: 'text/markdown' }]],
    ['a data part', { data: null }, [{ data: null }]],
    ['parts', [{ text: 'a' }, { url: 'https://x' }], [{ text: 'a' }, { url: 'https://x' }]],
    ['parts among other things', [{ text: 'a' }, 5], [{ data: [{ text: 'a' }, 5] }]],
    ['an object with a text and more', { text: 'x', author: 'y' }, [{ data: { text: 'x', author: 'y' } }]],
    ['an object with two contents', { text: 'x', data: 1 }, [{ data: { text: 'x', data: 1 } }]],
    ['an object with a text that is none', { text: 5 }, [{ data: { text: 5 } }]],
    ['an object with parts that are none', { parts: ['wheel'] }, [{ data: { parts: ['wheel'] } }]],
    [
      'an object with parts and more',
      { parts: [{ text: 'x' }], price: 1 },
      [{ data: { parts: [{ text: 'x' }], price: 1 } }],
    ],
  ])('becomes an artifact’s parts: %s', (_name, value, parts) => {
    expect(toArtifact(value)).toEqual({ parts });
  });

  it('is an artifact as it is', () => {
    const artifact = { artifactId: 'a', name: 'n', description: 'd', parts: [{ text: 'x' }], metadata: { m: 1 } };
    expect(toArtifact(artifact)).toEqual(artifact);
    expect(toArtifact({ parts: [] })).toEqual({ parts: [] });
  });

  it.each([NaN, Infinity, () => 1, Symbol('s'), 1n, new Map(), Buffer.from('x'), { deep: { bad: NaN } }, [undefined]])(
    'is refused when it is no JSON: %p (CTX-11)',
    (value) => {
      expect(() => toArtifact(value)).toThrow();
    },
  );

  it.each([
    [
      'a generator',
      (function* () {
        yield 1;
      })(),
      true,
    ],
    [
      'an async generator',
      (async function* () {
        yield 1;
      })(),
      true,
    ],
    ['an async iterable', { [Symbol.asyncIterator]: () => ({}) }, true],
    ['an Observable', of(1), true],
    ['an array', [1], false],
    ['a set', new Set([1]), false],
    ['a string', 'abc', false],
    ['null', null, false],
    ['an object', {}, false],
    ['a promise', Promise.resolve(1), false],
  ])('streams or not: %s', (_name, value, expected) => {
    expect(isStream(value)).toBe(expected);
  });
});
