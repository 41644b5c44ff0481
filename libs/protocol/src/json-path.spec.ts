import { expect, it } from '@jest/globals';
import { formatPath } from './json-path.js';

it('writes keys with dots and indexes in brackets', () => {
  expect(formatPath(['message', 'parts', 0, 'text'])).toBe('message.parts[0].text');
  expect(formatPath([0, 1, 'a'])).toBe('[0][1].a');
  expect(formatPath([])).toBe('');
});

it("scrubs a client's keys and shows them up to 64 characters", () => {
  expect(formatPath(['metadata', 'a\r\n\u202eb'])).toBe('metadata.ab');
  expect(formatPath(['k'.repeat(1000), 'x'])).toBe(`${'k'.repeat(63)}….x`);
});

it('bounds the whole path', () => {
  expect(formatPath(Array.from({ length: 128 }, () => 'key'.repeat(20))).length).toBeLessThanOrEqual(256);
});
