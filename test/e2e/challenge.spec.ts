import { afterEach, describe, expect, it } from '@jest/globals';
import { ForbiddenException, UnauthorizedException, type CanActivate } from '@nestjs/common';
import { A2AConfigurationError, Skill, type A2AOptions, type ProtectedResourceOptions } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { PINNED, PUBLIC, read } from '../support/card.js';
import { rpc, send, userMessage, type RpcAnswer } from '../support/rpc.js';

const ROOT = '/.well-known/oauth-protected-resource';
const SERVER = 'https://id.example.com';
const PROTECTED = { authorizationServers: [SERVER] } as const;

class ScopedSkills {
  @Skill('read', { scopes: ['invoices:read', 'invoices:list'] })
  read(): string {
    return 'read';
  }

  @Skill('odd', { scopes: ['plain', 'with space', 'quo"te', 'back\\slash', 'tab\t', 'käse', 'plain'] })
  odd(): string {
    return 'odd';
  }
}

const challengeOf = ({ headers }: RpcAnswer) => headers.get('www-authenticate');

describe.each(ADAPTERS)('what a refused caller is told on %s', (adapter) => {
  let agent: Agent | undefined;
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
  });
  const start = async (options: AgentSetup['options'] = {}, setup: Omit<AgentSetup, 'adapter' | 'options'> = {}) => {
    agent = await startAgent({ adapter, skills: [ScopedSkills], ...setup, options: { card: PINNED, ...options } });
    return agent;
  };
  const protect = (protectedResource: Partial<ProtectedResourceOptions> = {}, options: Partial<A2AOptions> = {}) =>
    start({ protectedResource: { ...PROTECTED, ...protectedResource }, ...options });
  const useSkill = (url: string, skill: string, scopes: string, method = 'SendMessage') =>
    rpc(url, method, { message: userMessage('x', { metadata: { skill } }) }, { headers: { 'x-scopes': scopes } });

  describe('by the metadata of a protected resource', () => {
    it('is not there when it is not configured (CARD-12a)', async () => {
      const { url } = await start();
      for (const path of [ROOT, `${ROOT}/a2a`]) expect((await read(url, {}, path)).status).toBe(404);
    });

    it('names the resource, the servers and the scopes of all skills (CARD-12a, RFC 9728 §2)', async () => {
      const { url } = await protect();
      const { status, headers, body } = await read(url, {}, ROOT);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json');
      expect(body).toEqual({
        resource: `${PUBLIC}/a2a`,
        authorization_servers: [SERVER],
        scopes_supported: ['invoices:read', 'invoices:list', 'plain'],
        bearer_methods_supported: ['header'],
        resource_name: 'Agent',
      });
    });

    it('is what the options say (CARD-12a)', async () => {
      const { url } = await protect({
        resource: 'https://api.example.com/invoices/',
        scopesSupported: ['one', 'two'],
        bearerMethodsSupported: ['header', 'body'],
        resourceName: 'Invoices',
        documentationUrl: 'https://example.com/docs',
      });
      const expected = {
        resource: 'https://api.example.com/invoices/',
        authorization_servers: [SERVER],
        scopes_supported: ['one', 'two'],
        bearer_methods_supported: ['header', 'body'],
        resource_name: 'Invoices',
        resource_documentation: 'https://example.com/docs',
      };
      for (const path of [ROOT, `${ROOT}/a2a`, `${ROOT}/invoices`]) {
        expect((await read(url, {}, path)).body).toEqual(expected);
      }
    });

    it('is also where the path of the endpoint is in its own (CARD-12a, RFC 9728 §3.1)', async () => {
      const { url } = await start(
        { card: { ...PINNED, url: `${PUBLIC}/shop/` }, protectedResource: PROTECTED, path: '/agent' },
        { configure: (app) => void app.setGlobalPrefix('api') },
      );
      for (const path of [ROOT, `${ROOT}/api/agent`, `${ROOT}/shop/api/agent`]) {
        expect((await read(url, {}, path)).body.resource).toBe(`${PUBLIC}/shop/api/agent`);
      }
      expect((await read(url, {}, `${ROOT}/a2a`)).status).toBe(404);
    });

    it('leaves out scopes when there are none (RFC 9728 §3.2)', async () => {
      const { url } = await protect({ scopesSupported: [] });
      expect((await read(url, {}, ROOT)).body).not.toHaveProperty('scopes_supported');
    });

    it('is kept and asked about again like the card, and read by every page (CARD-12a, CARD-06)', async () => {
      const { url } = await protect();
      const { headers } = await read(url, {}, ROOT);
      expect(headers).toMatchObject({ 'cache-control': 'public, max-age=60', 'access-control-allow-origin': '*' });
      expect((await read(url, { 'if-none-match': headers['etag'] }, ROOT)).status).toBe(304);
      expect((await read(url, {}, ROOT, 'POST')).status).toBe(405);
      expect((await read(url, {}, ROOT, 'HEAD')).status).toBe(200);
    });

    it('names the host of the request when no URL is configured, to its sender alone (S-16)', async () => {
      const { url } = await protect({}, { card: { name: 'Agent', description: 'An agent.' } });
      const { body, headers } = await read(url, { host: 'other.example' }, ROOT);
      expect(body.resource).toBe('http://other.example/a2a');
      expect(headers['cache-control']).toBe('private, max-age=60');
      expect((await read(url, { host: 'a"b<c>' }, ROOT)).status).toBe(400);
    });

    it.each([
      { authorizationServers: [] },
      { authorizationServers: ['id'] },
      { resource: 'a2a' },
      { authorizationServers: undefined as never },
    ])('is refused at boot when it cannot be right: %j (CARD-12a)', async (wrong) => {
      await expect(protect(wrong)).rejects.toThrow(A2AConfigurationError);
    });
  });

  describe('by the challenge of a 401', () => {
    const METADATA = `resource_metadata="${PUBLIC}${ROOT}/a2a"`;

    it.each([
      [undefined, `Bearer ${METADATA}`],
      ['Bearer', `Bearer ${METADATA}`],
      ['Bearer realm="a2a"', `Bearer realm="a2a", ${METADATA}`],
      ['Basic realm="a2a"', `Basic realm="a2a", Bearer ${METADATA}`],
    ])('names the metadata, beside what the host says: %s (CARD-12b, ISO-02)', async (challenge, expected) => {
      const { url } = await protect({}, challenge === undefined ? {} : { challenge });
      for (const method of ['ListTasks', 'SendStreamingMessage', 'GetExtendedAgentCard']) {
        const answer = await rpc(url, method, {}, { user: null });
        expect([answer.status, challengeOf(answer)]).toEqual([401, expected]);
      }
    });

    it('names a document that is there (CARD-12b, RFC 9728 §5.1)', async () => {
      const { url } = await protect({}, { card: { name: 'Agent', description: 'An agent.' } });
      const challenge = challengeOf(await rpc(url, 'ListTasks', {}, { user: null }));
      const [, document = ''] = /resource_metadata="([^"]+)"/u.exec(challenge ?? '') ?? [];
      expect(document.startsWith(url)).toBe(true);
      expect((await read(url, {}, document.slice(url.length))).body.resource).toBe(`${url}/a2a`);
    });

    it('waits for a URL that has to be asked for, and does without one that cannot be had (CARD-12b)', async () => {
      let isDown = false;
      const url = () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(PUBLIC));
      const agent = await protect({}, { card: { ...PINNED, url }, challenge: 'Bearer realm="a2a"' });
      const ask = () => rpc(agent.url, 'ListTasks', {}, { user: null });
      expect(challengeOf(await ask())).toBe(`Bearer realm="a2a", ${METADATA}`);
      isDown = true;
      const answer = await ask();
      expect([answer.status, challengeOf(answer)]).toEqual([401, 'Bearer realm="a2a"']);
    });

    it('is the same when a guard of the host refuses (CARD-12b, ISO-02)', async () => {
      const refusing: CanActivate = {
        canActivate: () => {
          throw new UnauthorizedException();
        },
      };
      const { url } = await start({ protectedResource: PROTECTED, guards: [refusing] });
      expect(challengeOf(await rpc(url, 'ListTasks'))).toBe(`Bearer ${METADATA}`);
    });
  });

  describe('by the challenge of a 403', () => {
    it.each(['SendMessage', 'SendStreamingMessage'])(
      'names the scopes of the skill when the credential lacks one: %s (ISO-02, §7.4, §7.5)',
      async (method) => {
        const { url } = await start();
        const answer = await useSkill(url, 'read', 'invoices:list', method);
        expect(answer.status).toBe(403);
        expect(answer.body.error).toMatchObject({
          code: -31403,
          data: [{ reason: 'PERMISSION_DENIED', metadata: { scope: 'invoices:read' } }],
        });
        expect(challengeOf(answer)).toBe('Bearer error="insufficient_scope", scope="invoices:read invoices:list"');
      },
    );

    it('names the metadata, and the realm of the host (CARD-12b, RFC 9728 §5.1)', async () => {
      const { url } = await protect({}, { challenge: 'Basic realm="x", Bearer realm="a2a"' });
      expect(challengeOf(await useSkill(url, 'read', ''))).toBe(
        `Bearer realm="a2a", error="insufficient_scope", scope="invoices:read invoices:list", resource_metadata="${PUBLIC}${ROOT}/a2a"`,
      );
    });

    it('leaves out what OAuth 2 cannot write (RFC 6749 §3.3)', async () => {
      const { url } = await start();
      expect(challengeOf(await useSkill(url, 'odd', ''))).toBe('Bearer error="insufficient_scope", scope="plain"');
    });

    it('is none when something else is forbidden (ISO-02)', async () => {
      const refusing: CanActivate = {
        canActivate: () => {
          throw new ForbiddenException();
        },
      };
      const { url } = await start({ protectedResource: PROTECTED, guards: [refusing] });
      const answer = await rpc(url, 'ListTasks');
      expect([answer.status, challengeOf(answer)]).toEqual([403, null]);
    });

    it('is none for a credential that has the scopes, or is not narrowed (§7.5)', async () => {
      const { url } = await start();
      const answers = [
        await useSkill(url, 'read', 'invoices:list invoices:read other'),
        await send(url, 'x', { message: { metadata: { skill: 'read' } } }),
      ];
      for (const answer of answers) expect([answer.status, challengeOf(answer)]).toEqual([200, null]);
    });
  });
});
