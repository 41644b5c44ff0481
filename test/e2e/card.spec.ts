import { Injectable, Module, UnauthorizedException, type CanActivate, type NestMiddleware } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  A2AConfigurationError,
  AGENT_CARD_PATH,
  apiKey,
  httpBearer,
  oauth2,
  openIdConnect,
  Skill,
  type CardOptions,
} from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { PINNED, PUBLIC, read, urlsOf } from '../support/card.js';
import { postBytes } from '../support/http-client.js';
import { HOSTILE_HOSTS } from '../support/hostile-host.js';
import { LogRecorder } from '../support/log-recorder.js';
import { EchoSkill } from '../support/wire-skills.js';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';
const LEGACY = '/.well-known/agent.json';
const GATEWAY = 'https://gateway.example.com/agents/invoices';

class DescribedSkills extends EchoSkill {
  @Skill('draw', {
    name: 'Draw',
    description: 'Draws a picture.',
    tags: ['pictures'],
    examples: ['a house'],
    inputModes: ['text/plain'],
    outputModes: ['image/png'],
    scopes: ['pictures:write'],
  })
  draw(): string {
    return '';
  }
}

/** Middleware of a module, as `consumer.apply` puts it before routes. */
@Injectable()
class MarkingMiddleware implements NestMiddleware {
  use(_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void): void {
    response.setHeader('x-marked', 'by the module');
    next();
  }
}

@Module({})
class MarkingModule {
  configure(consumer: { apply(middleware: typeof MarkingMiddleware): { forRoutes(path: string): void } }): void {
    consumer.apply(MarkingMiddleware).forRoutes('{*path}');
  }
}

