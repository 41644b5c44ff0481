import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { A2AConfigurationError } from './context/configuration.error.js';

/** @throws {A2AConfigurationError} when the application has a module twice, with two sets of options */
export function assertSingleModule(modules: ModulesContainer, module: Type): void {
  const count = [...modules.values()].filter(({ metatype }) => metatype === module).length;
  if (count <= 1) return;
  throw new A2AConfigurationError(
    `${module.name}.forRoot was called ${count} times in one application. Call it once, and import the module that does.`,
  );
}
