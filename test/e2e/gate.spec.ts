import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TaskState } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { bodyless, exchangeRaw, keepAlive, openRequest, postBytes, type HttpCall } from '../support/http-client.js';
import { expectError, violatedFields } from '../support/rpc-matchers.js';
import { rpc, send, userMessage } from '../support/rpc.js';
import { EchoSkill, WireSkills } from '../support/wire-skills.js';

const GOOD = '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}';
const MIB = 1024 * 1024;
const EVIL = 'https://evil.example';

/** A call that sends a message whose text fills the body up to a size. */
function sendOfSize(bytes: number): string {
  const frame = (text: string) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: userMessage(text) } });
  return frame('x'.repeat(bytes - Buffer.byteLength(frame(''))));
}

/** Sends a head that promises a body, and no byte of the body. The answer can only come from the head. */
async function answerToHead(url: string, call: HttpCall) {
  const headers = { 'content-length': '1000', ...call.headers };
  const { request, answer } = openRequest(url, { ...call, headers });
  request.flushHeaders();
  try {
    return await answer;
  } finally {
    request.destroy();
  }
}

describe.each(ADAPTERS)('the entry of the endpoint on %s', (adapter) => {
  let agent: Agent;
  let host: string;
  const post = (body: string | Uint8Array, headers: HttpCall['headers'] = {}) =>
    postBytes(agent.url, body, { headers });
  const passes = async (headers: HttpCall['headers']) => {
    const answer = await post(GOOD, headers);
    if (answer.status === 200) return true;
    expectError(answer, { status: 403, id: null, code: -31403 });
    return false;
  };

  beforeAll(async () => {
    const options = { allowedOrigins: ['https://App.example.com', 'http://localhost:5173', 'file://'] };
    agent = await startAgent({ adapter, skills: [EchoSkill], options });
    host = new URL(agent.url).host;
  });
  afterAll(() => agent.close());

  describe('by origin', () => {
    it('lets clients through that are no browsers (GATE-01a)', async () => {
      expect(await passes({})).toBe(true);
    });

    it('lets its own pages through, whatever the scheme and case (GATE-01b, GATE-01c)', async () => {
      expect(await passes({ origin: `http://${host}` })).toBe(true);
      expect(await passes({ origin: `https://${host}` })).toBe(true);
      expect(await passes({ origin: 'HTTP://Agent.Example:81', host: 'agent.EXAMPLE:81' })).toBe(true);
    });

    it.each([
      ['https://evil.example', 'agent.example'],
      ['http://agent.example:82', 'agent.example:81'],
      ['http://agent.example', 'agent.example:81'],
      ['http://agent.example:81', 'agent.example'],
      ['http://agent.example.evil.example', 'agent.example'],
      ['http://evil-agent.example', 'agent.example'],
      ['http://agent.example@evil.example', 'agent.example'],
      ['http://evil.example/agent.example', 'agent.example'],
      ['http://evil.example, http://agent.example', 'agent.example'],
      ['agent.example', 'agent.example'],
      ['//agent.example', 'agent.example'],
      ['http://', 'agent.example'],
    ])('refuses %s at %s (GATE-01b, GATE-01c, GATE-01d)', async (origin, authority) => {
      expect(await passes({ origin, host: authority })).toBe(false);
    });

    it('answers a foreign page before one byte of the body (GATE-01b)', async () => {
      const answer = await answerToHead(agent.url, { headers: { origin: EVIL } });
      expectError(answer, { status: 403, id: null, code: -31403 });
    });

    it('refuses two origins at once (GATE-01d)', async () => {
      expect(await passes({ origin: [EVIL, `http://${host}`] })).toBe(false);
    });

    it.each(['null', '', 'data:', 'about:blank'])(
      'refuses %j, which names no host and is not on the list (GATE-01d)',
      async (origin) => {
        expect(await passes({ origin })).toBe(false);
      },
    );

    it('lets through what is literally on the list, in any case (GATE-02a, GATE-01d)', async () => {
      for (const origin of ['https://app.example.com', 'HTTPS://APP.EXAMPLE.COM', 'http://localhost:5173', 'file://']) {
        expect(await passes({ origin })).toBe(true);
      }
    });

    it.each([
      'http://app.example.com',
      'https://app.example.com:444',
      'https://app.example.com.evil.example',
      'https://x.app.example.com',
      'http://localhost',
      'http://localhost:51731',
      '*',
    ])('does not take %s for one on the list (GATE-02a)', async (origin) => {
      expect(await passes({ origin })).toBe(false);
    });

    it('believes no forwarded host (GATE-03b)', async () => {
      const origin = EVIL;
      expect(await passes({ origin, 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' })).toBe(false);
    });

    it('gives no header that lets a page read the answer (GATE-03a)', async () => {
      for (const origin of ['https://app.example.com', EVIL]) {
        const { headers } = await post(GOOD, { origin });
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      }
    });
  });

  describe('by content type', () => {
    it.each([
      'application/json',
      'application/a2a+json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'Application/A2A+JSON;version="1.0"; profile=x',
      'application/json;charset=UTF-8',
      ' application/json ; charset=utf-8',
    ])('takes %j (GATE-04a, CONF-18)', async (contentType) => {
      const answer = await post(GOOD, { 'content-type': contentType });
      expect(answer).toMatchObject({ status: 200, body: { result: { pageSize: 50 } } });
    });

    it.each([
      undefined,
      '',
      'json',
      'text/plain',
      'text/json',
      'application/jsonx',
      'application/json+x',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json, text/plain',
      'text/plain; application/json',
      'application/',
      '/json',
      'application json',
    ])('refuses %j (GATE-04b)', async (contentType) => {
      expectError(await post(GOOD, { 'content-type': contentType }), { status: 415, id: null, code: -32005 });
    });

    it('answers another type before one byte of the body (GATE-04b)', async () => {
      const answer = await answerToHead(agent.url, { headers: { 'content-type': 'text/plain' } });
      expectError(answer, { status: 415, id: null, code: -32005 });
    });

    it.each(['gzip', 'GZIP', 'br', 'deflate', 'identity, gzip', 'x-unknown'])(
      'refuses a body encoded as %s, which would pass the cap by (GATE-05)',
      async (encoding) => {
        const bomb = gzipSync(`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"x":"${' '.repeat(4 * MIB)}"}}`);
        const answer = await post(bomb, { 'content-encoding': encoding });
        expectError(answer, { status: 415, id: null, code: -32005 });
      },
    );

    it('takes the encoding that is none (GATE-05)', async () => {
      expect(await post(GOOD, { 'content-encoding': 'Identity' })).toMatchObject({ status: 200 });
    });
  });

  describe('by size', () => {
    it('takes a body of exactly 1 MiB (GATE-06b)', async () => {
      const body = sendOfSize(MIB);
      expect(Buffer.byteLength(body)).toBe(MIB);
      expect((await post(body)).body.result.task.status.state).toBe(TaskState.Completed);
    });

    it('takes a body of exactly 1 MiB that does not tell its length (GATE-06b)', async () => {
      const { request, answer } = openRequest(agent.url);
      request.end(sendOfSize(MIB));
      expect((await answer).body.result.task.status.state).toBe(TaskState.Completed);
    });

    it('refuses a body that says it is larger before one byte of it (GATE-06a)', async () => {
      const answer = await answerToHead(agent.url, { headers: { 'content-length': String(MIB + 1) } });
      expectError(answer, { status: 413, id: null, code: -32600 });
    });

    it('refuses a body that turns out larger as soon as it does (GATE-06a)', async () => {
      const { request, answer } = openRequest(agent.url);
      request.write('x'.repeat(MIB + 1));
      expectError(await answer, { status: 413, id: null, code: -32600 });
      request.destroy();
    });

    it.each(['content-length', 'transfer-encoding'])(
      'stops reading a body of 64 MiB by %s, and its sender reads why (GATE-06a, B-11)',
      async (framing) => {
        const headers = framing === 'content-length' ? { 'content-length': String(64 * MIB) } : {};
        const { request, answer } = openRequest(agent.url, { headers });
        const chunk = Buffer.alloc(64 * 1024, 'x');
        let taken = 0;
        const closed = new Promise<void>((resolve) => request.once('close', resolve));
        const push = (): void => {
          while (taken < 64 * MIB && !request.destroyed) {
            taken += chunk.length;
            if (!request.write(chunk)) {
              request.once('drain', push);
              return;
            }
          }
        };
        push();
        expectError(await answer, { status: 413, id: null, code: -32600 });
        await closed;
        expect(taken).toBeLessThan(32 * MIB);
      },
      10_000,
    );

    it('answers a part of 20 MB in JSON (B-11)', async () => {
      const answer = await post(sendOfSize(20 * MIB));
      expectError(answer, { status: 413, id: null, code: -32600 });
    });

    it('takes a text of 200 kB, past the 100 kB of the host (B-11, PKG-09b)', async () => {
      const { body } = await send(agent.url, 'x'.repeat(200_000));
      expect(body.result.task.artifacts[0].parts[0].text).toHaveLength(200_000);
    });

    it('serves the next call on a connection whose last one was refused (GATE-06a)', async () => {
      const pool = keepAlive(1);
      const refused = await postBytes(agent.url, GOOD, { agent: pool, headers: { 'content-type': 'text/plain' } });
      expect(refused.status).toBe(415);
      expect((await postBytes(agent.url, GOOD, { agent: pool })).status).toBe(200);
      pool.destroy();
    });

    it('forgets a client that leaves in the middle of its body', async () => {
      const before = agent.service.statistics().executions;
      const { request } = openRequest(agent.url, { headers: { 'content-length': '1000' } });
      await new Promise<void>((resolve) => {
        request.write('{"jsonrpc"', () => {
          resolve();
        });
      });
      request.destroy();
      expect((await post(GOOD)).status).toBe(200);
      expect(agent.service.statistics().executions).toBe(before);
    });
  });

  describe('by JSON', () => {
    const call = (params: string) => post(`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":${params}}`);
    const isParseError = async (answer: ReturnType<typeof post>) => {
      const refused = await answer;
      expectError(refused, { status: 400, id: null, code: -32700 });
      expect(refused.body.error).toEqual({ code: -32700, message: 'Invalid JSON payload' });
    };

    it.each([
      '',
      ' ',
      '{"jsonrpc":"2.0",',
      '{"jsonrpc":"2.0"',
      'not json',
      "{'jsonrpc':'2.0'}",
      '{"jsonrpc":"2.0","id":1,"method":"ListTasks",}',
      '{"jsonrpc":"2.0","id":01,"method":"ListTasks"}',
      '{"jsonrpc":"2.0","id":NaN,"method":"ListTasks"}',
      '{"jsonrpc":"2.0","id":1e999,"method":"ListTasks"}',
      '{"jsonrpc":"2.0","id":"\t","method":"ListTasks"}',
      '{"jsonrpc":"2.0","id":1,"method":"ListTasks"/**/}',
      '<html></html>',
      'jsonrpc=2.0&id=1',
    ])('refuses %j, and says nothing of where it stumbled (GATE-07a, B-01)', async (body) => {
      await isParseError(post(body));
    });

    it.each([
      ['a stray byte', Buffer.from('{"jsonrpc":"2.0","id":"\xff","method":"ListTasks"}', 'latin1')],
      [
        'a cut character',
        Buffer.concat([
          Buffer.from('{"jsonrpc":"2.0","id":"'),
          Buffer.from([0xe6, 0xbc]),
          Buffer.from('","method":"ListTasks"}'),
        ]),
      ],
      [
        'a surrogate',
        Buffer.concat([
          Buffer.from('{"jsonrpc":"2.0","id":"'),
          Buffer.from([0xed, 0xa0, 0x80]),
          Buffer.from('","method":"ListTasks"}'),
        ]),
      ],
      [
        'an overlong slash',
        Buffer.concat([
          Buffer.from('{"jsonrpc":"2.0","id":"'),
          Buffer.from([0xc0, 0xaf]),
          Buffer.from('","method":"ListTasks"}'),
        ]),
      ],
      ['UTF-16', Buffer.from(GOOD, 'utf16le')],
      ['a byte order mark', Buffer.from(`\ufeff${GOOD}`)],
    ])('refuses a body with %s (GATE-07a)', async (_flaw, bytes) => {
      await isParseError(post(bytes));
    });

    it('reads UTF-8 whatever charset the content type names (GATE-04a, GATE-07a)', async () => {
      const body = GOOD.replace('"id":1', '"id":"漢"');
      const answer = await post(body, { 'content-type': 'application/json; charset=latin1' });
      expect(answer.body).toMatchObject({ id: '漢', result: {} });
    });

    it('joins a body that comes in pieces, within a character too (GATE-07a)', async () => {
      const bytes = Buffer.from(GOOD.replace('"id":1', '"id":"漢😀"'));
      const { request, answer } = openRequest(agent.url);
      for (const byte of bytes) request.write(Buffer.from([byte]));
      request.end();
      expect((await answer).body).toMatchObject({ id: '漢😀', result: {} });
    });

    it.each(['x', '{}', ']', '}', ',', '\u0000', GOOD, '\u00a0', '\ufeff'])(
      'refuses %j after the request (GATE-07b)',
      async (rest) => {
        await isParseError(post(GOOD + rest));
      },
    );

    it('takes white space around the request (GATE-07b)', async () => {
      expect(await post(` \t\r\n${GOOD}\n\r\t `)).toMatchObject({ status: 200 });
    });

    it.each([
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"ListTasks","params":{}}',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"ListTasks"}',
      '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ListTasks"}',
      '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{},"params":{}}',
      '{"jsonrpc":"2.0","id":1,"method":"ListTasks","m\\u0065thod":"ListTasks"}',
    ])('refuses the repeated key of %s (GATE-08a)', async (body) => {
      await isParseError(post(body));
    });

    it('refuses a repeated key of the envelope behind any number of repeated keys of params (GATE-08a)', async () => {
      const params = `{${'"a":1,'.repeat(500)}"a":1}`;
      await isParseError(post(`{"jsonrpc":"2.0","id":1,"params":${params},"method":"GetTask","method":"ListTasks"}`));
    });

    it.each([
      '{"jsonrpc":"2.0","id":1,"Method":"ListTasks"}',
      '{"jsonrpc":"2.0","id":1,"method":"ListTasks","Method":"ListTasks"}',
      '{"JSONRPC":"2.0","id":1,"method":"ListTasks"}',
      '{"jsonrpc":"2.0","ID":1,"method":"ListTasks"}',
      '{"jsonrpc":"2.0","id":1,"method":"ListTasks","PARAMS":{}}',
    ])('refuses the spelling of %s (GATE-08b)', async (body) => {
      await isParseError(post(body));
    });

    it.each([
      ['{"pageSize":1,"pageSize":1}', 'pageSize'],
      ['{"x":{"y":[{"z":1,"z":2}]}}', 'x.y[0].z'],
      ['{"page\\u0053ize":1,"pageSize":1}', 'pageSize'],
      ['{"page_size":1,"page_size":1}', 'pageSize'],
    ])('refuses the repeated key in the params %s (GATE-09a)', async (params, field) => {
      const answer = await call(params);
      expectError(answer, { code: -32602 });
      expect(violatedFields(answer)).toEqual([field]);
    });

    it.each([
      ['"role":"ROLE_USER","role":"ROLE_USER","parts":[{"text":"x"}]', 'message.role'],
      ['"role":"ROLE_USER","parts":[{"text":"x"},{"text":"x","text":"y"}]', 'message.parts[1].text'],
      ['"role":"ROLE_USER","parts":[{"data":{"a":{"b":1,"b":1}}}]', 'message.parts[0].data.a.b'],
      ['"role":"ROLE_USER","parts":[{"text":"x"}],"metadata":{"k":1,"k":1}', 'message.metadata.k'],
      ['"role":"ROLE_USER","parts":[{"text":"x"}],"ContextId":"c"', 'message.contextId'],
      ['"role":"ROLE_USER","parts":[{"text":"x","MediaType":"a/b"}]', 'message.parts[0].mediaType'],
    ])('refuses the message {%s} (GATE-09a, GATE-09b)', async (fields, field) => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{${fields}}}}`;
      const before = agent.service.statistics().executions;
      const answer = await post(body);
      expectError(answer, { code: -32602 });
      expect(violatedFields(answer)).toEqual([field]);
      expect(agent.service.statistics().executions).toBe(before);
    });

    it('refuses what nests deeper than 128, and survives it (GATE-10a)', async () => {
      const nested = (open: string, inner: string, close: string, depth: number) =>
        call(`{"x":${open.repeat(depth)}${inner}${close.repeat(depth)}}`);
      // The envelope and its params are two of the levels.
      expect(await nested('[', '', ']', 126)).toMatchObject({ status: 200, body: { result: {} } });
      await isParseError(nested('[', '', ']', 127));
      await isParseError(nested('{"y":', '1', '}', 127));
      await isParseError(nested('[', '', ']', 200_000));
      await isParseError(nested('[', '', '', 400_000));
      await isParseError(post('{"a":'.repeat(200_000)));
    });
  });
});

describe.each(ADAPTERS)('odd keys on %s', (adapter) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [WireSkills] });
  });
  afterAll(() => agent.close());

  it('are plain data from the body to the answer, and touch no prototype (GATE-10b, S-17)', async () => {
    const odd =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1},"toString":1,"skill":"parrot"}';
    const message = `{"role":"ROLE_USER","parts":[{"data":${odd},"metadata":${odd}}],"metadata":${odd},"__proto__":{"taskId":"t"}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${message},"metadata":${odd},"__proto__":{"polluted":1}}}`;
    const sent = await postBytes(agent.url, body);
    const { id } = sent.body.result.task as { id: string };
    const got = await rpc(agent.url, 'GetTask', { id });
    for (const text of [sent.text, got.text]) {
      expect(text).toContain(`"artifacts":[{"artifactId":`);
      expect(text.split(`"data":${odd}`)).toHaveLength(3);
      expect(text.split(`"metadata":${odd}`).length).toBeGreaterThanOrEqual(3);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe.each(ADAPTERS)('the settings of the entry on %s', (adapter) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [EchoSkill], options: { maxBodyBytes: 500 } });
  });
  afterAll(() => agent.close());
  const statusOf = async (origin: string) => (await postBytes(agent.url, GOOD, { headers: { origin } })).status;

  it('have the cap that the host wants (GATE-06a, GATE-06b)', async () => {
    expect((await postBytes(agent.url, GOOD.padEnd(500))).status).toBe(200);
    const over = await postBytes(agent.url, GOOD.padEnd(501));
    expectError(over, { status: 413, id: null, code: -32600 });
    const { request, answer } = openRequest(agent.url);
    request.write(GOOD.padEnd(501));
    expectError(await answer, { status: 413, id: null, code: -32600 });
    request.destroy();
  });

  it('have the list of origins replaced as a whole, at run time (GATE-02b, PKG-07b)', async () => {
    expect(await statusOf('https://one.example')).toBe(403);
    const list = ['https://one.example', 'https://two.example'];
    agent.service.setAllowedOrigins(list);
    list[0] = EVIL;
    list.push(EVIL);
    expect(await statusOf('https://one.example')).toBe(200);
    expect(await statusOf('https://two.example')).toBe(200);
    expect(await statusOf(EVIL)).toBe(403);
    agent.service.setAllowedOrigins(['https://three.example']);
    expect(await statusOf('https://one.example')).toBe(403);
    expect(await statusOf('https://three.example')).toBe(200);
    agent.service.setAllowedOrigins([]);
    expect(await statusOf('https://three.example')).toBe(403);
  });
});

describe.each(ADAPTERS)('behind a proxy that the host trusts on %s', (adapter) => {
  it('the host that the proxy was asked for is the agent’s own (GATE-03b)', async () => {
    const agent = await startAgent({
      adapter,
      skills: [EchoSkill],
      fastify: { trustProxy: true },
      configure: (app) => {
        const instance: unknown = app.getHttpAdapter().getInstance();
        if (adapter === 'express') (instance as { set(name: string, value: unknown): void }).set('trust proxy', true);
      },
    });
    try {
      const statusOf = async (origin: string) => {
        const headers = { origin, 'x-forwarded-host': 'agent.example.com', 'x-forwarded-for': '192.0.2.1' };
        return (await postBytes(agent.url, GOOD, { headers })).status;
      };
      expect(await statusOf('https://agent.example.com')).toBe(200);
      expect(await statusOf(`http://${new URL(agent.url).host}`)).toBe(403);
      expect(await statusOf(EVIL)).toBe(403);
    } finally {
      await agent.close();
    }
  });
});

describe.each(ADAPTERS)('a preflight on %s', (adapter) => {
  const preflight = { origin: EVIL, 'access-control-request-method': 'POST', 'content-type': undefined };

  it('is no call, so it is refused where the host has no CORS (GATE-03a, WIRE-03)', async () => {
    const agent = await startAgent({ adapter, skills: [EchoSkill] });
    try {
      const answer = await bodyless(agent.url, 'OPTIONS', { headers: preflight });
      expectError(answer, { status: 405, id: null, code: -32600 });
      expect(answer.headers['allow']).toBe('POST');
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    } finally {
      await agent.close();
    }
  });

  it('is for the CORS of the host to answer, and so are its headers on calls (GATE-03a)', async () => {
    const allowed = 'https://app.example.com';
    const agent = await startAgent({
      adapter,
      skills: [EchoSkill],
      options: { allowedOrigins: [allowed] },
      configure: (app) => {
        app.enableCors({ origin: allowed, methods: ['POST'] });
      },
    });
    try {
      const answer = await bodyless(agent.url, 'OPTIONS', { headers: { ...preflight, origin: allowed } });
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers['access-control-allow-origin']).toBe(allowed);
      expect(answer.headers['access-control-allow-methods']).toBe('POST');
      const called = await postBytes(agent.url, GOOD, { headers: { origin: allowed } });
      expect(called).toMatchObject({ status: 200, body: { result: {} } });
      expect(called.headers['access-control-allow-origin']).toBe(allowed);
      // What the gate refuses, it refuses before the host's CORS.
      const refused = await postBytes(agent.url, GOOD, { headers: { origin: EVIL } });
      expectError(refused, { status: 403, id: null, code: -31403 });
    } finally {
      await agent.close();
    }
  });
});

