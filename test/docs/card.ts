import { Module } from '@nestjs/common';
import { A2AModule, httpBearer, oauth2, type ExtendedCardContext } from 'nestjs-a2a';
import type { AgentCard } from 'nestjs-a2a/protocol';
import { AuthGuard, AuthModule, type AuthenticatedRequest } from './auth.js';
import { InvoiceSkills } from './quickstart.js';
import { InvoicesModule } from './invoices.js';

/** What callers of a partner see beside the public card. */
function extendedCard(card: AgentCard, { tenant }: ExtendedCardContext): AgentCard | undefined {
  if (tenant !== 'partners') return undefined;
  card.skills.push({ id: 'bulk', name: 'Bulk', description: 'Reads invoices by the thousand.', tags: ['invoices'] });
  return card;
}

@Module({
  imports: [
    InvoicesModule,
    A2AModule.forRoot({
      guards: [AuthGuard],
      imports: [AuthModule],
      principal: ({ user }: AuthenticatedRequest) => ({ owner: user?.id, scopes: user?.scopes ?? [] }),
      card: {
        name: 'Invoices',
        description: 'Answers questions about invoices.',
        url: 'https://invoices.example.com',
        security: {
          partners: oauth2({
            clientCredentials: {
              tokenUrl: 'https://id.example.com/token',
              scopes: { 'invoices:read': 'Reads invoices.' },
            },
          }),
          staff: httpBearer('JWT'),
        },
      },
      extendedCard,
      challenge: 'Bearer realm="invoices"',
      protectedResource: { authorizationServers: ['https://id.example.com'] },
    }),
  ],
  providers: [InvoiceSkills],
})
export class DiscoverableModule {}
