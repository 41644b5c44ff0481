import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { connect as connectHttp2, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  All,
  Controller,
  Get,
  Injectable,
  type CallHandler,
  type CanActivate,
  type INestApplication,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import express from 'express';
import { A2AConfigurationError, A2AModule, Skill, type A2AModuleExtras, type A2AOptions } from 'nestjs-a2a';
import { ADAPTERS, headerPrincipal, startAgent, type Adapter, type Agent } from '../support/agent.js';
import { newcomer, textOf } from '../support/caller.js';
import { bodyless, exchangeRaw, postBytes, type HttpAnswer } from '../support/http-client.js';
import { pathTricks } from '../support/path-tricks.js';
import { send } from '../support/rpc.js';
import { startDemo, type SutProcess } from '../support/sut-process.js';

const NEUTRAL = { statusCode: 404, message: 'Not Found' };

/** What of the host ran, in the order in which it did. */
const ran: string[] = [];

@Injectable()
class InvoiceService {
  count(): number {
    ran.push('service');
    return 6;
  }
}

/** The host's routes, the last of which takes everything, as the page of a single-page application does. */
@Controller()
class HostController {
  constructor(private readonly invoices: InvoiceService) {}

  @All(['invoices', 'invoices/:id'])
  list(): object {
    ran.push('invoices');
    return { count: this.invoices.count() };
  }

  @Get(['health', 'health/live'])
  health(): object {
    ran.push('health');
    return { status: 'ok' };
  }

  @Get('*')
  page(): string {
    ran.push('page');
    return 'page';
  }
}

@Injectable()
class Skills {
  constructor(private readonly invoices: InvoiceService) {}

  @Skill('count')
  count(): string {
    return `${this.invoices.count()} invoices`;
  }
}

@Injectable()
class Guard implements CanActivate {
  canActivate(): boolean {
    ran.push('guard');
    return true;
  }
}

@Injectable()
class Interceptor implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler) {
    ran.push('interceptor');
    return next.handle();
  }
}

/** What a host may have beside its routes: middleware, and others that listen to the server itself. */
function configure(app: INestApplication): void {
  app.use((_request: unknown, response: ServerResponse, next: () => void) => {
    ran.push('middleware');
    response.setHeader('x-middleware', 'seen');
    next();
  });
  const server = app.getHttpServer() as Server;
  server.on('upgrade', (_request, socket) => {
    ran.push('gateway');
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  // As engine.io does, whose clients poll before they upgrade.
  const others = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/socket.io/') === true) {
      ran.push('gateway');
      response.end('polled');
    } else for (const each of others) (each as (...args: unknown[]) => void).call(server, request, response);
  });
}

function start(adapter: Adapter, options: Partial<A2AOptions> & A2AModuleExtras = {}, prefix?: string): Promise<Agent> {
  return startAgent({
    adapter,
    options,
    skills: [Skills],
    controllers: [HostController],
    providers: [
      InvoiceService,
      { provide: APP_GUARD, useClass: Guard },
      { provide: APP_INTERCEPTOR, useClass: Interceptor },
    ],
    configure: (app) => {
      configure(app);
      if (prefix !== undefined) app.setGlobalPrefix(prefix);
    },
  });
}

/** Sends a target as it is written, and gives the whole answer. */
function ask(url: string, target: string, method = 'GET', headers = ''): Promise<string> {
  return exchangeRaw(url, `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`);
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/u.exec(answer)?.[1]);
}

beforeEach(() => {
  ran.length = 0;
});

