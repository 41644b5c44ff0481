import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { A2AModuleExtras, A2AOptions } from './a2a.options.js';
import { A2A_OPTIONS } from './a2a.constants.js';
import { extendDefinition } from './a2a.providers.js';

export const { ConfigurableModuleClass, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<A2AOptions>({
  optionsInjectionToken: A2A_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras<A2AModuleExtras>({}, extendDefinition)
  .build();
