import { describe, expect, it } from '@jest/globals';
import { InvalidAgentResponseError } from '../errors/domain-errors.js';
import type { JsonObject } from '../json.js';
import type { AgentCard } from '../model.js';
import { NotJsonError } from '../not-json-error.js';
import { canonicalAgentCard } from './canonical-card.js';
import { encode } from './encode.js';

const CARD: AgentCard = {
  name: 'Agent',
  description: 'An agent.',
  supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  version: '1.0.0',
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'A skill.', tags: ['t'] }],
};

/** The canonical form of a card with these members, read back. */
const canonical = (more: object = {}): Record<string, unknown> =>
  JSON.parse(canonicalAgentCard({ ...CARD, ...more })) as Record<string, unknown>;

describe('the canonical form of a card', () => {
  it('is that of the example of the specification (§8.4.1, B-99)', () => {
    const fragment = {
      name: 'Example Agent',
      description: '',
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    };
    // The fragment lacks other required fields, which the rules put in.
    const { name, description, capabilities, skills, ...rest } = JSON.parse(canonicalAgentCard(fragment)) as JsonObject;
    expect(JSON.stringify({ capabilities, description, name, skills })).toBe(
      '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
    );
    expect(rest).toEqual({ defaultInputModes: [], defaultOutputModes: [], supportedInterfaces: [], version: '' });
  });

  it('is text in the form of RFC 8785, without signatures (CARD-09)', () => {
    const signatures = [{ protected: 'e30', signature: 'AA' }];
    expect(canonicalAgentCard({ ...CARD, name: 'Agént €', signatures })).toBe(
      '{"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],' +
        '"description":"An agent.","name":"Agént €","skills":[{"description":"A skill.","id":"s","name":"S","tags":["t"]}],' +
        '"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://a.example/a2a"}],' +
        '"version":"1.0.0"}',
    );
  });

  it('does not look at the signatures, however malformed (§8.4.1)', () => {
    const signatures: unknown = [null, 5];
    expect(canonicalAgentCard({ ...CARD, signatures } as AgentCard)).toBe(canonicalAgentCard(CARD));
  });

  it('has every required field, with its default where the card leaves it out (§8.4.1)', () => {
    const without = { ...CARD, description: undefined, skills: [{ id: 's', name: 'S' }], defaultInputModes: null };
    expect(JSON.parse(canonicalAgentCard(without as unknown as JsonObject))).toEqual({
      ...CARD,
      description: '',
      skills: [{ id: 's', name: 'S', description: '', tags: [] }],
      defaultInputModes: [],
    });
    expect(canonical({ provider: {} })['provider']).toEqual({ url: '', organization: '' });
    const flows = { clientCredentials: { tokenUrl: 't', scopes: {} } };
    expect(canonical({ securitySchemes: { o: { oauth2SecurityScheme: { flows } } } })['securitySchemes']).toEqual({
      o: { oauth2SecurityScheme: { flows } },
    });
  });

  it('tells an optional field that is set to its default from one that is not set (§8.4.1, B-99)', () => {
    const set = { streaming: false, pushNotifications: false, extendedAgentCard: false };
    expect(canonical({ capabilities: set })['capabilities']).toEqual(set);
    expect(canonical({ capabilities: { streaming: null } })['capabilities']).toEqual({});
    expect(canonical({ documentationUrl: '', iconUrl: '' })).toMatchObject({ documentationUrl: '', iconUrl: '' });
  });

  it('has no other field with its default (§8.4.1, B-99)', () => {
    const card = {
      securitySchemes: {},
      securityRequirements: [],
      supportedInterfaces: [{ ...CARD.supportedInterfaces[0], tenant: '' }],
      skills: [{ ...CARD.skills[0], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
      capabilities: { extensions: [{ uri: 'e', description: '', required: false, params: {} }] },
    };
    expect(canonical(card)).toEqual({ ...CARD, capabilities: { extensions: [{ uri: 'e' }] } });
  });

  it('keeps what has presence though it is empty: members of maps, lists and oneofs', () => {
    const card = {
      securitySchemes: { tls: { mtlsSecurityScheme: {} }, key: {} },
      securityRequirements: [{ schemes: { tls: { list: [] } } }, {}],
      skills: [{ ...CARD.skills[0], examples: [''] }],
    };
    expect(canonical(card)).toEqual({
      ...CARD,
      ...card,
      securityRequirements: [{ schemes: { tls: {} } }, {}],
    });
  });

  it('keeps the parameters of an extension as they are', () => {
    const params = { a: null, b: '', c: [], d: {}, e: false, snake_case: 1, '': { list: [[], [''], null] } };
    expect(canonical({ capabilities: { extensions: [{ uri: 'e', params }] } })['capabilities']).toEqual({
      extensions: [{ uri: 'e', params }],
    });
  });

  it('says nothing of fields that the schema does not know, at any depth (§5.7)', () => {
    const card = {
      vendor: { a: 1 },
      capabilities: { teleport: true },
      skills: [{ ...CARD.skills[0], price: 5 }],
      securitySchemes: { x: { quantumSecurityScheme: {} } },
    };
    expect(canonical(card)).toEqual({ ...CARD, securitySchemes: { x: {} } });
  });

  it('is one for both spellings of a field (R-06)', () => {
    const { supportedInterfaces, defaultInputModes, ...rest } = CARD;
    const spelled = {
      ...rest,
      supported_interfaces: [{ url: 'https://a.example/a2a', protocol_binding: 'JSONRPC', protocolVersion: '1.0' }],
      default_input_modes: defaultInputModes,
    };
    expect(supportedInterfaces).toHaveLength(1);
    expect(canonicalAgentCard(spelled as unknown as JsonObject)).toBe(canonicalAgentCard(CARD));
  });

  it('is that of the encoded card once encoded, and is its own canonical form (B-99)', () => {
    const wire = encode('AgentCard', {
      ...CARD,
      iconUrl: '',
      securityRequirements: [{ schemes: { k: { list: [] } } }],
    });
    const text = canonicalAgentCard(wire);
    expect(text).toContain('"capabilities":{"pushNotifications":false,"streaming":false}');
    expect(canonicalAgentCard(JSON.parse(text) as JsonObject)).toBe(text);
  });

  it('keeps a map key such as __proto__ as data (S-17)', () => {
    const securitySchemes: unknown = JSON.parse('{"__proto__":{"mtlsSecurityScheme":{}}}');
    expect(canonicalAgentCard({ ...CARD, securitySchemes } as AgentCard)).toContain(
      '"securitySchemes":{"__proto__":{"mtlsSecurityScheme":{}}}',
    );
  });
});

describe('what has no canonical form', () => {
  it.each<[string, object]>([
    ['a name of another type', { name: 5 }],
    ['a flag of another type', { capabilities: { streaming: 'no' } }],
    ['no capabilities', { capabilities: null }],
    ['a list that is none', { skills: {} }],
    ['a map that is none', { securitySchemes: [] }],
    ['null in a list', { defaultInputModes: [null] }],
    ['a null parameter object in a list', { capabilities: { extensions: [null] } }],
    ['parameters that are a list', { capabilities: { extensions: [{ uri: 'e', params: [] }] } }],
    ['a field in both spellings', { default_input_modes: ['text/plain'] }],
  ])('is a card with %s', (_what, more) => {
    expect(() => canonicalAgentCard({ ...CARD, ...more })).toThrow(InvalidAgentResponseError);
  });

  it.each([null, [], 'card', 5])('is %j', (card) => {
    expect(() => canonicalAgentCard(card as unknown as AgentCard)).toThrow(InvalidAgentResponseError);
  });

  it('is a card with a lone surrogate', () => {
    expect(() => canonicalAgentCard({ ...CARD, name: '\ud800' })).toThrow(NotJsonError);
  });
});
