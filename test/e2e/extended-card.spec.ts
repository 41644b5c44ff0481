import { ForbiddenException, Injectable, Module, UnauthorizedException } from '@nestjs/common';
import { afterEach, describe, expect, it } from '@jest/globals';
import { A2AError, ExtendedCardProvider, type A2AOptions, type AgentCard, type ExtendedCardContext } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { PINNED, PUBLIC, read } from '../support/card.js';
import { postBytes } from '../support/http-client.js';
import { LogRecorder } from '../support/log-recorder.js';
import { rpc, type RpcCall } from '../support/rpc.js';
import { EchoSkill } from '../support/wire-skills.js';

const METHOD = 'GetExtendedAgentCard';
const SECRET = { id: 'secret', name: 'Secret', description: 'Only for those who may know.', tags: [] };

/** Adds a skill for those who are known. */
function withSecret(card: AgentCard, { owner }: ExtendedCardContext): AgentCard {
  card.skills.push({ ...SECRET, tags: [owner] });
  return card;
}

@Injectable()
class Names {
  readonly name = 'Extended by a provider';
}

@Injectable()
class NamingProvider extends ExtendedCardProvider {
  constructor(private readonly names: Names) {
    super();
  }

  provide(card: AgentCard): AgentCard {
    return { ...card, name: this.names.name };
  }
}

@Module({ providers: [Names, NamingProvider], exports: [Names, NamingProvider] })
class NamesModule {}