describe.each(ADAPTERS)('The role agent on %s', (adapter) => {
  let agent: Agent;

  beforeAll(async () => {
    agent = await start(adapter, { role: 'agent' });
  });
  afterAll(() => agent.close());

  it("serves the exchange through the host's middleware, guards and interceptors (ROLE-01a)", async () => {
    const answer = await send(agent.url, 'count');
    expect(answer.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answer.headers.get('x-middleware')).toBe('seen');
    expect(ran).toEqual(['middleware', 'guard', 'interceptor', 'service']);
  });

  it('serves the exchange with a slash and a query behind its path, and streams (ROLE-01a, R-07)', async () => {
    expect((await send(agent.url, 'count', { call: { path: '/a2a/?x=1' } })).status).toBe(200);
    const frames = await postBytes(
      agent.url,
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendStreamingMessage',
        params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'count' }] } },
      }),
    );
    expect(frames.text).toContain('TASK_STATE_COMPLETED');
  });

  it('still refuses what the exchange refuses in any role (ROLE-01a)', async () => {
    expect((await bodyless(agent.url, 'GET')).status).toBe(405);
    expect((await postBytes(agent.url, '{', { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });

  it('serves the card and lets the other well-known documents through to their routes (ROLE-01b)', async () => {
    const card = await bodyless(agent.url, 'GET', { path: '/.well-known/agent-card.json?x' });
    expect(card).toMatchObject({ status: 200, body: { name: 'Test agent' } });
    for (const name of ['jwks.json', 'agent.json', 'oauth-protected-resource', 'oauth-protected-resource/a2a']) {
      expect((await bodyless(agent.url, 'GET', { path: `/.well-known/${name}` })).body).not.toEqual(NEUTRAL);
    }
  });

  it("serves the host's health (ROLE-01b)", async () => {
    for (const path of ['/health', '/health/live', '/health?verbose']) {
      expect(await bodyless(agent.url, 'GET', { path })).toMatchObject({ status: 200, body: { status: 'ok' } });
    }
    expect(ran.filter((each) => each === 'health')).toHaveLength(3);
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])(
    'answers 404 to %s of a REST route, in a neutral body, before anything of the host runs (ROLE-01a)',
    async (method) => {
      const answer = await ask(agent.url, '/invoices', method);
      expect(statusOf(answer)).toBe(404);
      const [head = '', body] = answer.split('\r\n\r\n');
      expect(head).not.toMatch(/express|fastify|x-middleware/iu);
      expect(body).toBe(method === 'HEAD' ? '' : JSON.stringify(NEUTRAL));
      expect(ran).toEqual([]);
    },
  );

  it('answers 404 to a REST route that is sent a body, and reads it away (ROLE-01a)', async () => {
    const answer = await postBytes(agent.url, 'x'.repeat(300_000), { path: '/invoices' });
    expect(answer).toMatchObject({ status: 404, body: NEUTRAL });
    expect(ran).toEqual([]);
  });

  it.each(['GET', 'POST'])(
    'answers 404 to %s of every path that is not on the list to the letter (ROLE-01a)',
    async (method) => {
      const tricks = pathTricks('/a2a');
      expect(new Set(tricks).size).toBeGreaterThanOrEqual(100);
      const served: string[] = [];
      for (const trick of tricks) {
        if (statusOf(await ask(agent.url, trick, method)) !== 404) served.push(trick);
      }
      expect(served).toEqual([]);
      expect(ran).toEqual([]);
    },
  );

  it('upgrades no connection, on a listed path or another (ROLE-01a)', async () => {
    const upgrade =
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    for (const target of ['/', '/a2a', '/health', '/socket.io/?EIO=4&transport=websocket']) {
      const answer = await exchangeRaw(
        agent.url,
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n${upgrade}\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/u);
      expect(answer.endsWith(`\r\n\r\n${JSON.stringify(NEUTRAL)}`)).toBe(true);
    }
    expect(ran).toEqual([]);
  });

  it('survives a client that goes away while its upgrade is refused', async () => {
    const { hostname, port } = new URL(agent.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', () => {
          socket.resetAndDestroy();
          resolve();
        });
      });
    });
    expect((await bodyless(agent.url, 'GET', { path: '/health' })).status).toBe(200);
  });

  it('lets a skill use what the REST routes use (ROLE-02)', async () => {
    expect((await bodyless(agent.url, 'GET', { path: '/invoices' })).status).toBe(404);
    const task = await newcomer(agent.url).task('count');
    expect(textOf(task.artifacts[0]!)).toBe('6 invoices');
  });
});

