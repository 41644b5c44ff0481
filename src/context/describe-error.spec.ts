import { describe, expect, it } from '@jest/globals';
import { describeError } from './describe-error.js';

describe('The description of an error for the log', () => {
  it('names the error and its causes', () => {
    const error = new TypeError('outer', { cause: new Error('inner', { cause: 'a string' }) });
    expect(describeError(error)).toBe(`TypeError: outer <- Error: inner <- 'a string'`);
  });

  it.each([
    [undefined, ''],
    [null, ''],
    ['text', `'text'`],
    [5, '5'],
    [{ message: 'no Error' }, `{ message: 'no Error' }`],
  ])('takes %p for what it is', (value, expected) => {
    expect(describeError(value)).toBe(expected);
  });

  it('cannot forge a log line, and is bounded (FAULT-03)', () => {
    const text = describeError(new Error(`a\n[Nest] forged\u001b[31m\u202e${'x'.repeat(10_000)}`));
    expect(text).not.toMatch(/[\u0000-\u001f\u202e]/u);
    expect(text.length).toBeLessThanOrEqual(4_000);
  });

  it('does not go round in a circle of causes', () => {
    const error = new Error('self');
    error.cause = error;
    expect(describeError(error).match(/self/gu)).toHaveLength(5);
  });
});
