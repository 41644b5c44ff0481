import { Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { HttpAdapterHost } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { A2AModule, httpBearer } from 'nestjs-a2a';
import { A2AHealthIndicator } from 'nestjs-a2a/terminus';
import { AuthModule } from './auth/auth.module.js';
import { JwtAuthGuard } from './auth/jwt-auth.guard.js';
import type { AuthenticatedRequest } from './auth/user.js';
import { database, publicUrl } from './environment.js';
import { HealthController } from './health/health.controller.js';
import { InvoicesModule } from './invoices/invoices.module.js';
import { signingKey } from './signing-key.js';

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true }),
    TypeOrmModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        ...database(config),
        // The invoices and, since the agent finds this DataSource, its tasks.
        autoLoadEntities: true,
        // Fine for a demonstration; a real application has migrations.
        synchronize: true,
      }),
    }),
    InvoicesModule,
    TerminusModule,

    // All that makes the application an agent, beside the @Skill methods of InvoiceSkills.
    A2AModule.forRootAsync({
      guards: [JwtAuthGuard],
      imports: [AuthModule],
      inject: [ConfigService, HttpAdapterHost],
      useFactory: (config: ConfigService, host: HttpAdapterHost) => ({
        card: {
          name: 'Invoices',
          description: 'Answers questions about invoices, and drafts reminders.',
          version: '1.0.0',
          url: () => publicUrl(config, host),
          security: { bearer: httpBearer('JWT') },
        },
        principal: ({ user }: AuthenticatedRequest) => ({
          owner: user?.sub,
          tenant: user?.tenant,
          scopes: user?.scopes ?? [],
        }),
        challenge: 'Bearer',
        signing: { keys: async () => [await signingKey(config)] },
        push: {
          delivery: 'durable',
          signed: true,
          // So that a webhook on this machine can be tried.
          allowPrivate: config.get<string>('NODE_ENV') !== 'production',
        },
      }),
    }),
  ],
  controllers: [HealthController],
  providers: [A2AHealthIndicator],
})
export class AppModule {}
