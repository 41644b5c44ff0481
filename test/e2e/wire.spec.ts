import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InvalidParamsError, MemoryTaskStore, TaskState, type TaskKey, type TaskRecord } from 'nestjs-a2a';
import { A2A_METHODS } from 'nestjs-a2a/protocol';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { bodyless, postBytes } from '../support/http-client.js';
import { expectError, headerOf, violatedFields } from '../support/rpc-matchers.js';
import { rpc, send, userMessage } from '../support/rpc.js';
import { SECRET, WireSkills } from '../support/wire-skills.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

/** The text of a request that lists tasks, with one part of its envelope changed. */
function request(changed: Record<string, unknown> = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {}, ...changed });
}

describe.each(ADAPTERS)('the JSON-RPC wire on %s', (adapter) => {
  let agent: Agent;
  const post = (body: string) => postBytes(agent.url, body);

  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [WireSkills], options: { push: false } });
  });
  afterAll(() => agent.close());

  const sendTo = (skill: string, text = 'hi') => send(agent.url, text, { message: { metadata: { skill } } });

  describe('methods', () => {
    const config = { taskId: 'x', id: 'c', url: 'https://hook.example.com' };
    const ANSWERS: Record<string, readonly [params: () => object, outcome: string | number]> = {
      SendMessage: [() => ({ message: userMessage('hi', { metadata: { skill: 'echo' } }) }), 'task'],
      SendStreamingMessage: [() => ({ message: userMessage('hi') }), 'stream'],
      GetTask: [() => ({ id: 'x' }), -32001],
      ListTasks: [() => ({}), 'tasks'],
      CancelTask: [() => ({ id: 'x' }), -32001],
      SubscribeToTask: [() => ({ id: 'x' }), -32001],
      CreateTaskPushNotificationConfig: [() => config, -32003],
      GetTaskPushNotificationConfig: [() => config, -32003],
      ListTaskPushNotificationConfigs: [() => config, -32003],
      DeleteTaskPushNotificationConfig: [() => config, -32003],
      GetExtendedAgentCard: [() => ({}), -32004],
    };

    it('are the eleven of the protocol, spelled as it spells them (WIRE-01)', () => {
      expect(Object.keys(ANSWERS)).toEqual(A2A_METHODS);
    });

    it.each(A2A_METHODS)('has %s, which answers by what the card declares (WIRE-01, B-63, PCFG-02)', async (method) => {
      const [params, outcome] = ANSWERS[method]!;
      const answer = await rpc(agent.url, method, params(), { id: 'q' });
      if (typeof outcome === 'number') expectError(answer, { id: 'q', code: outcome });
      else if (outcome === 'stream') expect(answer.headers.get('content-type')).toBe('text/event-stream');
      else expect(Object.keys(answer.body.result)).toContain(outcome);
    });

    it('does not stream when the card says so, and makes no task (B-63, R-38, SSM-01a)', async () => {
      const silent = await startAgent({ adapter, skills: [WireSkills], options: { streaming: false } });
      expect(silent.service.capabilities().streaming).toBe(false);
      const message = userMessage('hi', { metadata: { skill: 'echo' } });
      for (const [method, params] of [
        ['SendStreamingMessage', { message }],
        ['SubscribeToTask', { id: 'x' }],
      ] as const) {
        expectError(await rpc(silent.url, method, params, { id: 'q' }), { id: 'q', code: -32004 });
      }
      expect(silent.service.statistics()).toMatchObject({ executions: 0, seats: 0 });
      expect((await rpc(silent.url, 'ListTasks', {})).body.result.totalSize).toBe(0);
      await silent.close();
    });

    it('refuses a push config that comes with a message, and makes no task of it (SEND-12b, B-63)', async () => {
      const call = { user: 'inline' };
      const configuration = { taskPushNotificationConfig: { url: 'https://hook.example.com' } };
      expectError(await send(agent.url, 'hi', { configuration, call }), { code: -32003 });
      const { body } = await rpc(agent.url, 'ListTasks', {}, call);
      expect(body.result.totalSize).toBe(0);
    });

    it.each([
      'message/send',
      'message/stream',
      'tasks/get',
      'tasks/cancel',
      'tasks/resubscribe',
      'tasks/pushNotificationConfig/set',
      'agent/getAuthenticatedExtendedCard',
    ])('does not know %s of v0.x (WIRE-06a)', async (method) => {
      expectError(await rpc(agent.url, method, { id: 'x' }), { code: -32601 });
    });

    it.each([
      'sendmessage',
      'SENDMESSAGE',
      'sendMessage',
      'getTask',
      'gettask',
      'GetTask ',
      'constructor',
      '__proto__',
    ])('tells %j from the method it resembles (WIRE-06b)', async (method) => {
      expectError(await rpc(agent.url, method, { id: 'x' }), { code: -32601 });
    });
  });

  describe('the envelope', () => {
    it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])(
      'comes by POST: %s is 405, and says so (WIRE-03)',
      async (method) => {
        const answer = await bodyless(agent.url, method, { headers: { 'content-type': undefined } });
        expect(answer.headers['allow']).toBe('POST');
        if (method === 'HEAD') expect(answer).toMatchObject({ status: 405, text: '' });
        else expectError(answer, { status: 405, id: null, code: -32600 });
      },
    );

    it.each(['1.0', '2', '2.0 ', '', 2, 2.1, null, true, {}, []])(
      'says jsonrpc "2.0": %j is refused with the id echoed (WIRE-04a, B-06)',
      async (jsonrpc) => {
        expectError(await post(request({ jsonrpc, id: 'me' })), { id: 'me', code: -32600 });
      },
    );

    it('says jsonrpc at all (WIRE-04a, B-06)', async () => {
      expectError(await post(request({ jsonrpc: undefined, id: 7 })), { id: 7, code: -32600 });
    });

    it('has no id in the answer to a wrong version without one (WIRE-04a)', async () => {
      expectError(await post(request({ jsonrpc: '1.0', id: undefined })), { id: null, code: -32600 });
    });

    it.each([undefined, null])('has an id: %j is refused, so there are no notifications (WIRE-04b)', async (id) => {
      expectError(await post(request({ id })), { id: null, code: -32600 });
    });

    it('runs nothing for a notification (WIRE-04b, B-03)', async () => {
      const before = agent.service.statistics().executions;
      const params = { message: userMessage('hi', { metadata: { skill: 'echo' } }) };
      expectError(await post(request({ id: undefined, method: 'SendMessage', params })), { id: null, code: -32600 });
      expect(agent.service.statistics().executions).toBe(before);
    });

    it.each(['7', '0', '-1', '1.5', '1.0', '1e2', '9007199254740993', '123456789012345678901234567890'])(
      'gets the number %s back as it was sent (WIRE-04c, R-41, B-03)',
      async (id) => {
        const body = `{"jsonrpc":"2.0","id":${id},"method":"GetTask","params":{"id":"x"}}`;
        expect((await post(body)).text).toContain(`{"jsonrpc":"2.0","id":${id},"error":`);
        expect((await post(body.replace('GetTask', 'ListTasks'))).text).toContain(
          `{"jsonrpc":"2.0","id":${id},"result":`,
        );
      },
    );

    it.each([
      ['empty', '""'],
      ['of digits', '"7"'],
      ['with needless escapes', '"\\u0041\\/"'],
      ['beyond Latin', '"漢😀"'],
      ['with a quote', '"a\\n\\"b"'],
      ['of 5,000 characters', `"${'x'.repeat(5_000)}"`],
    ])('gets a string %s back as it was sent (WIRE-04c)', async (_kind, id) => {
      const { text } = await post(`{"params":{}, "method":"ListTasks","id" : ${id}\t,"jsonrpc":"2.0"}`);
      expect(text.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`)).toBe(true);
    });

    it.each([{}, [], true, false, { id: 1 }, [1]])('has no id like %j (WIRE-04d, B-03)', async (id) => {
      expectError(await post(request({ id })), { id: null, code: -32600 });
    });

    it.each(['', null, 5, {}, ['GetTask'], undefined])('names its method: %j is refused (B-06)', async (method) => {
      expectError(await post(request({ method })), { code: -32600 });
    });

    it.each([
      '[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]',
      '[]',
      ' \t\r\n[{"jsonrpc":"2.0","id":1,"method":"ListTasks"}]',
      '[1,',
      '[',
    ])('comes alone: the batch %j is refused once (WIRE-05, B-02)', async (body) => {
      expectError(await post(body), { status: 400, id: null, code: -32600 });
    });

    it.each(['"text"', '5', 'null', 'true'])('is an object: %s is none (WIRE-07a)', async (body) => {
      expectError(await post(body), { status: 400, id: null, code: -32600 });
    });

    it.each(['extra', 'Params', 'Id', 'meta', 'result'])(
      'has no fifth key such as %j (WIRE-08b, GATE-08b)',
      async (key) => {
        expectError(await post(request({ [key]: 1 })), { status: 400, id: null, code: -32700 });
      },
    );

    it('may have no params (WIRE-08a)', async () => {
      const absent = await post(request({ params: undefined }));
      const empty = await post(request({ params: null }));
      expect(absent.body.result).toEqual(empty.body.result);
      expect(absent.body.result).toMatchObject({ pageSize: 50 });
    });

    it.each([[[]], [[{ id: 'x' }]], ['text'], [5], [true], [false], [''], [0]])(
      'has no params like %j (WIRE-08a, B-06)',
      async (params) => {
        for (const method of ['ListTasks', 'GetTask', 'GetExtendedAgentCard']) {
          const answer = await post(request({ method, params }));
          expectError(answer, { code: -32602 });
          expect(violatedFields(answer)).toEqual(['params']);
        }
      },
    );

    it('may have fields in its params that nobody knows (WIRE-08b)', async () => {
      const message = userMessage('hi', { metadata: { skill: 'echo' }, kind: 'message', x: { y: [1] } });
      const { body } = await rpc(agent.url, 'SendMessage', {
        message,
        unknown: 1,
        toString: null,
        configuration: { z: 1 },
      });
      expect(body.result.task.status.state).toBe(TaskState.Completed);
      expect(body.result.task.history[0]).not.toHaveProperty('kind');
    });
  });

  describe('statuses', () => {
    it.each([
      [-32600, { jsonrpc: '1.0' }],
      [-32601, { method: 'Unknown' }],
      [-32602, { params: { pageSize: 'many' } }],
      [-32001, { method: 'GetTask', params: { id: 'x' } }],
      [-32003, { method: 'ListTaskPushNotificationConfigs', params: { taskId: 'x' } }],
      [-32004, { method: 'GetExtendedAgentCard', params: {} }],
    ])('ride on 200 for %i, which the envelope came before (WIRE-07a)', async (code, changed) => {
      expectError(await post(request(changed)), { code });
    });

    it('are their own for what is no call, and the id of that is null (WIRE-07a, WIRE-07b)', async () => {
      const good = request();
      const cases = [
        [400, -32700, postBytes(agent.url, '{')],
        [400, -32600, postBytes(agent.url, `[${good}]`)],
        [403, -31403, postBytes(agent.url, good, { headers: { origin: 'https://evil.example' } })],
        [405, -32600, postBytes(agent.url, good, { method: 'PUT' })],
        [413, -32600, postBytes(agent.url, good.padEnd(1024 * 1024 + 1))],
        [415, -32005, postBytes(agent.url, good, { headers: { 'content-type': 'text/plain' } })],
      ] as const;
      for (const [status, code, answer] of cases) expectError(await answer, { status, code, id: null });
    });

    it('are 401 with the id for a caller whom nobody knows (WIRE-07b, B-05)', async () => {
      const answer = await postBytes(agent.url, request({ id: 'q' }), { headers: { 'x-user': undefined } });
      expectError(answer, { status: 401, code: -31401, id: 'q' });
    });
  });

  describe('answers', () => {
    it('have a result and no error, or an error and no result (WIRE-09a)', async () => {
      const success = await post(request());
      expect(Object.keys(success.body)).toEqual(['jsonrpc', 'id', 'result']);
      const error = await post(request({ method: 'GetTask' }));
      expect(Object.keys(error.body)).toEqual(['jsonrpc', 'id', 'error']);
    });

    it('are JSON that nobody keeps (WIRE-09b)', async () => {
      for (const answer of [await post(request()), await post(request({ method: 'GetTask' })), await post('{')]) {
        expect(headerOf(answer, 'content-type')).toBe('application/json');
        expect(headerOf(answer, 'cache-control')).toBe('no-store');
        expect(Number(headerOf(answer, 'content-length'))).toBe(Buffer.byteLength(answer.text));
      }
    });

    it('hold a task or a message for SendMessage (WIRE-10, SEND-19)', async () => {
      const task = await sendTo('echo');
      expect(Object.keys(task.body.result)).toEqual(['task']);
      const direct = await sendTo('greet');
      expect(Object.keys(direct.body.result)).toEqual(['message']);
      expect(direct.body.result.message.role).toBe('ROLE_AGENT');
    });

    it('are the bare task for GetTask and CancelTask (WIRE-10, CONF-10)', async () => {
      const { id } = (await sendTo('ask')).body.result.task;
      const got = await rpc(agent.url, 'GetTask', { id });
      expect(got.body.result).toMatchObject({ id, status: { state: TaskState.InputRequired } });
      const cancelled = await rpc(agent.url, 'CancelTask', { id });
      expect(cancelled.body.result).toMatchObject({ id, status: { state: TaskState.Canceled } });
    });

    it('leave out what is empty, and keep what always shows (WIRE-11a, DM-10a)', async () => {
      const { task } = (await sendTo('nothing')).body.result;
      expect(Object.keys(task).sort()).toEqual(['contextId', 'history', 'id', 'metadata', 'status']);
      expect(Object.keys(task.status).sort()).toEqual(['state', 'timestamp']);
      expect(Object.keys(task.history[0]).sort()).toEqual([
        'contextId',
        'messageId',
        'metadata',
        'parts',
        'role',
        'taskId',
      ]);
      const echoed = (await sendTo('echo', '')).body.result.task;
      expect(Object.keys(echoed.artifacts[0])).toEqual(['artifactId', 'parts']);
      expect(echoed.artifacts[0].parts).toEqual([{ text: '' }]);
    });

    it('show the four fields of a list, be it empty (WIRE-11a, LIST-01)', async () => {
      const { body } = await rpc(agent.url, 'ListTasks', {}, { user: 'nobody-yet' });
      expect(body.result).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
    });

    it('have camelCase names, the names of enums, and UTC timestamps (WIRE-11b, DM-11a)', async () => {
      const metadata = { skill: 'ask', snake_case: { is_kept: 1 } };
      const { task } = (await send(agent.url, 'hi', { message: { metadata } })).body.result;
      expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(task.status.message.role).toBe('ROLE_AGENT');
      expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u);
      expect(task.history[0].metadata).toEqual(metadata);
      const { metadata: _free, ...shown } = { ...task, history: [] };
      expect(JSON.stringify(shown)).not.toMatch(/"[a-zA-Z]*_[a-z]*":/u);
    });

    it('mint ids that nobody guesses (DM-14b)', async () => {
      const { task } = (await sendTo('echo')).body.result;
      for (const id of [task.id, task.contextId, task.artifacts[0].artifactId]) expect(id).toMatch(UUID);
    });

    it('keep every character of a text (B-59)', async () => {
      const text = '<b>&amp; 漢字 😀 \u2028\u0000 "\\';
      expect((await sendTo('echo', text)).body.result.task.artifacts[0].parts).toEqual([{ text }]);
    });
  });

  describe('spelling of params', () => {
    it('may be that of the proto (R-06)', async () => {
      const message = {
        message_id: 'm-proto',
        context_id: 'c-proto',
        role: 'ROLE_USER',
        parts: [{ raw: 'QUI', media_type: 'image/png' }],
        metadata: { skill: 'parrot' },
      };
      const sent = await rpc(agent.url, 'SendMessage', { message, configuration: { history_length: 1 } });
      const { task } = sent.body.result;
      expect(task.contextId).toBe('c-proto');
      expect(task.history[0].messageId).toBe('m-proto');
      expect(task.artifacts[0].parts).toEqual([{ raw: 'QUI=', mediaType: 'image/png' }]);
      const list = await rpc(agent.url, 'ListTasks', { context_id: 'c-proto', page_size: 5, include_artifacts: true });
      expect(list.body.result).toMatchObject({ totalSize: 1, pageSize: 5, tasks: [{ artifacts: task.artifacts }] });
      const got = await rpc(agent.url, 'GetTask', { id: task.id, history_length: 0 });
      expect(got.body.result).not.toHaveProperty('history');
    });

    it.each([
      ['{"contextId":"c","context_id":"c"}', 'contextId'],
      ['{"contextId":null,"context_id":"c"}', 'contextId'],
      ['{"contextId":null,"context_id":null}', 'contextId'],
      ['{"ContextId":"c"}', 'contextId'],
      ['{"CONTEXT_ID":"c"}', 'contextId'],
      ['{"contextid":"c"}', 'contextId'],
      ['{"page\\u0053ize":1,"page_size":1}', 'pageSize'],
      ['{"\\u0050ageSize":1}', 'pageSize'],
    ])('is one of two: %s is refused (R-06, R-42, GATE-09a)', async (params, field) => {
      const answer = await post(`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":${params}}`);
      expectError(answer, { code: -32602 });
      expect(violatedFields(answer)).toEqual([field]);
    });

    it('does not matter in free-form maps (R-42, GATE-09b)', async () => {
      const data = { id: 1, ID: 2, contextId: 1, context_id: 2, ContextId: 3, skill: 'parrot' };
      const { task } = (await send(agent.url, [{ data }])).body.result;
      expect(task.artifacts[0].parts).toEqual([{ data }]);
    });
  });

  describe('the path', () => {
    it.each(['/a2a', '/a2a/', '/a2a?x=1', '/a2a/?x=1'])(
      '%s is the endpoint, without a redirect (R-07)',
      async (path) => {
        const answer = await postBytes(agent.url, request(), { path });
        expect(answer).toMatchObject({ status: 200, body: { id: 1, result: { pageSize: 50 } } });
        expectError(await postBytes(agent.url, request(), { path, method: 'PUT' }), {
          status: 405,
          id: null,
          code: -32600,
        });
      },
    );

    it.each(['/A2A', '/a2a//', '//a2a', '/a2a/x', '/a2a;x', '/a2', '/%61%32%61', '/'])(
      '%s is not the endpoint (R-27)',
      async (path) => {
        const before = agent.service.statistics().executions;
        const params = { message: userMessage('hi', { metadata: { skill: 'echo' } }) };
        const answer = await postBytes(agent.url, request({ method: 'SendMessage', params }), { path });
        expect(answer.status).toBe(404);
        expect(answer.body).not.toHaveProperty('jsonrpc');
        expect(agent.service.statistics().executions).toBe(before);
      },
    );
  });

  it('names every wrong field in one answer (ERR-04c, B-06)', async () => {
    const answer = await rpc(agent.url, 'SendMessage', {
      message: { role: 'ROLE_AGENT', parts: [] },
      configuration: { historyLength: -1 },
    });
    expectError(answer, { code: -32602 });
    expect(violatedFields(answer).sort()).toEqual(['configuration.historyLength', 'message.parts', 'message.role']);
    expect(new InvalidParamsError([]).message).toBe(answer.body.error.message);
  });
});

