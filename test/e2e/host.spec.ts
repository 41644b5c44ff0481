import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module, ValidationPipe, type ExecutionContext, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { A2AModule, AGENT_CARD_PATH, IdGenerator, type A2AOptions } from 'nestjs-a2a';
import { gunzipSync } from 'node:zlib';
import { ADAPTERS, headerPrincipal, startAgent, type Adapter, type Agent } from '../support/agent.js';
import {
  CatchAllController,
  delaySending,
  HostController,
  HOSTILE_HOSTS,
  UnwaryInterceptor,
  type HostileHost,
} from '../support/hostile-host.js';
import { bodyless, openRequest, postBytes, type HttpAnswer } from '../support/http-client.js';
import { userMessage } from '../support/rpc.js';
import { EchoSkill } from '../support/wire-skills.js';

const PUBLIC = 'https://agent.example.com';

/** Ids that are the same in each application, so that its answers can be compared byte by byte. */
class CountingIds extends IdGenerator {
  private count = 0;

  override next(): string {
    this.count += 1;
    return `id-${this.count}`;
  }
}

function startHost(adapter: Adapter, host: HostileHost): Promise<Agent> {
  const options: Partial<A2AOptions> = {
    card: { name: 'Agent', description: 'An agent.', url: PUBLIC },
    ids: new CountingIds(),
    clock: { now: () => 1_750_000_000_000 },
  };
  const controllers = [HostController, ...(host.controllers ?? [])];
  return startAgent({ ...host, adapter, skills: [EchoSkill], options, controllers });
}

const frame = (method: string, params: unknown, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const message = userMessage('漢字 <b>', { messageId: 'm1', metadata: { extra: [1] } });

/** Calls whose answers say everything about the way of a call: each kind of success and refusal, in order. */
const CALLS: readonly (readonly [name: string, body: string, headers?: Record<string, string | undefined>])[] = [
  ['a task', frame('SendMessage', { message, unknown: 1 })],
  ['a list', frame('ListTasks', { includeArtifacts: true }, 'two')],
  ['bad params', frame('SendMessage', { message: { role: 'ROLE_USER', parts: [] } }, 3)],
  ['an unknown task', frame('GetTask', { id: 'x' }, 4)],
  ['an unknown method', frame('tasks/get', {}, 5)],
  ['a bad envelope', JSON.stringify({ jsonrpc: '1.0', id: 6, method: 'ListTasks' })],
  ['bad JSON', '{"jsonrpc":'],
  ['a batch', '[]'],
  ['a big body', frame('SendMessage', { message: { ...message, parts: [{ text: 'x'.repeat(200_000) }] } }, 7)],
  ['nobody', frame('ListTasks', {}, 8), { 'x-user': undefined }],
  ['an old version', frame('ListTasks', {}, 9), { 'a2a-version': '0.3' }],
  ['a foreign page', frame('ListTasks', {}, 10), { origin: 'https://evil.example' }],
  ['another content type', frame('ListTasks', {}, 11), { 'content-type': 'text/plain' }],
];

/** What of an answer the protocol decides. */
function essence({ status, text, headers }: HttpAnswer) {
  const shown = text.replaceAll(/x{100,}/gu, (run) => `(${run.length} x)`);
  return { status, text: shown, contentType: headers['content-type'], cacheControl: headers['cache-control'] };
}

async function conversation(agent: Agent, path: string) {
  const answers = [];
  for (const [name, body, headers = {}] of CALLS) {
    answers.push({ name, ...essence(await postBytes(agent.url, body, { path, headers })) });
  }
  return answers;
}

describe.each(ADAPTERS)('on a host on %s that has', (adapter) => {
  let expected: Awaited<ReturnType<typeof conversation>>;
  beforeAll(async () => {
    const plain = await startHost(adapter, { name: 'plain' });
    expected = await conversation(plain, '/a2a');
    await plain.close();
  });

  it('nothing special, the conversation is as the protocol wants it', () => {
    expect(expected.map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200, 200, 400, 400, 200, 401, 200, 403, 415,
    ]);
    expect(expected[0]!.text).toContain('"status":{"state":"TASK_STATE_COMPLETED"');
    expect(expected[8]!.text).toContain('(200000 x)');
  });

  describe.each(HOSTILE_HOSTS)('$name', (host) => {
    const { endpoint = '/a2a', routes = '' } = host;
    let agent: Agent;
    beforeAll(async () => {
      agent = await startHost(adapter, host);
    });
    afterAll(() => agent.close());

    it('the bytes of the protocol are unchanged (PKG-09a, PKG-09b, B-13, R-28)', async () => {
      expect(await conversation(agent, endpoint)).toEqual(expected);
    });

    it('the endpoint is where the card says, and nowhere else (PKG-06, B-14, R-07, R-28)', async () => {
      const list = frame('ListTasks', {});
      const card = await bodyless(agent.url, 'GET', { path: AGENT_CARD_PATH, headers: { 'content-type': undefined } });
      expect(card).toMatchObject({ status: 200, body: { supportedInterfaces: [{ url: PUBLIC + endpoint }] } });
      for (const path of [endpoint, `${endpoint}/`]) {
        expect(await postBytes(agent.url, list, { path })).toMatchObject({ status: 200, body: { result: {} } });
        const got = await bodyless(agent.url, 'GET', { path });
        expect(got).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      }
      for (const path of ['/a2a', '/api/a2a', '/v1/a2a', '/api/v2/a2a', '/v2/a2a', `${endpoint}${AGENT_CARD_PATH}`]) {
        if (path === endpoint) continue;
        const elsewhere = await postBytes(agent.url, list, { path });
        expect(elsewhere.text).not.toContain('jsonrpc');
        expect(elsewhere.status).toBeGreaterThanOrEqual(400);
      }
    });

    it('the host’s own routes are as they would be (PKG-09, B-13)', async () => {
      const { answers, bare } = { answers: await hostRoutes(agent, routes), bare: await withoutAgent(adapter, host) };
      expect(answers).toEqual(bare);
    });
  });

  async function withoutAgent(on: Adapter, host: HostileHost) {
    const agent = await startAgent({
      ...host,
      adapter: on,
      skills: [EchoSkill],
      // Out of the way of every route that is asked for.
      options: { path: '/quite/elsewhere' },
      controllers: [HostController, ...(host.controllers ?? [])],
    });
    try {
      return await hostRoutes(agent, host.routes ?? '');
    } finally {
      await agent.close();
    }
  }
});

