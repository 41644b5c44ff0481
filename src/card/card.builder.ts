import { Inject, Injectable } from '@nestjs/common';
import { PROTOCOL_VERSION, type AgentCapabilities, type AgentCard, type AgentSkill } from '#protocol';
import type { SkillDescription } from '../context/skill-description.js';
import { SkillRegistry } from '../skills/skill.registry.js';
import { A2A_CARD_OPTIONS, DEFAULT_MODES, type CardOptions } from './card.options.js';

/** Builds the agent's card from its options and skills. */
@Injectable()
export class CardBuilder {
  constructor(
    @Inject(A2A_CARD_OPTIONS) private readonly options: CardOptions,
    private readonly registry: SkillRegistry,
  ) {}

  /**
   * @param endpointUrl the absolute URL of the JSON-RPC endpoint
   * @param capabilities what the agent can do beside the core
   */
  build(endpointUrl: string, capabilities: AgentCapabilities): AgentCard {
    const { name, description, version = '1.0.0', tenant, provider, documentationUrl, iconUrl } = this.options;
    const { securitySchemes, securityRequirements } = this.options;
    return {
      name,
      description,
      version,
      supportedInterfaces: [
        {
          url: endpointUrl,
          protocolBinding: 'JSONRPC',
          protocolVersion: PROTOCOL_VERSION,
          ...(tenant !== undefined && { tenant }),
        },
      ],
      capabilities,
      defaultInputModes: [...(this.options.defaultInputModes ?? DEFAULT_MODES)],
      defaultOutputModes: [...(this.options.defaultOutputModes ?? DEFAULT_MODES)],
      skills: this.registry.descriptions().map(cardSkill),
      ...(provider && { provider }),
      ...(documentationUrl !== undefined && { documentationUrl }),
      ...(iconUrl !== undefined && { iconUrl }),
      ...(securitySchemes && { securitySchemes }),
      ...(securityRequirements && { securityRequirements: [...securityRequirements] }),
    };
  }
}

function cardSkill({ id, name, description, tags, examples, inputModes, outputModes }: SkillDescription): AgentSkill {
  return {
    id,
    name,
    description,
    tags: [...tags],
    examples: [...examples],
    inputModes: [...inputModes],
    outputModes: [...outputModes],
  };
}