describe.each(ADAPTERS)('The role agent behind a global prefix on %s', (adapter) => {
  let agent: Agent;

  beforeAll(async () => {
    agent = await start(adapter, { role: 'agent', healthPaths: ['/api/health'] }, 'api');
  });
  afterAll(() => agent.close());

  it('serves the exchange, the documents and the health at their full paths (ROLE-01b)', async () => {
    expect((await send(agent.url, 'count', { call: { path: '/api/a2a' } })).status).toBe(200);
    expect((await bodyless(agent.url, 'GET', { path: '/.well-known/agent-card.json' })).status).toBe(200);
    expect((await bodyless(agent.url, 'GET', { path: '/api/health' })).status).toBe(200);
  });

  it('serves nothing else, the health paths that it was not given among it (ROLE-01a)', async () => {
    ran.length = 0;
    for (const path of [
      '/a2a',
      '/health',
      '/api/health/live',
      '/api/invoices',
      '/api',
      '/api/',
      ...pathTricks('/api/a2a'),
    ]) {
      expect([path, statusOf(await ask(agent.url, path))]).toEqual([path, 404]);
    }
    expect(ran).toEqual([]);
  });
});

describe.each(ADAPTERS)('The role all on %s', (adapter) => {
  let agent: Agent;

  beforeAll(async () => {
    agent = await start(adapter);
  });
  afterAll(() => agent.close());

  it('serves everything: most of the tricks do come to the host (ROLE-01a)', async () => {
    let reached = 0;
    for (const trick of pathTricks('/a2a')) {
      ran.length = 0;
      await ask(agent.url, trick);
      if (ran.some((each) => each === 'invoices' || each === 'page')) reached++;
    }
    expect(reached).toBeGreaterThanOrEqual(60);
  });

  it('leaves the gateways of the host alone (ROLE-01a)', async () => {
    const answer = await ask(agent.url, '/', 'GET', 'Connection: Upgrade\r\nUpgrade: websocket\r\n');
    expect(statusOf(answer)).toBe(101);
    expect((await bodyless(agent.url, 'GET', { path: '/socket.io/' })).text).toBe('polled');
    expect(ran).toEqual(['gateway', 'gateway']);
  });
});

describe('The role agent over HTTP/2', () => {
  it('serves the same paths, and no tunnel (ROLE-01a)', async () => {
    const agent = await startAgent({
      adapter: 'fastify',
      fastify: { http2: true } as never,
      options: { role: 'agent' },
      skills: [Skills],
      controllers: [HostController],
      providers: [InvoiceService],
    });
    (agent.app.getHttpServer() as Server).on('connect', () => ran.push('gateway'));
    const session = connectHttp2(agent.url);
    const status = async (headers: OutgoingHttpHeaders): Promise<unknown> => {
      const stream = session.request(headers).resume();
      const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      return answer[':status'];
    };
    const statuses = [
      await status({ ':path': '/.well-known/agent-card.json' }),
      await status({ ':path': '/health?x' }),
      await status({ ':path': '/invoices' }),
      await status({ ':path': '/a2a/../invoices' }),
      await status({ ':method': 'CONNECT', ':authority': 'localhost:80' }),
    ];
    session.destroy();
    await agent.close();
    expect(statuses).toEqual([200, 200, 404, 404, 404]);
    expect(ran).toEqual(['health']);
  });
});

