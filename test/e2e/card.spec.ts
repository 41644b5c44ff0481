import { UnauthorizedException, type CanActivate } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AGENT_CARD_PATH, Skill } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { bodyless, postBytes } from '../support/http-client.js';
import { HOSTILE_HOSTS } from '../support/hostile-host.js';
import { EchoSkill } from '../support/wire-skills.js';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';
const PUBLIC = 'https://agent.example.com';
const FORWARDED = {
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-port': '444',
  'x-forwarded-prefix': '/evil',
  'x-original-host': 'evil.example',
  'x-host': 'evil.example',
  forwarded: 'host=evil.example;proto=https',
};

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
  const cardOf = (url: string, headers: Record<string, string | undefined> = {}, path = AGENT_CARD_PATH) =>
    bodyless(url, 'GET', { path, headers: { 'x-user': undefined, 'content-type': undefined, ...headers } });
  const urlOf = ({ body }: { body: unknown }) =>
    (body as { supportedInterfaces: { url: string }[] }).supportedInterfaces.map(({ url }) => url);

  it('is at /.well-known/agent-card.json, for everybody (CARD-01a)', async () => {
    expect(AGENT_CARD_PATH).toBe('/.well-known/agent-card.json');
    const { url } = await start();
    const card = await cardOf(url);
    expect(card.status).toBe(200);
    expect(card.headers['content-type']).toBe('application/json');
    expect((await cardOf(url, {}, `${AGENT_CARD_PATH}?x=1`)).body).toEqual(card.body);
  });

  it('says what there is, and nothing that there is not (CARD-01b, CARD-02a, CARD-02b, CARD-02c, PKG-12)', async () => {
    const { url, service } = await start({ skills: [DescribedSkills] });
    const { body } = await cardOf(url);
    expect(body).toEqual({
      name: 'Test agent',
      description: 'An agent under test.',
      version: '1.0.0',
      supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true, pushNotifications: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: expect.arrayContaining([
        { id: 'echo', name: 'echo', description: 'echo', tags: [] },
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

  it('carries what the options say of security, of the provider and of a tenant (CARD-04, ISO-09)', async () => {
    const card = {
      name: 'Agent',
      description: 'An agent.',
      version: '2.3.4',
      tenant: 't1',
      provider: { organization: 'Example', url: 'https://example.com' },
      documentationUrl: 'https://example.com/docs',
      iconUrl: 'https://example.com/icon.png',
      defaultInputModes: ['application/json'],
      defaultOutputModes: ['image/png'],
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
      securityRequirements: [{ schemes: { bearer: { list: ['read'] } } }],
    };
    const { url } = await start({ options: { card } });
    const { tenant, ...shown } = card;
    const { body } = await cardOf(url);
    expect(body).toMatchObject({ ...shown, supportedInterfaces: [{ tenant }] });
  });

  it.each(HOSTILE_HOSTS)('is at the root of the domain on a host with $name (B-14, R-28)', async (host) => {
    const { url } = await start(host);
    const card = await cardOf(url);
    expect(card).toMatchObject({ status: 200, body: { name: 'Test agent' } });
    const [endpoint] = urlOf(card);
    expect(endpoint).toBe(url + (host.endpoint ?? '/a2a'));
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
    expect((await cardOf(url)).status).toBe(200);
    expect((await postBytes(url, LIST)).status).toBe(401);
  });

  it('has the middleware of the host before it, such as its CORS (R-28)', async () => {
    const { url } = await start({
      configure: (app) => {
        app.enableCors();
        app.use((_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
          response.setHeader('x-middleware', 'seen');
          next();
        });
      },
    });
    const { headers } = await cardOf(url, { origin: 'https://app.example.com' });
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-middleware': 'seen' });
  });

  describe('with a URL that is configured', () => {
    it.each([PUBLIC, `${PUBLIC}/`, `${PUBLIC}///`])('names the endpoint below %s (B-15, CARD-05)', async (base) => {
      const { url } = await start({
        options: { card: { name: 'Agent', description: 'An agent.', url: base } },
        configure: (app) => void app.setGlobalPrefix('api'),
      });
      expect(urlOf(await cardOf(url))).toEqual([`${PUBLIC}/api/a2a`]);
    });

    it('asks a function for it each time', async () => {
      let port = 1;
      const card = { name: 'Agent', description: 'An agent.', url: () => `http://localhost:${port++}` };
      const { url } = await start({ options: { card } });
      expect(urlOf(await cardOf(url))).toEqual(['http://localhost:1/a2a']);
      expect(urlOf(await cardOf(url))).toEqual(['http://localhost:2/a2a']);
    });

    it('is the same whatever a client claims about the host (B-15, S-16)', async () => {
      const { url } = await start({ options: { card: { name: 'Agent', description: 'An agent.', url: PUBLIC } } });
      const plain = await cardOf(url);
      expect(urlOf(plain)).toEqual([`${PUBLIC}/a2a`]);
      for (const headers of [FORWARDED, { host: 'evil.example' }, { host: 'evil.example', ...FORWARDED }]) {
        const card = await cardOf(url, headers);
        expect(card.text).toBe(plain.text);
        expect(card.headers['cache-control']).toBe(plain.headers['cache-control']);
      }
    });
  });

  describe('without a URL that is configured', () => {
    it('names the host that it was asked at, and forwarded ones never (B-15, S-16, CARD-05)', async () => {
      const { url } = await start();
      expect(urlOf(await cardOf(url, FORWARDED))).toEqual([`${url}/a2a`]);
      expect(urlOf(await cardOf(url, { host: 'other.example:81' }))).toEqual(['http://other.example:81/a2a']);
    });

    it('stays out of shared caches, for it is told to one client (B-15, S-16, CARD-05)', async () => {
      const { url } = await start();
      const { headers } = await cardOf(url, { host: 'evil.example' });
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['vary']).toContain('Host');
    });

    it('is JSON even for a host name that is none', async () => {
      const { url } = await start();
      const { status, body } = await cardOf(url, { host: 'a"b<c>' });
      expect(status).toBe(200);
      expect(urlOf({ body })).toEqual(['http://a"b<c>/a2a']);
    });
  });
});
