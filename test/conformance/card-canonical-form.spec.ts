import { canonicalizeAgentCard, type AgentCard as PeerCard } from '@a2a-js/sdk';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalAgentCard, canonicalJson, type JsonValue } from '#protocol';
import { cardArbitrary } from '../support/card-arbitrary.js';

const CARD = {
  name: 'Agent',
  description: 'An agent.',
  supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'A skill.', tags: ['t'] }],
};

const peerForm = (card: object): string => canonicalizeAgentCard(card as PeerCard);

describe('§8.4.1 the canonical form of a card, beside that of the official SDK', () => {
  it('differs for every card in one thing: the SDK takes all that is empty out of it (CONF-36, CARD-09)', () => {
    fc.assert(
      fc.property(cardArbitrary({ empty: true }), (card) => {
        const ours = JSON.parse(canonicalAgentCard(card)) as JsonValue;
        expect(canonicalJson(withoutEmpty(ours) ?? {})).toBe(peerForm(card));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same where nothing is empty that the specification keeps (CONF-36, B-99)', () => {
    fc.assert(
      fc.property(cardArbitrary({ empty: false }), (card) => {
        expect(canonicalAgentCard(card)).toBe(peerForm(card));
      }),
      { numRuns: 500 },
    );
    const rich = {
      ...CARD,
      name: 'Agént €😀',
      vendor: { a: 1 },
      capabilities: { streaming: false, extensions: [{ uri: 'e', required: false, params: { b: 1, a: [false, 0] } }] },
      skills: [{ ...CARD.skills[0], examples: [], inputModes: ['text/plain'], price: 5 }],
      securitySchemes: { key: { apiKeySecurityScheme: { description: '', location: 'header', name: 'X-Key' } } },
      securityRequirements: [{ schemes: { key: { list: ['read'] } } }],
    };
    expect(canonicalAgentCard(rich)).toBe(peerForm(rich));
  });

  it.each<[string, object, string]>([
    ['a required text that is empty', { description: '' }, '"description":""'],
    ['a required list that is empty', { skills: [] }, '"skills":[]'],
    ['the required tags of a skill', { skills: [{ ...CARD.skills[0], tags: [] }] }, '"tags":[]'],
    ['required capabilities that are empty', { capabilities: {} }, '"capabilities":{}'],
    ['an optional text that was set to be empty', { documentationUrl: '' }, '"documentationUrl":""'],
    ['an empty text in a list', { defaultInputModes: ['text/plain', ''] }, '["text/plain",""]'],
    ['a scheme without members', { securitySchemes: { t: { mtlsSecurityScheme: {} } } }, '"mtlsSecurityScheme":{}'],
    [
      'a requirement that needs no scopes',
      { securityRequirements: [{ schemes: { key: { list: [] } } }] },
      '"securityRequirements":[{"schemes":{"key":{}}}]',
    ],
    [
      'required scopes that are empty',
      {
        securitySchemes: {
          o: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 't', scopes: {} } } } },
        },
      },
      '"scopes":{}',
    ],
    [
      'empty values and null in the parameters of an extension',
      { capabilities: { extensions: [{ uri: 'e', params: { a: null, b: '' } }] } },
      '"params":{"a":null,"b":""}',
    ],
  ])('keeps, where the SDK does not, %s (CONF-36)', (_what, more, kept) => {
    expect(canonicalAgentCard({ ...CARD, ...more })).toContain(kept);
    expect(peerForm({ ...CARD, ...more })).not.toContain(kept);
  });
});

/** What the SDK does to a card: nothing that is empty stays, nor what becomes empty by that. */
function withoutEmpty(value: JsonValue): JsonValue | undefined {
  if (value === '' || value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined);
    return items.length > 0 ? items : undefined;
  }
  const members = Object.entries(value).flatMap(([key, member]) => {
    const kept = withoutEmpty(member);
    return kept === undefined ? [] : [[key, kept] as const];
  });
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}
