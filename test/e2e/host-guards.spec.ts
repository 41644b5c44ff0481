import {
  ForbiddenException,
  Inject,
  Injectable,
  Module,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  AGENT_CARD_PATH,
  OwnerGuard,
  PrincipalResolver,
  PrincipalService,
  ScopeGuard,
  TenantGuard,
  type Principal,
  type TaskContext,
} from 'nestjs-a2a';
import { A2A_METHODS } from 'nestjs-a2a/protocol';
import { ADAPTERS, headerPrincipal, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { bodyless, postBytes } from '../support/http-client.js';
import { expectError, headerOf } from '../support/rpc-matchers.js';
import { rpc, send, userMessage } from '../support/rpc.js';
import { EchoSkill } from '../support/wire-skills.js';

interface HostRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: { sub: string };
  a2a?: Partial<Principal>;
}

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<HostRequest>();

/** Names that tokens stand for, as a session service of the host's would know them. */
@Injectable()
class Sessions {
  userOf(token: string | undefined): string | undefined {
    return token?.startsWith('Bearer ') === true ? token.slice(7) : undefined;
  }
}

@Module({ providers: [Sessions], exports: [Sessions] })
class SessionModule {}

/** The host's own authentication, which needs a service of the host's. */
@Injectable()
class BearerGuard implements CanActivate {
  constructor(@Inject(Sessions) private readonly sessions: Sessions) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const sub = this.sessions.userOf(request.headers['authorization']);
    await Promise.resolve();
    if (sub === undefined) throw new UnauthorizedException('no session');
    if (sub === 'banned') throw new ForbiddenException('banned');
    request.user = { sub };
    return sub !== 'denied';
  }
}

class HeaderResolver extends PrincipalResolver {
  resolve(request: HostRequest) {
    return headerPrincipal(request);
  }
}

@Injectable()
class ServiceResolver extends PrincipalResolver {
  constructor(private readonly sessions: Sessions) {
    super();
  }

  async resolve({ headers }: HostRequest) {
    return Promise.resolve({ owner: this.sessions.userOf(headers['authorization']) });
  }
}

const byUser = ({ user }: HostRequest) => ({ owner: user?.sub });
const bearer = (name: string) => ({ headers: { authorization: `Bearer ${name}` } });

