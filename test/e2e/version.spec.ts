import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AGENT_CARD_PATH, PROTOCOL_VERSION, TaskState, type TaskContext } from 'nestjs-a2a';
import { A2A_METHODS } from 'nestjs-a2a/protocol';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { postBytes, type HttpCall } from '../support/http-client.js';
import { expectError } from '../support/rpc-matchers.js';
import { userMessage } from '../support/rpc.js';
import { EchoSkill } from '../support/wire-skills.js';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 42, method: 'ListTasks' });
const REFUSED = {
  code: -32009,
  data: [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'VERSION_NOT_SUPPORTED',
      domain: 'a2a-protocol.org',
      metadata: { supportedVersions: '1.0' },
    },
  ],
};

describe.each(ADAPTERS)('the protocol version on %s', (adapter) => {
  let agent: Agent;
  let strict: Agent;
  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [EchoSkill] });
    strict = await startAgent({ adapter, skills: [EchoSkill], options: { versionPolicy: 'strict' } });
  });
  afterAll(async () => {
    await agent.close();
    await strict.close();
  });

  /** Calls with a version header, or without one, and perhaps with a query. */
  const ask = ({ url }: Agent, version: string | readonly string[] | undefined, query = '') =>
    postBytes(url, LIST, { path: `/a2a${query}`, headers: { 'a2a-version': version } });

  it('is 1.0, in the constant and on the card alike (VER-01)', async () => {
    expect(PROTOCOL_VERSION).toBe('1.0');
    const card = (await (await fetch(agent.url + AGENT_CARD_PATH)).json()) as {
      supportedInterfaces: { protocolVersion: string }[];
    };
    expect(card.supportedInterfaces.map(({ protocolVersion }) => protocolVersion)).toEqual([PROTOCOL_VERSION]);
  });

  it.each([
    '0.3',
    '0.5',
    '2.0',
    '99.0',
    '1',
    '1.1',
    '10.0',
    '01.0',
    '1.00',
    '1.0.',
    '1.0.x',
    '1.0-beta',
    'v1.0',
    'latest',
    '1.0, 0.3',
  ])('is not %j, which is refused with the id and what is served (VER-02a, B-05, B-17)', async (version) => {
    const answer = await ask(agent, version);
    expectError(answer, { id: 42, code: -32009 });
    expect(answer.body.error).toMatchObject(REFUSED);
  });

  it.each(A2A_METHODS)('is checked before %s is looked at (VER-02a, B-17)', async (method) => {
    const before = agent.service.statistics().executions;
    for (const params of [{}, { id: 'x', message: userMessage('hi') }]) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const answer = await postBytes(agent.url, body, { headers: { 'a2a-version': '9.9' } });
      expectError(answer, { code: -32009 });
    }
    expect(agent.service.statistics().executions).toBe(before);
  });

  it('is read whatever the case of the header (VER-02a)', async () => {
    const answer = await postBytes(agent.url, LIST, { headers: { 'a2a-version': undefined, 'A2A-VERSION': '9.9' } });
    expectError(answer, { id: 42, code: -32009 });
  });

  it('is read from the query when no header names it (VER-02b, B-19)', async () => {
    expect(await ask(strict, undefined, '?A2A-Version=1.0')).toMatchObject({ status: 200, body: { result: {} } });
    expect(await ask(strict, undefined, '/?x=1&a2a-version=1.0.7')).toMatchObject({ body: { result: {} } });
    expectError(await ask(agent, undefined, '?A2A-Version=0.3'), { id: 42, code: -32009 });
    expectError(await ask(agent, '', '?A2A-Version=0.3'), { id: 42, code: -32009 });
  });

  it('is that of the header when both name one (VER-02b)', async () => {
    expect(await ask(agent, '1.0', '?A2A-Version=9.9')).toMatchObject({ body: { result: {} } });
    expectError(await ask(agent, '9.9', '?A2A-Version=1.0'), { id: 42, code: -32009 });
  });

  it.each(['1.0', '1.0.0', '1.0.1', '1.0.99', ' 1.0 '])(
    'is served as %j: a patch does not count (VER-02c, B-19)',
    async (version) => {
      expect(await ask(strict, version)).toMatchObject({ status: 200, body: { id: 42, result: {} } });
    },
  );

  it('is 1.0 when none is named, unless the host is strict (VER-03, R-13, B-18)', async () => {
    for (const version of [undefined, '', '  ']) {
      expect(await ask(agent, version)).toMatchObject({ status: 200, body: { id: 42, result: {} } });
      const refused = await ask(strict, version);
      expectError(refused, { id: 42, code: -32009 });
      expect(refused.body.error).toMatchObject(REFUSED);
    }
  });

  it('quotes no more of a hostile version than fits a line (FAULT-03)', async () => {
    const { body } = await ask(agent, `9.9${'x'.repeat(5_000)}`);
    expect(body.error.message.length).toBeLessThan(100);
  });
});