describe.each(ADAPTERS)('the extended card on %s', (adapter) => {
  let agent: Agent | undefined;
  afterEach(async () => {
    await agent?.close();
    agent = undefined;
  });
  const start = async (
    extendedCard: A2AOptions['extendedCard'],
    { options = {}, ...setup }: Omit<AgentSetup, 'adapter'> = {},
  ) => {
    agent = await startAgent({
      adapter,
      skills: [EchoSkill],
      ...setup,
      options: { card: PINNED, ...(extendedCard && { extendedCard }), ...options },
    });
    return agent;
  };
  const get = (url: string, call: RpcCall = {}, params: unknown = {}) => rpc(url, METHOD, params, call);

  it('is not supported where the card does not promise one (XC-02, R-12, CONF-11, §3.3.4)', async () => {
    const { url, service } = await start(undefined);
    expect((await get(url)).body.error).toMatchObject({ code: -32004, data: [{ reason: 'UNSUPPORTED_OPERATION' }] });
    expect((await read(url)).body.capabilities).not.toHaveProperty('extendedAgentCard');
    expect(service.capabilities()).not.toHaveProperty('extendedAgentCard');
  });

  it('is promised on the card where there is one (PKG-07c, CARD-02c, §3.1.11)', async () => {
    const { url, service } = await start(withSecret);
    const { capabilities } = (await read(url)).body;
    expect(capabilities).toEqual({ streaming: true, pushNotifications: true, extendedAgentCard: true });
    expect(service.capabilities()).toEqual(capabilities);
  });

  it.each([undefined, null])(
    'is not configured for a caller for whom the hook gives %p (XC-02, R-12)',
    async (none) => {
      const { url } = await start(() => none);
      expect((await get(url)).body.error).toMatchObject({
        code: -32007,
        data: [{ reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' }],
      });
    },
  );

  it('is what the hook makes of the public card, which stays as it is (XC-01a, S-15)', async () => {
    const { url } = await start(withSecret);
    const open = await read(url);
    for (const user of ['alice', 'bob']) {
      const { result } = (await get(url, { user })).body;
      expect(result).toEqual({ ...open.body, skills: [...open.body.skills, { ...SECRET, tags: [user] }] });
      expect(result.supportedInterfaces[0].url).toBe(`${PUBLIC}/a2a`);
    }
    expect((await read(url)).text).toBe(open.text);
    expect(open.text).not.toContain('secret');
  });

  it('is kept by no cache, whoever asks (XC-03b, S-15, B-101, §13.3)', async () => {
    const { url } = await start(withSecret);
    for (const user of ['alice', 'bob']) {
      const { headers, body } = await get(url, { user });
      expect(headers.get('cache-control')).toBe('private, no-store');
      expect(headers.get('etag')).toBeNull();
      expect(body.result.skills.at(-1).tags).toEqual([user]);
    }
  });

  it('is for those who are authenticated alone (XC-03a, §13.3)', async () => {
    let asked = 0;
    const { url } = await start((card) => {
      asked += 1;
      return card;
    });
    const { status, body } = await get(url, { user: null });
    expect([status, body.error.code]).toEqual([401, -31401]);
    expect(asked).toBe(0);
  });

  it('is made knowing who asks and how (XC-01b)', async () => {
    const seen: ExtendedCardContext[] = [];
    const { url } = await start((card, context) => {
      seen.push(context);
      return card;
    });
    const headers = { 'x-tenant': 't1', 'x-scopes': 'a b', 'x-extra': 'seen' };
    await get(url, { headers }, { tenant: 'asked-for' });
    await get(url);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({ owner: 'alice', tenant: 't1', scopes: ['a', 'b'], tenantParam: 'asked-for' });
    expect(seen[0]!.request).toMatchObject({ method: 'POST', url: '/a2a', headers: { 'x-extra': 'seen' } });
    expect(seen[0]!.signal.aborted).toBe(false);
    expect(seen[1]).toMatchObject({ owner: 'alice', tenant: '', scopes: null });
    expect(seen[1]!.tenantParam).toBeUndefined();
  });

  it('names the host of the call when no URL is configured, and refuses one that is none (CARD-05, S-16)', async () => {
    const { url } = await start((card) => card, { options: { card: { name: 'Agent', description: 'An agent.' } } });
    expect((await get(url)).body.result.supportedInterfaces[0].url).toBe(`${url}/a2a`);
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: METHOD });
    const { body } = await postBytes(url, call, { headers: { host: 'a"b<c>' } });
    expect(body.error).toMatchObject({ code: -32600, message: 'The host of the request is not valid.' });
  });

  it.each([
    ['a function', (card: AgentCard) => Promise.resolve({ ...card, name: 'Extended by a provider' }), {}],
    ['an instance', new NamingProvider(new Names()), {}],
    ['a class', NamingProvider, { imports: [NamesModule] }],
    ['a provider of the application', { useExisting: NamingProvider }, { imports: [NamesModule] }],
  ])('comes from %s (XC-01a)', async (_name, extendedCard, extras) => {
    const { url } = await start(extendedCard, { options: extras });
    expect((await get(url)).body.result.name).toBe('Extended by a provider');
  });

  it('lets an error of the protocol pass (XC-04, ERR-02a)', async () => {
    const { url } = await start(() => {
      throw new A2AError({ code: -32050, message: 'Ask for access first.', data: { page: 'https://example.com' } });
    });
    expect((await get(url)).body.error).toMatchObject({ code: -32050, message: 'Ask for access first.' });
  });

  it.each([
    new Error('the vault at 10.0.0.1 is down'),
    new ForbiddenException('10.0.0.1'),
    new UnauthorizedException('10.0.0.1'),
    '10.0.0.1',
    undefined,
  ])('tells nothing of another error: %p (XC-04)', async (error) => {
    const logger = new LogRecorder();
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- hooks of hosts throw anything
    const { url } = await start(() => Promise.reject(error), { logger });
    const { status, text, body } = await get(url);
    expect([status, body.error]).toEqual([200, { code: -32603, message: 'Internal error' }]);
    expect(text).not.toContain('10.0.0.1');
    expect(logger.of('error').join()).toContain('The extended card could not be made');
  });

  it.each([
    ['no name', (card: AgentCard) => ({ ...card, name: undefined })],
    ['skills that are none', (card: AgentCard) => ({ ...card, skills: [{}] })],
    ['a scheme that is none', (card: AgentCard) => ({ ...card, securitySchemes: { x: {} } })],
    ['no object', () => 'card'],
    ['a list', () => []],
  ])('is refused as broken when it has %s (§5.7, XC-01a)', async (_name, broken) => {
    const { url } = await start(broken as never);
    expect((await get(url)).body.error).toMatchObject({ code: -32006, data: [{ reason: 'INVALID_AGENT_RESPONSE' }] });
  });

  it('has the fields of the protocol alone (XC-01a)', async () => {
    const { url } = await start((card) => ({ ...card, internal: 'x' }));
    expect((await get(url)).body.result).not.toHaveProperty('internal');
  });
});
