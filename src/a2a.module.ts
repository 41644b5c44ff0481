import { Module, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ConfigurableModuleClass } from './a2a.module-definition.js';
import { assertSingleModule } from './single-module.js';

/**
 * Exposes the `@Skill` methods of an application as an A2A v1.0 agent.
 *
 * @example
 * @Module({ imports: [A2AModule.forRoot({ card, principal, guards: [AuthGuard('jwt')] })], providers: [InvoiceSkills] })
 * export class AppModule {}
 */
@Module({})
export class A2AModule extends ConfigurableModuleClass implements OnModuleInit {
  constructor(private readonly modules: ModulesContainer) {
    super();
  }

  onModuleInit(): void {
    assertSingleModule(this.modules, A2AModule);
  }
}
