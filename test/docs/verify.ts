import { verifyAgentCard } from 'nestjs-a2a/client';
import type { AgentCard } from 'nestjs-a2a/protocol';

/** The card of a partner, if it is the partner's. What was not signed is not on it. */
export async function partnerCard(base: string): Promise<AgentCard> {
  const response = await fetch(`${base}/.well-known/agent-card.json`, { redirect: 'error' });
  const { card } = await verifyAgentCard((await response.json()) as AgentCard, {
    jwksUrls: ['https://invoices.example.com/.well-known/jwks.json'],
  });
  return card;
}