describe.each(ADAPTERS)('on %s', (adapter) => {
  let agent: Agent | undefined;
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
  });
  const start = async (setup: Omit<AgentSetup, 'adapter'>) => {
    agent = await startAgent({ adapter, skills: [EchoSkill], ...setup });
    return agent;
  };

  describe.each<[string, Omit<AgentSetup, 'adapter'>]>([
    [
      'an APP_GUARD',
      {
        imports: [SessionModule],
        providers: [{ provide: APP_GUARD, useClass: BearerGuard }],
        options: { principal: byUser },
      },
    ],
    [
      'a global guard of main.ts',
      {
        configure: (app) => void app.useGlobalGuards(new BearerGuard(new Sessions())),
        options: { principal: byUser },
      },
    ],
    [
      'a class in the option `guards`, with what it needs in `imports`',
      { options: { principal: byUser, guards: [BearerGuard], imports: [SessionModule] } },
    ],
    [
      'an instance in the option `guards`',
      { options: { principal: byUser, guards: [new BearerGuard(new Sessions())] } },
    ],
  ])('%s', (_kind, setup) => {
    it('authenticates the calls, with no more wiring (PKG-08a)', async () => {
      const { url } = await start(setup);
      const mine = await send(url, 'hi', { call: bearer('alice') });
      const { id } = mine.body.result.task;
      expect((await rpc(url, 'GetTask', { id }, bearer('alice'))).body.result.id).toBe(id);
      expectError(await rpc(url, 'GetTask', { id }, bearer('bob')), { code: -32001 });
    });

    it('refuses as JSON-RPC, with the id, for each of the eleven methods (PKG-08b, ERR-08, B-05, R-27, ISO-01a, S-09)', async () => {
      const { url, service } = await start(setup);
      for (const method of A2A_METHODS) {
        const params = { id: 'x', message: userMessage('hi') };
        const nobody = await rpc(url, method, params, { id: 42 });
        expectError(nobody, { status: 401, id: 42, code: -31401 });
        for (const user of ['banned', 'denied']) {
          const refused = await rpc(url, method, params, { ...bearer(user), id: '42' });
          expectError(refused, { status: 403, id: '42', code: -31403 });
        }
      }
      expect(service.statistics().executions).toBe(0);
    });

    it('says no word of the host’s exception, and none of Nest’s (PKG-08b, S-06)', async () => {
      const { url } = await start(setup);
      for (const call of [{}, bearer('banned')]) {
        const { text } = await rpc(url, 'ListTasks', {}, call);
        expect(text).not.toMatch(/session|banned|statusCode|Exception/u);
      }
    });

    it('does not guard the card (CARD-01a, R-28)', async () => {
      const { url } = await start(setup);
      const card = await bodyless(url, 'GET', { path: AGENT_CARD_PATH });
      expect(card).toMatchObject({ status: 200, body: { name: 'Test agent' } });
    });
  });

  it('a guard of the host finds an ordinary request, on the way it came (R-27)', async () => {
    const seen: unknown[] = [];
    const looking: CanActivate = {
      canActivate: (context) => {
        const request = requestOf(context) as HostRequest & { method: string; url: string; body: unknown };
        const { method, url: target, headers, body } = request;
        seen.push([context.getType(), method, target, headers['x-user'], typeof body]);
        return true;
      },
    };
    const { url } = await start({ options: { guards: [looking] } });
    expect((await rpc(url, 'ListTasks', {}, { path: '/a2a/?x=1' })).status).toBe(200);
    expect(seen).toEqual([['http', 'POST', '/a2a/?x=1', 'alice', 'undefined']]);
  });

  describe('the principal', () => {
    it.each<[string, Pick<AgentSetup, 'options' | 'imports' | 'providers'>]>([
      ['a function', { options: { principal: headerPrincipal } }],
      ['an async function', { options: { principal: async (request: HostRequest) => headerPrincipal(request) } }],
      [
        'a plain function',
        {
          options: {
            principal: function (request: HostRequest) {
              return headerPrincipal(request);
            },
          },
        },
      ],
      ['an instance', { options: { principal: { resolve: headerPrincipal } as PrincipalResolver } }],
      ['a class', { options: { principal: class extends HeaderResolver {} } }],
      ['a class that needs a service', { options: { principal: ServiceResolver, imports: [SessionModule] } }],
      [
        'a provider of the application',
        {
          options: { principal: { useExisting: ServiceResolver } },
          imports: [SessionModule],
          providers: [ServiceResolver],
        },
      ],
      [
        'a provider under a token',
        {
          options: { principal: { useExisting: 'RESOLVER' } },
          providers: [{ provide: 'RESOLVER', useFactory: () => new HeaderResolver() }],
        },
      ],
    ])('can be %s (ISO-01a, PKG-04d)', async (_kind, setup) => {
      const { url } = await start(setup);
      for (const user of ['alice', 'bob']) {
        const call = { user, headers: { authorization: `Bearer ${user}` } };
        const { id } = (await send(url, 'hi', { call })).body.result.task;
        expect((await rpc(url, 'GetTask', { id }, call)).body.result.id).toBe(id);
        const other = { user: 'carol', headers: { authorization: 'Bearer carol' } };
        expectError(await rpc(url, 'GetTask', { id }, other), { code: -32001 });
      }
      expectError(await rpc(url, 'ListTasks', {}, { user: null }), { status: 401, code: -31401 });
    });

    it('cannot be left out: there is no anonymous agent (PKG-04d, S-09, B-87)', async () => {
      const options = { principal: undefined } as unknown as NonNullable<AgentSetup['options']>;
      await expect(start({ options })).rejects.toThrow(/`principal` is missing/u);
    });

    it('can be a provider that lives with the module: its hooks are called once', async () => {
      const called: string[] = [];
      @Injectable()
      class LivingResolver extends HeaderResolver {
        onModuleInit = () => called.push('init');
        onApplicationShutdown = () => called.push('shutdown');
      }
      const { url, close } = await start({
        options: { principal: { useExisting: LivingResolver } },
        providers: [LivingResolver],
      });
      expect((await rpc(url, 'ListTasks')).status).toBe(200);
      await close();
      expect(called).toEqual(['init', 'shutdown']);
    });

    it('that needs a provider which is not there fails the boot, and not a call', async () => {
      await expect(start({ options: { principal: ServiceResolver } })).rejects.toThrow(/Sessions|dependencies/u);
      await expect(start({ options: { principal: { useExisting: 'NOBODY' } } })).rejects.toThrow(/NOBODY/u);
    });
  });

  describe('the guards of the principal', () => {
    const noted: (Partial<Principal> | undefined)[] = [];
    const spy: CanActivate = {
      canActivate: (context) => {
        noted.push(requestOf(context).a2a);
        return true;
      },
    };

    it('note owner, tenant and scopes, one each (ISO-14)', async () => {
      noted.length = 0;
      const principalGuards = [OwnerGuard, spy, TenantGuard, spy, ScopeGuard, spy];
      const { url } = await start({ options: { principalGuards } });
      await rpc(url, 'ListTasks', {}, { headers: { 'x-tenant': 'acme', 'x-scopes': 'b a' } });
      expect(noted).toEqual([
        { owner: 'alice' },
        { owner: 'alice', tenant: 'acme' },
        { owner: 'alice', tenant: 'acme', scopes: ['b', 'a'] },
      ]);
    });

    it('can come in another order (ISO-14)', async () => {
      noted.length = 0;
      const { url } = await start({ options: { principalGuards: [ScopeGuard, TenantGuard, spy, OwnerGuard] } });
      expect((await rpc(url, 'ListTasks')).status).toBe(200);
      expect(noted).toEqual([{ scopes: null, tenant: '' }]);
    });

    it('can be replaced by ones that note the principal themselves (ISO-14)', async () => {
      const callers: unknown[] = [];
      const handler = ({ owner, tenant, scopes }: TaskContext) => {
        callers.push({ owner, tenant, scopes });
      };
      const noting: CanActivate = {
        canActivate: (context) => {
          requestOf(context).a2a = { owner: 'noted', tenant: 'by-guard', scopes: ['one'] };
          return true;
        },
      };
      const { url } = await start({
        skills: [],
        options: { principalGuards: [noting], skills: [{ id: 'note', handler }] },
      });
      const { id } = (await send(url, 'hi', { call: { user: null } })).body.result.task;
      expect(callers).toEqual([{ owner: 'noted', tenant: 'by-guard', scopes: ['one'] }]);
      expect((await rpc(url, 'GetTask', { id }, { user: null })).body.result.id).toBe(id);
    });

    it('can be replaced by a class that needs ours and the host’s providers (ISO-14)', async () => {
      @Injectable()
      class TenantFromHost implements CanActivate {
        constructor(
          private readonly principals: PrincipalService,
          private readonly sessions: Sessions,
        ) {}

        canActivate(context: ExecutionContext): boolean {
          const request = requestOf(context);
          this.principals.note(request, { tenant: this.sessions.userOf(request.headers['authorization']) ?? '' });
          return true;
        }
      }
      const principalGuards = [OwnerGuard, TenantFromHost, ScopeGuard];
      const { url } = await start({ options: { principalGuards, imports: [SessionModule] } });
      const { id } = (await send(url, 'hi', { call: bearer('acme') })).body.result.task;
      expect((await rpc(url, 'GetTask', { id }, bearer('acme'))).body.result.id).toBe(id);
      expectError(await rpc(url, 'GetTask', { id }, bearer('other')), { code: -32001 });
      expectError(await rpc(url, 'GetTask', { id }), { code: -32001 });
    });

    it('that note no owner leave nobody, and that is 401 (ISO-01c, ISO-14)', async () => {
      for (const principalGuards of [[], [TenantGuard, ScopeGuard]]) {
        const { url, close } = await start({ options: { principalGuards } });
        expectError(await rpc(url, 'ListTasks'), { status: 401, code: -31401 });
        await close();
      }
    });
  });

  it('a guard of the host may set headers, which its refusal keeps (PKG-08b)', async () => {
    const limiting: CanActivate = {
      canActivate: (context) => {
        const response = context.switchToHttp().getResponse<{ header(name: string, value: string): void }>();
        response.header('retry-after', '7');
        throw new ForbiddenException();
      },
    };
    const { url } = await start({ options: { guards: [limiting] } });
    const answer = await rpc(url, 'ListTasks');
    expectError(answer, { status: 403, code: -31403 });
    expect(headerOf(answer, 'retry-after')).toBe('7');
  });

  describe('checks come in their order, so of two faults the first answers:', () => {
    const EVIL = { origin: 'https://evil.example' };
    const TEXT = { 'content-type': 'text/plain' };
    const OLD = { 'a2a-version': '0.3' };
    const LONG = { 'content-length': '5000000' };
    const NOBODY = { 'x-user': undefined };
    const REQUIRED = 'https://ext.example.com/required';
    const ALL = { 'a2a-extensions': REQUIRED };
    const GATED = { ...ALL, 'x-global': 'refuse' };
    const list = (changed: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', ...changed });
    const refusing = (header: string, error: Error): CanActivate => ({
      canActivate: (context) => {
        if (requestOf(context).headers[header] === 'refuse') throw error;
        return true;
      },
    });

    /** What is wrong, the answer, and what would have been the answer to the second fault alone. */
    const PAIRS: readonly (readonly [
      name: string,
      call: { method?: string; headers?: Record<string, string | undefined>; body?: string },
      expected: { status?: number; id?: unknown; code: number },
      message?: string,
    ])[] = [
      ['method, Origin', { method: 'PUT', headers: EVIL }, { status: 405, id: null, code: -32600 }],
      ['Origin, content type', { headers: { ...EVIL, ...TEXT } }, { status: 403, id: null, code: -31403 }],
      [
        'content type, encoding',
        { headers: { ...TEXT, 'content-encoding': 'gzip' } },
        { status: 415, id: null, code: -32005 },
        'The content type',
      ],
      ['content type, cap', { headers: { ...TEXT, ...LONG } }, { status: 415, id: null, code: -32005 }],
      ['encoding, cap', { headers: { 'content-encoding': 'gzip', ...LONG } }, { status: 415, id: null, code: -32005 }],
      ['cap, batch', { body: `[${' '.repeat(2_000)}]` }, { status: 413, id: null, code: -32600 }],
      [
        'cap, the host’s guard',
        { headers: GATED, body: list().padEnd(2_000) },
        { status: 413, id: null, code: -32600 },
      ],
      ['the host’s global guard, batch', { headers: GATED, body: '[]' }, { status: 401, id: null, code: -31401 }],
      ['the host’s global guard, JSON', { headers: GATED, body: '{' }, { status: 401, id: null, code: -31401 }],
      [
        'the host’s global guard, jsonrpc',
        { headers: GATED, body: list({ jsonrpc: '1.0' }) },
        { status: 401, id: 1, code: -31401 },
      ],
      ['batch, JSON', { body: '[{"a":' }, { status: 400, id: null, code: -32600 }],
      ['JSON, keys', { body: '{"jsonrpc":"2.0","id":1,"id":1,"method"' }, { status: 400, id: null, code: -32700 }],
      ['keys, jsonrpc', { body: list({ jsonrpc: '1.0', extra: 1 }) }, { status: 400, id: null, code: -32700 }],
      ['jsonrpc, id', { body: list({ jsonrpc: '1.0', id: null }) }, { id: null, code: -32600 }, '`jsonrpc`'],
      ['id, method', { body: list({ id: {}, method: 5 }) }, { id: null, code: -32600 }, '`id`'],
      ['method, version', { headers: OLD, body: list({ method: 5 }) }, { code: -32600 }],
      ['version, extensions', { headers: { ...OLD, 'a2a-extensions': undefined } }, { code: -32009 }],
      [
        'extensions, the option `guards`',
        { headers: { 'x-guard': 'refuse', 'a2a-extensions': undefined } },
        { code: -32008 },
      ],
      ['the option `guards`, owner', { headers: { 'x-guard': 'refuse', ...NOBODY } }, { status: 403, code: -31403 }],
      [
        'owner, the name of the method',
        { headers: NOBODY, body: list({ method: 'Nothing' }) },
        { status: 401, code: -31401 },
      ],
      ['the name of the method, params', { body: list({ method: 'Nothing', params: [] }) }, { code: -32601 }],
      ['params, capability', { body: list({ method: 'SubscribeToTask', params: { id: 5 } }) }, { code: -32602 }],
      [
        'capability, task',
        { body: list({ method: 'SubscribeToTask', params: { id: 'no-such-task' } }) },
        { code: -32004 },
      ],
    ];

    it.each(PAIRS)(
      '%s (R-27, WIRE-02)',
      async (_name, { method = 'POST', headers = {}, body = list() }, expected, message = '') => {
        const { url } = await start({
          configure: (app) => void app.useGlobalGuards(refusing('x-global', new UnauthorizedException())),
          options: {
            maxBodyBytes: 1_000,
            streaming: false,
            extensions: [{ uri: REQUIRED, required: true }],
            guards: [refusing('x-guard', new ForbiddenException())],
          },
        });
        const answer = await postBytes(url, body, { method, headers: { ...ALL, ...headers } });
        expectError(answer, expected);
        expect(answer.body.error.message).toContain(message);
      },
    );
  });
});
