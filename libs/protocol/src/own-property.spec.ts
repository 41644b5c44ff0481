import { expect, it } from '@jest/globals';
import { setOwn } from './own-property.js';

it('sets __proto__ and constructor as plain data (S-17)', () => {
  const target: Record<string, unknown> = {};
  for (const key of ['a', '__proto__', 'constructor']) setOwn(target, key, { polluted: true });
  expect(Object.keys(target)).toEqual(['a', '__proto__', 'constructor']);
  expect(Object.getPrototypeOf(target)).toBe(Object.prototype);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
