import { setOwn } from './own-property.js';

/**
 * Copies a JSON value deeply. It trusts its input: for what others hand over, see `toJson`.
 *
 * Properties whose value is undefined are dropped; an own key `__proto__` stays plain data.
 */
export function cloneJson<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) setOwn(result, key, copy(member));
  }
  return result;
}
