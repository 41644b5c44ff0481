import { always, bool, mapOf, message, optional, repeated, required, string, struct } from './field.js';

/** The messages that an agent card is made of (A2A v1.0 §4.4). */
export const CARD_MESSAGES = {
  AgentCard: {
    name: required(string),
    description: required(string),
    supportedInterfaces: required(repeated(message('AgentInterface'))),
    provider: message('AgentProvider'),
    version: required(string),
    documentationUrl: optional(string),
    capabilities: required(message('AgentCapabilities')),
    securitySchemes: mapOf(message('SecurityScheme')),
    securityRequirements: repeated(message('SecurityRequirement')),
    defaultInputModes: required(repeated(string)),
    defaultOutputModes: required(repeated(string)),
    skills: required(repeated(message('AgentSkill'))),
    signatures: repeated(message('AgentCardSignature')),
    iconUrl: optional(string),
  },
  AgentInterface: {
    url: required(string),
    protocolBinding: required(string),
    tenant: string,
    protocolVersion: required(string),
  },
  AgentProvider: {
    url: required(string),
    organization: required(string),
  },
  AgentCapabilities: {
    streaming: always(optional(bool)),
    pushNotifications: always(optional(bool)),
    extensions: repeated(message('AgentExtension')),
    extendedAgentCard: optional(bool),
  },
  AgentExtension: {
    uri: string,
    description: string,
    required: bool,
    params: struct,
  },
  AgentSkill: {
    id: required(string),
    name: required(string),
    description: required(string),
    tags: required(repeated(string)),
    examples: repeated(string),
    inputModes: repeated(string),
    outputModes: repeated(string),
    securityRequirements: repeated(message('SecurityRequirement')),
  },
  AgentCardSignature: {
    protected: required(string),
    signature: required(string),
    header: struct,
  },
};