/** A store that gives out tasks that have no form on the wire. */
class BrokenStore extends MemoryTaskStore {
  static flaw: (record: TaskRecord) => unknown = (record) => record;

  override async read(key: TaskKey): Promise<TaskRecord> {
    return BrokenStore.flaw(await super.read(key)) as TaskRecord;
  }
}

describe.each(ADAPTERS)('a result with a flaw on %s', (adapter) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [WireSkills], options: { store: new BrokenStore(200) } });
  });
  afterAll(() => agent.close());

  async function readFlawed(flaw: (record: TaskRecord) => unknown) {
    BrokenStore.flaw = (record) => record;
    const { task } = (await send(agent.url, 'hi', { message: { metadata: { skill: 'echo' } } })).body.result;
    BrokenStore.flaw = flaw;
    return rpc(agent.url, 'GetTask', { id: task.id });
  }

  it('that no JSON can hold is an internal error without detail (WIRE-09c)', async () => {
    const cyclic: Record<string, unknown> = { secret: SECRET };
    cyclic['self'] = cyclic;
    for (const metadata of [cyclic, { secret: SECRET, big: 1n }]) {
      const answer = await readFlawed((record) => ({ ...record, task: { ...record.task, metadata } }));
      expect(answer).toMatchObject({
        status: 200,
        body: { id: 1, error: { code: -32603, message: 'Internal error' } },
      });
      expect(answer.body.error).not.toHaveProperty('data');
    }
  });

  it.each([
    ['an unknown state', { status: { state: 'TASK_STATE_BROKEN' } }],
    ['no state', { status: {} }],
    ['no id', { id: '' }],
    ['a part of no kind', { artifacts: [{ artifactId: 'a', parts: [{}] }] }],
    ['a part of two kinds', { artifacts: [{ artifactId: 'a', parts: [{ text: 'x', url: 'y' }] }] }],
  ])('such as %s is never sent (ERR-06)', async (_flaw, changed) => {
    const answer = await readFlawed((record) => ({ ...record, task: { ...record.task, ...changed } }));
    expectError(answer, { code: -32006 });
    expect(answer.body).not.toHaveProperty('result');
  });
});