describe.each(ADAPTERS)('what is no HTTP on %s', (adapter) => {
  it('ends its own connection and nothing else', async () => {
    const agent = await startAgent({ adapter, skills: [EchoSkill] });
    try {
      const smuggled = `POST /a2a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
      for (const text of ['\u0000\u0001\r\n\r\n', smuggled]) {
        expect(await exchangeRaw(agent.url, text)).toMatch(/^HTTP\/1\.1 400 /u);
      }
      expect((await postBytes(agent.url, GOOD)).status).toBe(200);
    } finally {
      await agent.close();
    }
  });

  it('is no browser when it speaks HTTP/1.0 without a Host, and no page of ours with an Origin (GATE-01b)', async () => {
    const agent = await startAgent({ adapter, skills: [EchoSkill] });
    try {
      const head = `Content-Type: application/json\r\nX-User: alice\r\nContent-Length: ${GOOD.length}\r\nConnection: close\r\n`;
      expect(await exchangeRaw(agent.url, `POST /a2a HTTP/1.0\r\n${head}\r\n${GOOD}`)).toContain('"result":');
      const refused = await exchangeRaw(agent.url, `POST /a2a HTTP/1.0\r\n${head}Origin: http://x\r\n\r\n${GOOD}`);
      expect(refused).toMatch(/^HTTP\/1\.1 403 /u);
    } finally {
      await agent.close();
    }
  });
});
