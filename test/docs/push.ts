import { Module } from '@nestjs/common';
import { A2AModule } from 'nestjs-a2a';
import { AuthGuard, AuthModule, type AuthenticatedRequest } from './auth.js';
import { InvoicesModule } from './invoices.js';
import { InvoiceSkills } from './quickstart.js';

@Module({
  imports: [
    InvoicesModule,
    A2AModule.forRootAsync({
      guards: [AuthGuard],
      imports: [AuthModule],
      useFactory: () => ({
        card: {
          name: 'Invoices',
          description: 'Answers questions about invoices.',
          url: 'https://invoices.example.com',
        },
        principal: ({ user }: AuthenticatedRequest) => ({ owner: user?.id, scopes: user?.scopes ?? [] }),
        signing: { keys: [{ file: '/run/secrets/a2a-signing.pem' }] },
        push: {
          delivery: 'durable',
          requireHttps: true,
          signed: true,
          encryptionKeys: [process.env['A2A_PUSH_KEY'] ?? ''],
        },
      }),
    }),
  ],
  providers: [InvoiceSkills],
})
export class NotifyingModule {}
