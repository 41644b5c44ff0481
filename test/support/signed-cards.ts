import { createPublicKey, sign, type KeyObject } from 'node:crypto';
import { canonicalAgentCard, type AgentCard, type AgentCardSignature } from '#protocol';
import type { TrustedJwk } from '#client';
import { jwkOf } from './signing-keys.js';

/** A card that has what canonical forms differ over: non-ASCII text, empty lists, an explicit false, unset flags. */
export const SIGNED_CARD: AgentCard = {
  name: 'Agént €😀',
  description: 'Answers.',
  supportedInterfaces: [
    { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  version: '1.0.0',
  capabilities: {
    streaming: false,
    extensions: [{ uri: 'https://a.example/ext', required: false, params: { z: [1, false], a: 'b' } }],
  },
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
  securityRequirements: [{ schemes: { key: { list: ['read'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'Ä skill.', tags: ['t'], examples: [], inputModes: [] }],
};

/** The public JWK of a key, as somebody pins it. */
export function pinned(key: KeyObject, more: Record<string, unknown> = {}): TrustedJwk {
  return { ...jwkOf(key.type === 'public' ? key : createPublicKey(key)), ...more };
}

/** A signature made by hand, so that everything in it can be wrong; over the card's canonical form when nothing else is said. */
export function forge(
  card: AgentCard,
  header: object | string,
  signer: KeyObject | ((input: Buffer) => Buffer),
  payload = canonicalAgentCard(card),
): AgentCardSignature {
  const text = typeof header === 'string' ? header : JSON.stringify(header);
  const encoded = Buffer.from(text).toString('base64url');
  const input = Buffer.from(`${encoded}.${Buffer.from(payload).toString('base64url')}`);
  const signature =
    typeof signer === 'function' ? signer(input) : sign('sha256', input, { key: signer, dsaEncoding: 'ieee-p1363' });
  return { protected: encoded, signature: signature.toString('base64url') };
}