describe('The role agent on servers that the host puts before its router', () => {
  /** Serves by another server than the application's own, and gives what two paths answer. */
  async function answersOf(handler: RequestListener): Promise<{ admin: HttpAnswer; card: HttpAnswer }> {
    const server = createServer(handler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const admin = await bodyless(url, 'GET', { path: '/admin' });
    const card = await bodyless(url, 'GET', { path: '/.well-known/agent-card.json' });
    server.closeAllConnections();
    server.close();
    return { admin, card };
  }

  it('stands before the routes of an Express application that the host brings (ROLE-01a)', async () => {
    const instance = express().get('/admin', (_request, response) => void response.send('admin'));
    const module = await Test.createTestingModule({
      imports: [
        A2AModule.forRoot({
          card: { name: 'Test agent', description: 'An agent under test.' },
          principal: headerPrincipal,
          role: 'agent',
          skills: [{ id: 'noop', description: 'Does nothing.', handler: () => undefined }],
        }),
      ],
    }).compile();
    const app = module.createNestApplication(new ExpressAdapter(instance), { logger: false });
    await app.init();
    const { admin, card } = await answersOf(instance);
    await app.close();
    expect(admin).toMatchObject({ status: 404, body: NEUTRAL });
    expect(card.status).toBe(200);
  });

  it('stands before the routes of Fastify (ROLE-01a)', async () => {
    const agent = await start('fastify', { role: 'agent' });
    const { routing } = agent.app.getHttpAdapter().getInstance() as { routing: RequestListener };
    const { admin, card } = await answersOf(routing);
    await agent.close();
    expect(admin).toMatchObject({ status: 404, body: NEUTRAL });
    expect(card.status).toBe(200);
    expect(ran).not.toContain('page');
  });
});

describe('The role of a process', () => {
  const boot = async (value: string | undefined, options: Partial<A2AOptions> = {}): Promise<number> => {
    if (value !== undefined) process.env['A2A_ROLE'] = value;
    const agent = await start('express', options).finally(() => {
      delete process.env['A2A_ROLE'];
    });
    const { status } = await bodyless(agent.url, 'GET', { path: '/invoices' });
    await agent.close();
    return status;
  };

  it.each([
    ['agent', 404],
    ['AGENT', 404],
    ['all', 200],
    [undefined, 200],
  ] as const)('is %p by the environment (ROLE-01a, ROLE-03)', async (value, status) => {
    expect(await boot(value)).toBe(status);
  });

  it('is what the option says, whatever the environment does (ROLE-03)', async () => {
    expect(await boot('agent', { role: 'all' })).toBe(200);
    expect(await boot('all', { role: 'agent' })).toBe(404);
  });

  it('that is unknown fails the boot with the cure (ROLE-03)', async () => {
    await expect(boot('agents')).rejects.toThrow(A2AConfigurationError);
    await expect(boot('agents')).rejects.toThrow(/A2A_ROLE is "agents".*Use "all" or "agent", or unset it/u);
  });
});

describe('The reference host in two roles', () => {
  let folder: string;
  const processes: SutProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nestjs-a2a-role-'));
  });
  afterAll(async () => {
    await Promise.all(processes.map((each) => each.kill()));
    await rm(folder, { recursive: true });
  });

  it('serves the agent and its health alone where the environment says so, on the same data (ROLE-01)', async () => {
    const env = { DATA_FILE: join(folder, 'invoices.sqlite'), JWT_SECRET: 'a secret of both processes' };
    const usual = await startDemo(env);
    const narrow = await startDemo({ ...env, A2A_ROLE: 'Agent' });
    processes.push(usual, narrow);
    const statuses = (url: string): Promise<number[]> =>
      Promise.all(
        ['/.well-known/agent-card.json', '/health', '/invoices', '/invoices/', '/'].map(
          async (path) => (await bodyless(url, 'GET', { path })).status,
        ),
      );
    expect(await statuses(usual.url)).toEqual([200, 200, 401, 401, 404]);
    expect(await statuses(narrow.url)).toEqual([200, 200, 404, 404, 404]);
    expect((await bodyless(narrow.url, 'GET', { path: '/invoices' })).body).toEqual(NEUTRAL);
    expect((await bodyless(narrow.url, 'GET', { path: '/health' })).body.details.a2a.status).toBe('up');
    // The guard of the host answers, and not the gate.
    expect((await send(narrow.url, 'hello')).body.error.code).toBe(-31401);
  }, 60_000);
});
