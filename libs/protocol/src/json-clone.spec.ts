import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cloneJson } from './json-clone.js';

it('copies any JSON deeply (DM-15)', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(cloneJson(value)).toEqual(value);
    }),
  );
});

it('shares nothing with the original (DM-15)', () => {
  const original = { parts: [{ data: { a: [1] } }] };
  const copy = cloneJson(original);
  copy.parts[0]!.data.a.push(2);
  copy.parts.push({ data: { a: [] } });
  expect(original).toEqual({ parts: [{ data: { a: [1] } }] });
});

it('keeps __proto__ as plain data (S-17)', () => {
  const value = JSON.parse('{"a":{"__proto__":{"polluted":1}}}') as { a: object };
  const copy = cloneJson(value);
  expect(JSON.stringify(copy)).toBe('{"a":{"__proto__":{"polluted":1}}}');
  expect(Object.getPrototypeOf(copy.a)).toBe(Object.prototype);
});

it('drops properties whose value is undefined', () => {
  expect(Object.keys(cloneJson({ a: 1, b: undefined }))).toEqual(['a']);
});
