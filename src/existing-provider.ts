import type { Abstract, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';

/** Nest calls hooks on the provider itself, and a stand-in is no promise. */
const NEVER_PASSED_ON: ReadonlySet<PropertyKey> = new Set([
  'then',
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
]);

/**
 * Stands in for a provider of the application. Nest may make it only after the module that uses it, so it is looked up
 * each time that something is asked of it.
 *
 * @throws {UnknownElementException} when the application has no such provider
 */
export function existingProvider<T extends object>(
  token: Type<T> | Abstract<T> | string | symbol,
  modules: ModuleRef,
): T {
  const provider = (): T => modules.get<T>(token, { strict: false });
  provider();
  return new Proxy({} as T, {
    get: (_target, key) => {
      if (NEVER_PASSED_ON.has(key)) return undefined;
      const found = provider();
      const value: unknown = Reflect.get(found, key);
      return typeof value === 'function' ? (value.bind(found) as unknown) : value;
    },
  });
}