describe.each(ADAPTERS)('the card on %s', (adapter) => {
  let agent: Agent | undefined;
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
  });
  const start = async (setup: Omit<AgentSetup, 'adapter'> = {}) => {
    agent = await startAgent({ adapter, skills: [EchoSkill], ...setup });
    return agent;
  };
  const startWith = (card: Partial<CardOptions>, setup: Omit<AgentSetup, 'adapter'> = {}) =>
    start({ ...setup, options: { card: { ...PINNED, ...card } } });
  const skillOf = async (url: string, id: string) =>
    (await read(url)).body.skills.find((skill: { id: string }) => skill.id === id);

  it('is at /.well-known/agent-card.json, for everybody (CARD-01a)', async () => {
    expect(AGENT_CARD_PATH).toBe('/.well-known/agent-card.json');
    const { url } = await start();
    const card = await read(url);
    expect(card.status).toBe(200);
    expect(card.headers['content-type']).toBe('application/json');
    expect((await read(url, {}, `${AGENT_CARD_PATH}?x=1`)).body).toEqual(card.body);
  });

  it('is also where older clients look for it, byte for byte (CARD-07, CONF-29)', async () => {
    const { url } = await startWith({});
    const [card, legacy] = [await read(url), await read(url, {}, LEGACY)];
    expect(legacy.text).toBe(card.text);
    expect(legacy.headers['etag']).toBe(card.headers['etag']);
    expect((await read(url, { 'if-none-match': card.headers['etag'] }, LEGACY)).status).toBe(304);
  });

  it('is not there when the options say so (CARD-07)', async () => {
    const { url } = await startWith({ legacyPath: false });
    expect((await read(url, {}, LEGACY)).status).toBe(404);
    expect((await read(url)).status).toBe(200);
  });

  it('says what there is, and nothing that there is not (CARD-01b, CARD-02a, CARD-02b, CARD-02c, CARD-03, PKG-12, R-02)', async () => {
    const { url, service } = await start({ skills: [DescribedSkills] });
    const { body } = await read(url);
    expect(body).toEqual({
      name: 'Test agent',
      description: 'An agent under test.',
      version: '1.0.0',
      supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true, pushNotifications: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: expect.arrayContaining([
        { id: 'echo', name: 'echo', description: 'echo', tags: ['echo'] },
        {
          id: 'draw',
          name: 'Draw',
          description: 'Draws a picture.',
          tags: ['pictures'],
          examples: ['a house'],
          inputModes: ['text/plain'],
          outputModes: ['image/png'],
        },
      ]),
    });
    expect(body.skills).toHaveLength(2);
    expect(service.capabilities()).toEqual(body.capabilities);
  });

  it('lists the skills of the options before those of providers (CARD-03)', async () => {
    const { url } = await start({ options: { card: PINNED, skills: [{ id: 'explicit', handler: () => 'x' }] } });
    expect((await read(url)).body.skills.map(({ id }: { id: string }) => id)).toEqual(['explicit', 'echo']);
  });

  it('carries what the options say of the provider and of a tenant (CARD-02a, ISO-09)', async () => {
    const card = {
      ...PINNED,
      version: '2.3.4',
      provider: { organization: 'Example', url: 'https://example.com' },
      documentationUrl: 'https://example.com/docs',
      iconUrl: 'https://example.com/icon.png',
      defaultInputModes: ['application/json'],
      defaultOutputModes: ['image/png'],
    };
    const { url } = await startWith({ ...card, tenant: 't1' });
    const { url: _base, ...shown } = card;
    expect((await read(url)).body).toMatchObject({ ...shown, supportedInterfaces: [{ tenant: 't1' }] });
  });

  it('does not stream when the options say so (R-38, PKG-07c)', async () => {
    const { url, service } = await start({ options: { streaming: false } });
    const { capabilities } = (await read(url)).body;
    expect(capabilities).toEqual({ streaming: false, pushNotifications: true });
    expect(service.capabilities()).toEqual(capabilities);
  });

  describe('with security', () => {
    const OAUTH = oauth2({ clientCredentials: { tokenUrl: 'https://id.example.com/token', scopes: {} } });
    const OIDC = openIdConnect('https://id.example.com/.well-known/openid-configuration');

    it('has the schemes in the shape of v1.0, each an alternative of its own (CARD-04)', async () => {
      const { url } = await startWith({ security: { bearer: httpBearer('JWT'), key: apiKey('header', 'x-api-key') } });
      expect((await read(url)).body).toMatchObject({
        securitySchemes: {
          bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
          key: { apiKeySecurityScheme: { location: 'header', name: 'x-api-key' } },
        },
        securityRequirements: [{ schemes: { bearer: {} } }, { schemes: { key: {} } }],
      });
    });

    it('has the requirements that the options name, scopes and combinations among them (CARD-04)', async () => {
      const securityRequirements = [{ schemes: { oidc: { list: ['openid', 'profile'] }, key: { list: ['x'] } } }];
      const { url } = await startWith({
        security: { oidc: OIDC, key: apiKey('query', 'key') },
        securityRequirements,
      });
      expect((await read(url)).body.securityRequirements).toEqual(securityRequirements);
    });

    it('gives skills their scopes in the schemes that have scopes (CARD-04)', async () => {
      const { url } = await startWith(
        {
          security: { oauth: OAUTH, oidc: OIDC, bearer: httpBearer() },
          securityRequirements: [
            { schemes: { oauth: { list: ['base'] } } },
            { schemes: { oidc: { list: [] }, bearer: { list: [] } } },
          ],
        },
        { skills: [DescribedSkills] },
      );
      expect((await skillOf(url, 'draw')).securityRequirements).toEqual([
        { schemes: { oauth: { list: ['base', 'pictures:write'] } } },
        { schemes: { oidc: { list: ['pictures:write'] }, bearer: {} } },
      ]);
      expect(await skillOf(url, 'echo')).not.toHaveProperty('securityRequirements');
    });

    it('gives skills nothing when no scheme has scopes, or there is none (CARD-04)', async () => {
      const { url } = await startWith({ security: { bearer: httpBearer() } }, { skills: [DescribedSkills] });
      expect(await skillOf(url, 'draw')).not.toHaveProperty('securityRequirements');
      await agent?.close();
      const plain = await startWith({}, { skills: [DescribedSkills] });
      const { body, text } = await read(plain.url);
      expect(text).not.toContain('security');
      expect(body.skills).toHaveLength(2);
    });
  });

  it.each(HOSTILE_HOSTS)('is at the root of the domain on a host with $name (B-14, R-28)', async (host) => {
    const { url } = await start(host);
    const card = await read(url);
    expect(card).toMatchObject({ status: 200, body: { name: 'Test agent' } });
    const [endpoint] = urlsOf(card);
    expect(endpoint).toBe(url + (host.endpoint ?? '/a2a'));
    const again = await read(url, { 'if-none-match': card.headers['etag'], 'accept-encoding': 'gzip' });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers['content-encoding']).toBeUndefined();
    const called = await postBytes(url, LIST, { path: new URL(endpoint!).pathname });
    expect(called).toMatchObject({ status: 200, body: { result: {} } });
  });

  it('is not guarded, whatever guards the calls (CARD-01a, R-28)', async () => {
    const refusing: CanActivate = {
      canActivate: () => {
        throw new UnauthorizedException();
      },
    };
    const { url } = await start({
      providers: [{ provide: APP_GUARD, useValue: refusing }],
      options: { guards: [refusing] },
    });
    expect((await read(url)).status).toBe(200);
    expect((await postBytes(url, LIST)).status).toBe(401);
  });

  it('has the middleware of the host and of its modules before it (R-28)', async () => {
    const { url } = await start({
      imports: [MarkingModule],
      configure: (app) => {
        app.use((_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
          response.setHeader('x-middleware', 'seen');
          next();
        });
      },
    });
    const { headers } = await read(url);
    expect(headers).toMatchObject({ 'x-middleware': 'seen', 'x-marked': 'by the module' });
  });

  it.each([
    ['url', { url: 'agent.example.com' }],
    ['url', { url: 'ftp://agent.example.com' }],
    ['url', { url: 'https://agent.example.com?a=b' }],
    ['interfaces', { interfaces: [] }],
    ['interfaces', { interfaces: [{ url: '/a2a' }] }],
    ['securityRequirements', { securityRequirements: [{ schemes: { bearer: { list: [] } } }] }],
    ['AgentProvider', { provider: { organization: 'Example' } as never }],
    ['SecurityScheme', { security: { none: {} as never } }],
  ])('is refused at boot when its options are wrong in %s: %j (CARD-01b)', async (name, card) => {
    const boot = startWith(card);
    await expect(boot).rejects.toThrow(A2AConfigurationError);
    await expect(boot).rejects.toThrow(name);
  });

  describe('with interfaces of its own', () => {
    it('names them and no others, with the protocol that is spoken here (CARD-13)', async () => {
      const { url } = await startWith({ interfaces: [{ url: `${GATEWAY}/a2a` }], tenant: 't1' });
      expect((await read(url)).body.supportedInterfaces).toEqual([
        { url: `${GATEWAY}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 't1' },
      ]);
    });

    it('is for everybody even without a URL, for nothing on it comes from the request (CARD-13, CARD-05)', async () => {
      const card = { name: 'Agent', description: 'An agent.', interfaces: [{ url: `${GATEWAY}/a2a` }] };
      const { url } = await start({ options: { card } });
      const [plain, other] = [await read(url), await read(url, { host: 'a"b<c>' })];
      expect(plain.headers).toMatchObject({ 'cache-control': 'public, max-age=60' });
      expect(other.text).toBe(plain.text);
    });

    it.each([
      [`${GATEWAY}/rpc`, 1],
      [`${GATEWAY}/a2a`, 1],
      [`${GATEWAY}/api/a2a`, 0],
      [`${GATEWAY}/api/a2a/?x=1`, 0],
    ])('warns at boot when none ends with the mounted path: %s warns %i times (CARD-13)', async (url, times) => {
      const logger = new LogRecorder();
      await startWith({ interfaces: [{ url }] }, { logger, configure: (app) => void app.setGlobalPrefix('api') });
      const warnings = logger.of('warn').filter((line) => line.includes('None of the interfaces'));
      expect(warnings).toHaveLength(times);
      if (times > 0) expect(warnings[0]).toContain('/api/a2a');
    });
  });

  describe('with a URL that is configured', () => {
    it.each([PUBLIC, `${PUBLIC}/`, `${PUBLIC}///`])('names the endpoint below %s (B-15, CARD-05)', async (base) => {
      const { url } = await startWith({ url: base }, { configure: (app) => void app.setGlobalPrefix('api') });
      expect(urlsOf(await read(url))).toEqual([`${PUBLIC}/api/a2a`]);
    });

    it('asks a function for it when the card is served, and never at boot (CARD-05)', async () => {
      let port = 0;
      const { url } = await startWith({ url: () => `http://localhost:${(port += 1)}` });
      expect(port).toBe(0);
      expect(urlsOf(await read(url))).toEqual(['http://localhost:1/a2a']);
      expect(urlsOf(await read(url))).toEqual(['http://localhost:2/a2a']);
    });

    it('waits for a function that has to ask somebody else (CARD-05)', async () => {
      const { url } = await startWith({ url: async () => Promise.resolve(`${PUBLIC}/`) });
      expect(urlsOf(await read(url))).toEqual([`${PUBLIC}/a2a`]);
    });

    it.each([
      ['fails', () => Promise.reject(new Error('the registry at 10.0.0.1 is down'))],
      ['gives nonsense', () => 'nowhere'],
    ])('says nothing of why a function %s, and lets no cache keep that (B-15)', async (_name, failing) => {
      let isDown = true;
      const { url } = await startWith({ url: () => (isDown ? failing() : PUBLIC) });
      const { status, text, headers } = await read(url);
      expect(status).toBe(500);
      expect(text).toBe('{"statusCode":500,"message":"Internal server error"}');
      expect(headers['cache-control']).toBe('no-store');
      isDown = false;
      expect((await read(url)).status).toBe(200);
    });
  });
});
