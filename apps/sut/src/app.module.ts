import type { AddressInfo, Server } from 'node:net';
import { Module, type DynamicModule } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { A2AModule } from 'nestjs-a2a';
import { FixtureSkills } from './fixture/fixture.skills.js';
import { headerPrincipal } from './header-principal.js';
import { NO_LIMITS } from './limits.js';
import type { SutSettings } from './settings.js';
import { StatController } from './stat.controller.js';

/** The system under test: an agent whose one skill behaves as it is told. */
@Module({})
export class AppModule {
  static with({
    limits,
    database,
    lease,
    privateWebhooks = false,
  }: Omit<SutSettings, 'port' | 'adapter'>): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ...(database === undefined ? [] : [TypeOrmModule.forRoot(dataSourceOptions(database))]),
        A2AModule.forRootAsync({
          inject: [HttpAdapterHost],
          useFactory: ({ httpAdapter }: HttpAdapterHost) => ({
            card: {
              name: 'System under test',
              description: 'Does what the conformance kit and the black-box tests ask for.',
              version: '0.1.0',
              url: () => baseUrl(httpAdapter.getHttpServer() as Server),
              provider: { organization: 'nestjs-a2a', url: 'https://example.com' },
            },
            principal: headerPrincipal,
            push: { allowPrivate: privateWebhooks },
            ...(lease !== undefined && { lease }),
            ...(!limits && NO_LIMITS),
          }),
        }),
      ],
      controllers: [StatController],
      providers: [FixtureSkills],
    };
  }
}

/** Known once the server listens, so that port 0 works. */
function baseUrl(server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

function dataSourceOptions(database: string): TypeOrmModuleOptions {
  const common = { autoLoadEntities: true, retryAttempts: 0 };
  return database.startsWith('sqlite:')
    ? { type: 'better-sqlite3', database: database.slice('sqlite:'.length), enableWAL: true, ...common }
    : { type: 'postgres', url: database, ...common };
}
