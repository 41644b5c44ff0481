import type { ModulesContainer } from '@nestjs/core';
import { ExternalContextCreator } from '@nestjs/core/helpers/external-context-creator.js';
import type { NestContainer } from '@nestjs/core/injector/container.js';

/** Makes a creator of pipelines that knows the application's modules, and none of its global enhancers. */
export function createPipelineCreator(modules: ModulesContainer): ExternalContextCreator {
  const container = { getModules: () => modules, applicationConfig: undefined };
  return ExternalContextCreator.fromContainer(container as unknown as NestContainer);
}
