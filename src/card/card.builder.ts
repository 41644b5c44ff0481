import { Inject, Injectable } from '@nestjs/common';
import {
  PROTOCOL_VERSION,
  type AgentCapabilities,
  type AgentCard,
  type AgentInterface,
  type AgentSkill,
} from '#protocol';
import type { SkillDescription } from '../context/skill-description.js';
import { SkillRegistry } from '../skills/skill.registry.js';
import { A2A_CARD_OPTIONS, DEFAULT_MODES, requirementsOf, type CardOptions } from './card.options.js';
import { A2A_MOUNTED_BINDINGS, type MountedBinding } from './mounted-binding.js';
import { skillRequirements } from './skill-requirements.js';

/** Builds the agent's card from its options, skills and bindings. */
@Injectable()
export class CardBuilder {
  constructor(
    @Inject(A2A_CARD_OPTIONS) private readonly options: CardOptions,
    @Inject(A2A_MOUNTED_BINDINGS) private readonly bindings: readonly MountedBinding[],
    private readonly registry: SkillRegistry,
  ) {}

  /**
   * @param base the base URL of the application, without a slash at its end
   * @param capabilities what the agent can do beside the core
   * @returns a card that shares nothing with the options or with other cards
   */
  build(base: string, capabilities: AgentCapabilities): AgentCard {
    const { name, description, version = '1.0.0', provider, documentationUrl, iconUrl, security } = this.options;
    const securityRequirements = requirementsOf(this.options);
    return structuredClone({
      name,
      description,
      version,
      supportedInterfaces: this.interfaces(base),
      capabilities,
      defaultInputModes: [...(this.options.defaultInputModes ?? DEFAULT_MODES)],
      defaultOutputModes: [...(this.options.defaultOutputModes ?? DEFAULT_MODES)],
      skills: this.registry.descriptions().map((skill) => this.skill(skill)),
      ...(provider && { provider }),
      ...(documentationUrl !== undefined && { documentationUrl }),
      ...(iconUrl !== undefined && { iconUrl }),
      ...(security && { securitySchemes: security }),
      ...(securityRequirements.length > 0 && { securityRequirements: [...securityRequirements] }),
    });
  }

  private interfaces(base: string): AgentInterface[] {
    const { tenant, interfaces } = this.options;
    const common = { protocolVersion: PROTOCOL_VERSION, ...(tenant !== undefined && { tenant }) };
    return (
      interfaces?.map((each) => ({ protocolBinding: 'JSONRPC', ...common, ...each })) ??
      this.bindings.map((each) => ({ url: each.urlAt(base), protocolBinding: each.protocolBinding, ...common }))
    );
  }

  private skill(skill: SkillDescription): AgentSkill {
    const { id, name, description, tags, examples, inputModes, outputModes, scopes } = skill;
    const requirements = skillRequirements(scopes, requirementsOf(this.options), this.options.security ?? {});
    return {
      id,
      name,
      description,
      // A skill has at least one tag (§4.4.5, §5.7).
      tags: tags.length > 0 ? [...tags] : [id],
      examples: [...examples],
      inputModes: [...inputModes],
      outputModes: [...outputModes],
      ...(requirements.length > 0 && { securityRequirements: requirements }),
    };
  }
}
