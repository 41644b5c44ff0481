import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { isObservable } from 'rxjs';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { describeSkill, type RegisteredSkill, type SkillDefinition } from './registered-skill.js';
import { SkillExplorer } from './skill.explorer.js';
import { SkillInvoker } from './skill.invoker.js';
import { SkillRegistry } from './skill.registry.js';

/** The injection token of the skills that are given in the module's options. */
export const A2A_SKILL_DEFINITIONS = Symbol('A2A_SKILL_DEFINITIONS');

/** Fills the registry at boot: the skills of the options first, then those found on providers. */
@Injectable()
export class SkillOrchestrator implements OnModuleInit {
  constructor(
    @Inject(A2A_SKILL_DEFINITIONS) private readonly definitions: readonly SkillDefinition[],
    private readonly explorer: SkillExplorer,
    private readonly invoker: SkillInvoker,
    private readonly registry: SkillRegistry,
  ) {}

  /** @throws {A2AConfigurationError} for a skill that cannot be served, or when there is none at all */
  onModuleInit(): void {
    this.definitions.forEach((definition, index) => {
      this.registry.add(explicitSkill(definition, `skills[${index}]`));
    });
    for (const found of this.explorer.explore()) {
      const { metadata, origin } = found;
      this.registry.add({
        description: describeSkill(metadata.id, metadata),
        origin,
        invoke: this.invoker.bind(found),
      });
    }
    if (this.registry.descriptions().length === 0) {
      throw new A2AConfigurationError(
        'The agent has no skill. Annotate a method of a provider with @Skill("some-id"), or pass `skills` to A2AModule.',
      );
    }
  }
}

function explicitSkill(definition: SkillDefinition, origin: string): RegisteredSkill {
  const { id, handler, ...options } = definition;
  if (typeof (handler as unknown) !== 'function') {
    throw new A2AConfigurationError(`${origin} ("${id}"): \`handler\` is not a function. Give it one.`);
  }
  return {
    description: describeSkill(id, options),
    origin,
    invoke: (invocation) => {
      invocation.entered = true;
      const result = handler(invocation.task);
      invocation.streamed = isObservable(result);
      return Promise.resolve(result);
    },
  };
}
