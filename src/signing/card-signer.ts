import { canonicalAgentCard, encode, type AgentCard } from '#protocol';
import type { SigningKeys } from './signing.keys.js';

/**
 * Signs a card with each key. Signatures that it has already are replaced.
 *
 * The result is the card as `encode` writes it, since a capability that the card does not set shows as `false` there and is
 * signed as that. To encode it again changes nothing.
 *
 * @param jku the absolute URL where the key set is published; left out of the header when undefined
 * @returns without `signatures` when there are no keys
 * @throws {InvalidAgentResponseError} when the card breaks the protocol
 * @throws {NotJsonError} when it holds a lone surrogate
 * @see A2A v1.0 §8.4 Agent Card Signing
 */
export async function signCard(keys: SigningKeys, card: AgentCard, jku?: string): Promise<AgentCard> {
  const { signatures: _signatures, ...unsigned } = card;
  const content = encode('AgentCard', unsigned);
  // What was encoded as a card is one.
  const encoded = content as unknown as AgentCard;
  if (keys.isEmpty) return encoded;
  const signatures = await keys.sign(canonicalAgentCard(content), { ...(jku !== undefined && { jku }) });
  return { ...encoded, signatures: signatures.map((signature) => ({ ...signature })) };
}