const REQUIRED = 'https://ext.example.com/required/v1';
const OPTIONAL = 'https://ext.example.com/optional/v1';

describe.each(ADAPTERS)('extensions on %s', (adapter) => {
  let agent: Agent;
  let relaxed: Agent;
  let requested: readonly string[] | undefined;

  beforeAll(async () => {
    const extension = { uri: OPTIONAL, description: 'Optional.', params: { a: 1 } };
    agent = await startAgent({
      adapter,
      skills: [EchoSkill],
      options: { extensions: [extension, { uri: REQUIRED, required: true }] },
    });
    const handler = (task: TaskContext) => {
      requested = task.requestedExtensions;
    };
    relaxed = await startAgent({ adapter, options: { extensions: [extension], skills: [{ id: 'note', handler }] } });
  });
  afterAll(async () => {
    await agent.close();
    await relaxed.close();
  });

  const ask = ({ url }: Agent, extensions: string | readonly string[] | undefined, body = LIST) => {
    const headers: HttpCall['headers'] = { 'a2a-extensions': extensions };
    return postBytes(url, body, { headers });
  };

  it.each([undefined, '', OPTIONAL, 'https://unknown.example', `${REQUIRED}/x`, REQUIRED.toUpperCase()])(
    'that are required are missing in %j (VER-04)',
    async (header) => {
      const answer = await ask(agent, header);
      expectError(answer, { id: 42, code: -32008 });
      expect(answer.body.error.data).toEqual([
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'EXTENSION_SUPPORT_REQUIRED',
          domain: 'a2a-protocol.org',
          metadata: { extension: REQUIRED },
        },
      ]);
    },
  );

  it.each(A2A_METHODS)('that are required are required for %s (VER-04)', async (method) => {
    expectError(await ask(agent, OPTIONAL, JSON.stringify({ jsonrpc: '2.0', id: 1, method })), { code: -32008 });
  });

  it.each([
    [REQUIRED, REQUIRED],
    [` ${REQUIRED} , ${OPTIONAL} ,, https://unknown.example`, `${OPTIONAL}, ${REQUIRED}`],
    [[REQUIRED, OPTIONAL], `${OPTIONAL}, ${REQUIRED}`],
    [`${REQUIRED},${REQUIRED}`, REQUIRED],
  ])('are read from the list %j, and those served are named in the answer (VER-05a)', async (header, active) => {
    const answer = await ask(agent, header);
    expect(answer).toMatchObject({ status: 200, body: { id: 42, result: {} } });
    expect(answer.headers['a2a-extensions']).toBe(active);
  });

  it('are not named in the answer when none was asked for (VER-05a)', async () => {
    for (const header of [undefined, 'https://unknown.example']) {
      const answer = await ask(relaxed, header);
      expect(answer.status).toBe(200);
      expect(answer.headers).not.toHaveProperty('a2a-extensions');
    }
  });

  it('are shown to the skill as they were asked for (VER-05a)', async () => {
    const params = { message: userMessage('hi') };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
    const answer = await ask(relaxed, ` ${OPTIONAL},https://unknown.example ,`, body);
    expect(answer.body.result.task.status.state).toBe(TaskState.Completed);
    expect(requested).toEqual([OPTIONAL, 'https://unknown.example']);
  });

  it('are on the card, and in the capabilities of the service (VER-05b, CARD-02c)', async () => {
    const card = (await (await fetch(agent.url + AGENT_CARD_PATH)).json()) as {
      capabilities: { extensions: unknown };
    };
    const expected = [
      { uri: OPTIONAL, description: 'Optional.', params: { a: 1 } },
      { uri: REQUIRED, required: true },
    ];
    expect(card.capabilities.extensions).toEqual(expected);
    expect(agent.service.capabilities().extensions).toEqual(expected);
  });
});
