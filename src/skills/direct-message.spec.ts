import { describe, expect, it } from '@jest/globals';
import { isDirectMessage, message } from './direct-message.js';

describe('A direct Message', () => {
  it.each([
    ['a string', 'hello', [{ text: 'hello' }]],
    ['a part', { data: { a: 1 } }, [{ data: { a: 1 } }]],
    ['strings and parts', ['a', { url: 'https://x' }], [{ text: 'a' }, { url: 'https://x' }]],
  ])('is made of %s', (_name, content, parts) => {
    expect(message(content as never).parts).toEqual(parts);
  });

  it('is told from everything else', () => {
    expect(isDirectMessage(message('x'))).toBe(true);
    for (const value of [undefined, null, 'x', {}, { parts: [{ text: 'x' }] }])
      expect(isDirectMessage(value)).toBe(false);
  });

  it('is one for another copy of the package too (B-09)', () => {
    expect(isDirectMessage({ [Symbol.for('nestjs-a2a.direct-message')]: true, parts: [] })).toBe(true);
  });

  it('copies what it is made of (DM-15)', () => {
    const part = { data: { a: 1 } };
    const metadata = { a: 1 };
    const made = message(part, metadata);
    part.data.a = 2;
    metadata.a = 2;
    expect(made).toMatchObject({ parts: [{ data: { a: 1 } }], metadata: { a: 1 } });
  });

  it.each([NaN, () => 1, 1n])('refuses %p in parts and in metadata (CTX-11)', (bad) => {
    expect(() => message({ data: bad as never })).toThrow();
    expect(() => message('x', { bad: bad as never })).toThrow();
  });

  it.each([{}, { text: 'x', url: 'y' }, 5, null])('refuses %j as content (DM-03)', (content) => {
    expect(() => message(content as never)).toThrow();
  });
});
