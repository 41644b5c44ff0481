import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication, LoggerService, ModuleMetadata, Provider, Type } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { A2AModule, A2AService, type A2AModuleExtras, type A2AOptions } from 'nestjs-a2a';

/** The HTTP adapters that everything must work on. */
export const ADAPTERS = ['express', 'fastify'] as const;
export type Adapter = (typeof ADAPTERS)[number];

/** How a test's agent differs from the plain one. */
export interface AgentSetup {
  readonly adapter?: Adapter;
  readonly skills?: readonly Provider[];
  readonly options?: Partial<A2AOptions> & A2AModuleExtras;
  readonly imports?: ModuleMetadata['imports'];
  readonly providers?: readonly Provider[];
  readonly controllers?: readonly Type[];
  /** Changes the application before it is initialised, as a `main.ts` would. */
  readonly configure?: (app: INestApplication) => void | Promise<void>;
  /** @default none: tests provoke faults on purpose */
  readonly logger?: LoggerService;
  /** The options of the Fastify instance. */
  readonly fastify?: ConstructorParameters<typeof FastifyAdapter>[0];
  readonly appOptions?: {
    readonly bodyParser?: boolean;
    readonly rawBody?: boolean;
    readonly forceCloseConnections?: boolean;
  };
}

/** A running agent. */
export interface Agent {
  readonly app: INestApplication;
  readonly service: A2AService;
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** The headers by which the tests' principal is told. */
interface TestRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Reads the principal from `x-user`, `x-tenant` and `x-scopes`. Without `x-user` nobody calls. */
export function headerPrincipal({ headers }: TestRequest) {
  return {
    owner: headers['x-user'],
    tenant: headers['x-tenant'],
    scopes: headers['x-scopes'] === undefined ? null : headers['x-scopes'].split(' ').filter((scope) => scope !== ''),
  };
}

/** Boots an application with the module on a free port of the loopback address. */
export async function startAgent(setup: AgentSetup = {}): Promise<Agent> {
  const { skills = [], providers = [], controllers = [], imports = [], options = {} } = setup;
  const builder = Test.createTestingModule({
    imports: [
      ...imports,
      A2AModule.forRoot({
        card: { name: 'Test agent', description: 'An agent under test.' },
        principal: headerPrincipal,
        ...options,
      }),
    ],
    providers: [...skills, ...providers],
    controllers: [...controllers],
  });
  const module = await builder.compile();
  const appOptions = { forceCloseConnections: true, logger: setup.logger ?? false, ...setup.appOptions } as const;
  const app =
    setup.adapter === 'fastify'
      ? module.createNestApplication(new FastifyAdapter(setup.fastify), appOptions)
      : module.createNestApplication(appOptions);
  await setup.configure?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { app, service: app.get(A2AService), url: `http://127.0.0.1:${port}`, close: () => app.close() };
}