/** Asks a host’s own routes, as pages of anywhere do. */
async function hostRoutes({ url }: Agent, prefix: string) {
  const origin = 'https://evil.example';
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    postBytes(url, body, { path: prefix + path, headers: { origin, ...headers } });
  const answers = [
    await bodyless(url, 'GET', { path: `${prefix}/hello`, headers: { origin } }),
    await bodyless(url, 'GET', { path: `${prefix}/a2a/below` }),
    await bodyless(url, 'GET', { path: `${prefix}/nothing-here` }),
    await post('/numbers', '{"a":1}'),
    await post('/numbers', '{"a":1,"b":2}'),
    await post('/numbers', '{"a":"x"}'),
    await post('/numbers', '{"a":'),
    await post('/numbers', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
    await post('/a2a-other', '{"x":[1],"x":2}'),
    await post('/a2a/below', '{"x":1}'),
    await post('/other/a2a', '{"x":1}'),
    await post('/raw', '{ "x" : 1 }'),
    await post('/numbers', JSON.stringify({ a: 1, text: 'x'.repeat(1_100_000) })),
  ];
  return answers.map(({ status, text, headers }) => ({
    status,
    text: text.replaceAll(/"stack".*/gu, ''),
    type: headers['content-type'],
  }));
}

describe.each(ADAPTERS)('a host on %s that is not touched', (adapter) => {
  it('parses its own bodies, which the entry leaves alone (PKG-09b)', async () => {
    const agent = await startHost(adapter, { name: 'raw', appOptions: { rawBody: true } });
    try {
      const answers = await hostRoutes(agent, '');
      expect(answers[0]).toMatchObject({ status: 200, text: '{"hello":"world"}' });
      expect(answers[3]).toMatchObject({ status: 201, text: '{"a":1}' });
      expect(answers[6]).toMatchObject({ status: 400 });
      expect(answers[8]).toMatchObject({ status: 201, text: '{"body":{"x":2}}' });
      expect(answers[9]).toMatchObject({ status: 201, text: '{"body":{"x":1}}' });
      expect(answers[11]).toMatchObject({ status: 201, text: '{"raw":"{ \\"x\\" : 1 }"}' });
      expect(answers[12]).toMatchObject({ status: 413 });
    } finally {
      await agent.close();
    }
  });
});

describe.each(ADAPTERS)('compression on %s', (adapter) => {
  it('shrinks the answer on the way, and changes nothing in it (PKG-09a)', async () => {
    const host = HOSTILE_HOSTS.find(({ name }) => name === 'compression')!;
    const agent = await startHost(adapter, host);
    try {
      const { request, answer } = openRequest(agent.url, { headers: { 'accept-encoding': 'gzip' } });
      const packed: Buffer[] = [];
      request.on('response', (response) => response.on('data', (chunk: Buffer) => packed.push(chunk)));
      request.end(frame('SendMessage', { message: { ...message, parts: [{ text: 'x'.repeat(50_000) }] } }));
      const { headers } = await answer;
      expect(headers['content-encoding']).toBe('gzip');
      const text = gunzipSync(Buffer.concat(packed)).toString('utf8');
      const { result } = JSON.parse(text) as { result: { task: { artifacts: { parts: { text: string }[] }[] } } };
      expect(result.task.artifacts[0]!.parts[0]!.text).toHaveLength(50_000);
      expect(Buffer.concat(packed).length).toBeLessThan(5_000);
    } finally {
      await agent.close();
    }
  });
});

describe('a host on fastify', () => {
  it('that sends later than at once and fails on our handler still sends our answer (PKG-09a)', async () => {
    const configure: HostileHost['configure'] = (app) => {
      app.useGlobalInterceptors(new UnwaryInterceptor());
      delaySending(app);
    };
    const agent = await startHost('fastify', { name: 'late', configure });
    try {
      for (const [, body] of CALLS.slice(0, 2)) {
        expect(await postBytes(agent.url, body)).toMatchObject({ status: 200, body: { result: {} } });
      }
    } finally {
      await agent.close();
    }
  });
});

describe.each(ADAPTERS)('a host on %s with a route for every path', (adapter) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startHost(adapter, { name: 'pages', controllers: [CatchAllController] });
  });
  afterAll(() => agent.close());

  it('serves its pages beside the endpoint (PKG-09)', async () => {
    const page = await bodyless(agent.url, 'GET', { path: '/some/page' });
    expect(page).toMatchObject({ status: 200, text: '<html>page</html>' });
    expect(await postBytes(agent.url, frame('ListTasks', {}))).toMatchObject({ status: 200, body: { result: {} } });
    expect(await bodyless(agent.url, 'GET')).toMatchObject({ status: 405, body: { error: { code: -32600 } } });
  });

  it('serves the card where it has no page (B-14, R-28, CARD-01a)', async () => {
    const card = await bodyless(agent.url, 'GET', { path: AGENT_CARD_PATH });
    expect(card).toMatchObject({ status: 200, body: { name: 'Agent' } });
  });
});

