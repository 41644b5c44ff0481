/**
 * Sets an own property as plain data, whatever its name.
 *
 * A plain assignment to `__proto__` would change the prototype instead. Every other name may be assigned.
 */
export function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true });
  } else {
    target[key] = value;
  }
}