describe.each(ADAPTERS)('an application on %s that NestFactory made', (adapter) => {
  async function create(configure: (app: INestApplication) => void = () => undefined) {
    @Module({
      imports: [
        A2AModule.forRoot({
          card: { name: 'Agent', description: 'An agent.' },
          principal: headerPrincipal,
        }),
      ],
      providers: [EchoSkill],
      controllers: [HostController],
    })
    class AppModule {}
    const app =
      adapter === 'fastify'
        ? await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false, forceCloseConnections: true })
        : await NestFactory.create(AppModule, { logger: false, forceCloseConnections: true });
    configure(app);
    await app.listen(0, '127.0.0.1');
    return { app, url: await app.getUrl() };
  }

  it('needs nothing more in its main.ts (PKG-08a, PKG-09b)', async () => {
    const { app, url } = await create((made) => {
      made.setGlobalPrefix('api');
      made.enableVersioning();
      made.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
      made.enableCors();
    });
    try {
      const big = frame('SendMessage', { message: { ...message, parts: [{ text: 'x'.repeat(300_000) }] } });
      const answer = await postBytes(url, big, { path: '/api/a2a' });
      expect(answer.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      const repeated = await postBytes(url, '{"jsonrpc":"2.0","id":1,"id":1,"method":"ListTasks"}', {
        path: '/api/a2a/',
      });
      expect(repeated).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
      const preflight = { origin: 'https://app.example.com', 'access-control-request-method': 'POST' };
      expect((await bodyless(url, 'OPTIONS', { path: '/api/a2a', headers: preflight })).status).toBe(204);
      expect((await bodyless(url, 'GET', { path: '/api/hello' })).text).toBe('{"hello":"world"}');
      const card = await bodyless(url, 'GET', { path: AGENT_CARD_PATH });
      expect(card.body.supportedInterfaces[0].url).toBe(`${url}/api/a2a`);
    } finally {
      await app.close();
    }
  });

  it('has the middleware and the guards of the host before the skill (PKG-08a)', async () => {
    const seen: string[] = [];
    const { app, url } = await create((made) => {
      made.use((_request: unknown, _response: unknown, next: () => void) => {
        seen.push('middleware');
        next();
      });
      made.useGlobalGuards({
        canActivate: (context: ExecutionContext) => {
          seen.push(
            `guard of ${context.getType()} on ${context.switchToHttp().getRequest<{ method: string }>().method}`,
          );
          return true;
        },
      });
    });
    try {
      await postBytes(url, frame('ListTasks', {}));
      expect(seen).toEqual(['middleware', 'guard of http on POST']);
    } finally {
      await app.close();
    }
  });
});

describe.each([
  ['ignoring trailing slashes', { routerOptions: { ignoreTrailingSlash: true } }],
  ['ignoring trailing slashes by its older option', { ignoreTrailingSlash: true }],
  ['ignoring repeated slashes', { routerOptions: { ignoreDuplicateSlashes: true } }],
  ['ignoring case', { routerOptions: { caseSensitive: false } }],
  ['with a small body limit', { bodyLimit: 10 }],
])('Fastify %s', (_kind, fastify) => {
  it('serves the endpoint with and without a slash, and nothing beside it (R-07, R-27)', async () => {
    const agent = await startAgent({ adapter: 'fastify', fastify, skills: [EchoSkill] });
    try {
      for (const path of ['/a2a', '/a2a/']) {
        expect(await postBytes(agent.url, frame('ListTasks', {}), { path })).toMatchObject({ body: { result: {} } });
      }
      for (const path of ['/A2A', '//a2a', '/a2a//']) {
        const answer = await postBytes(agent.url, frame('ListTasks', {}), { path });
        expect(answer.text).not.toContain('result');
        expect(answer.status).toBeGreaterThanOrEqual(400);
      }
    } finally {
      await agent.close();
    }
  });
});
