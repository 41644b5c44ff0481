import { ForbiddenException, HttpException, UnauthorizedException, type CanActivate } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  A2AError,
  InternalError,
  MemoryTaskStore,
  PermissionDeniedError,
  TaskNotFoundError,
  TaskRecordConflictError,
  TaskRecordNotFoundError,
  TaskState,
  UnauthenticatedError,
  type TaskKey,
  type TaskRecord,
} from 'nestjs-a2a';
import { A2A_METHODS, A2AErrorCode, ERROR_TABLE } from 'nestjs-a2a/protocol';
import { ADAPTERS, headerPrincipal, startAgent, type Agent } from '../support/agent.js';
import { postBytes } from '../support/http-client.js';
import { expectError, headerOf } from '../support/rpc-matchers.js';
import { rpc, send, userMessage } from '../support/rpc.js';
import { SECRET, WireSkills } from '../support/wire-skills.js';

const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const STRUCT = 'type.googleapis.com/google.protobuf.Struct';

/** A hook of the host's that does what the test wants next. */
class Hook {
  next: () => unknown = () => undefined;

  reset(): void {
    this.next = () => undefined;
  }

  throws(error: unknown): void {
    this.next = () => {
      throw error;
    };
  }
}

/** A store whose reads the test may break. */
class HookedStore extends MemoryTaskStore {
  readonly hook = new Hook();

  override async read(key: TaskKey): Promise<TaskRecord> {
    this.hook.next();
    return super.read(key);
  }
}

describe.each(ADAPTERS)('errors on %s', (adapter) => {
  let agent: Agent;
  let challenged: Agent;
  const store = new HookedStore(200);
  const guard = new Hook();
  const resolver = new Hook();
  const refusing: CanActivate = { canActivate: () => (guard.next() as boolean | undefined) ?? true };
  const principal = (request: Parameters<typeof headerPrincipal>[0]) =>
    (resolver.next() as ReturnType<typeof headerPrincipal> | undefined) ?? headerPrincipal(request);

  beforeAll(async () => {
    agent = await startAgent({
      adapter,
      skills: [WireSkills],
      options: { store, guards: [refusing], principal, push: false },
    });
    challenged = await startAgent({
      adapter,
      skills: [WireSkills],
      options: { guards: [refusing], principal, challenge: 'Bearer realm="agents"' },
    });
  });
  afterAll(async () => {
    await agent.close();
    await challenged.close();
  });
  beforeEach(() => {
    for (const hook of [store.hook, guard, resolver]) hook.reset();
  });

  const list = (id: unknown = 'q') => rpc(agent.url, 'ListTasks', {}, { id });
  const get = () => rpc(agent.url, 'GetTask', { id: 'x' }, { id: 'q' });
  const skill = (name: string) => send(agent.url, 'hi', { message: { metadata: { skill: name } } });

  it('have the codes of the protocol and of this package (ERR-01)', () => {
    expect(Object.values(A2AErrorCode).sort((a, b) => a - b)).toEqual([
      -32700, -32603, -32602, -32601, -32600, -32009, -32008, -32007, -32006, -32005, -32004, -32003, -32002, -32001,
      -31403, -31401,
    ]);
  });

  it('come with the code, the standard message and the details of their kind (ERR-01, ERR-04a, ERR-04b, CONF-07)', async () => {
    const { task } = (await skill('nothing')).body.result;
    const url = agent.url;
    const cases = [
      [await postBytes(url, '{'), -32700, null],
      [await rpc(url, 'Unknown'), -32601, null],
      [await rpc(url, 'GetTask', { id: 'x' }), -32001, { taskId: 'x' }],
      [await rpc(url, 'CancelTask', { id: task.id }), -32002, { taskId: task.id, state: TaskState.Completed }],
      [await rpc(url, 'ListTaskPushNotificationConfigs', { taskId: 'x' }), -32003, undefined],
      [await rpc(url, 'ListTasks', {}, { user: null }), -31401, undefined],
    ] as const;
    for (const [answer, code, metadata] of cases) {
      const { message, reason } = ERROR_TABLE[code];
      const info = { '@type': INFO, reason, domain: 'a2a-protocol.org', ...(metadata && { metadata }) };
      expect(answer.body.error).toEqual({ code, message, ...(metadata !== null && { data: [info] }) });
    }
  });

  it('of a bad request name the fields that are bad (ERR-04a, ERR-04c)', async () => {
    const { body } = await rpc(agent.url, 'GetTask', { historyLength: 'all' });
    expect(body.error).toEqual({
      code: -32602,
      message: 'Invalid parameters',
      data: [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: expect.arrayContaining([
            { field: 'id', description: expect.any(String) },
            { field: 'historyLength', description: expect.any(String) },
          ]),
        },
      ],
    });
  });

  it('of a task that was cancelled already say so (R-11, CAN-01b)', async () => {
    const { id } = (await skill('ask')).body.result.task;
    await rpc(agent.url, 'CancelTask', { id });
    expectError(await rpc(agent.url, 'CancelTask', { id }), { code: -32002 });
  });

  describe('of the store', () => {
    it('reach the caller as they are when they are A2A errors (ERR-02a)', async () => {
      store.hook.throws(new A2AError({ code: -32050, message: 'The archive is closed.', reason: 'ARCHIVE_CLOSED' }));
      expect(await get()).toMatchObject({
        status: 200,
        body: { id: 'q', error: { code: -32050, message: 'The archive is closed.' } },
      });
    });

    it('are told by the class that a copy of this package has as well (B-09)', async () => {
      store.hook.throws(new TaskNotFoundError('Elsewhere.'));
      expectError(await get(), { id: 'q', code: -32001 });
      const copy = Object.create(new Error('Copied.'), {
        code: { value: -32001 },
        message: { value: 'Copied.' },
        [Symbol.for('nestjs-a2a.error')]: { value: true },
      }) as Error;
      store.hook.throws(copy);
      expect((await get()).body.error).toEqual({ code: -32001, message: 'Copied.' });
    });

    it('that find nothing are -32001, by class or by code (ERR-03)', async () => {
      for (const error of [
        new TaskRecordNotFoundError(),
        Object.assign(new Error(SECRET), { code: 'TASK_RECORD_NOT_FOUND' }),
        new Error(SECRET, { cause: new TaskRecordNotFoundError() }),
      ]) {
        store.hook.throws(error);
        const answer = await get();
        expectError(answer, { id: 'q', code: -32001 });
        expect(answer.text).not.toContain('SECRET');
      }
    });

    it.each([
      ['an error', new Error(SECRET)],
      ['an error with causes', new Error(SECRET, { cause: new Error(SECRET) })],
      ['a string', SECRET],
      ['nothing', undefined],
      ['null', null],
      ['an object', { code: -32001, message: SECRET }],
      ['a conflict that no read has', new TaskRecordConflictError(SECRET)],
      [
        'an error that refuses to be read',
        new Proxy(
          {},
          {
            get: () => {
              throw new Error(SECRET);
            },
            has: () => {
              throw new Error(SECRET);
            },
          },
        ),
      ],
    ])('are internal ones when they are %s, and tell nothing (ERR-02a, B-10, S-06)', async (_kind, error) => {
      store.hook.throws(error);
      const answer = await get();
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ jsonrpc: '2.0', id: 'q', error: { code: -32603, message: 'Internal error' } });
    });
  });

  describe('with data', () => {
    const details = [{ '@type': 'type.example.com/Detail', a: 1 }];
    it.each([
      ['that is in form', details, details],
      ['that is an object', { a: 1 }, [{ '@type': STRUCT, value: { a: 1 } }]],
      ['that is a string', 'why', [{ '@type': STRUCT, value: 'why' }]],
      ['that is a list of no details', [{ a: 1 }], [{ '@type': STRUCT, value: [{ a: 1 }] }]],
      ['that is null', null, [{ '@type': STRUCT, value: null }]],
    ])('%s have it as a list of details (ERR-04a, ERR-05)', async (_form, data, expected) => {
      store.hook.throws(new A2AError({ code: -32051, message: 'No.', data }));
      expect((await get()).body.error).toEqual({ code: -32051, message: 'No.', data: expected });
    });

    it('that no JSON can hold are sent without it (ERR-05)', async () => {
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      for (const data of [cyclic, 1n, () => SECRET]) {
        store.hook.throws(new A2AError({ code: -32051, message: 'No.', data }));
        expect((await get()).body.error).toEqual({ code: -32051, message: 'No.' });
      }
    });
  });

  it('say the same of a task that is not there and of one of someone else (ERR-07, S-14, GET-02)', async () => {
    const { id } = (await skill('ask')).body.result.task;
    for (const method of ['GetTask', 'CancelTask']) {
      const foreign = await rpc(agent.url, method, { id }, { user: 'mallory' });
      const unknown = await rpc(agent.url, method, { id: 'no-such-task' }, { user: 'mallory' });
      expect(foreign.body.error.code).toBe(-32001);
      expect(foreign.text.replaceAll(id, 'no-such-task')).toBe(unknown.text);
    }
    const resumed = await send(agent.url, 'hi', { message: { taskId: id }, call: { user: 'mallory' } });
    const guessed = await send(agent.url, 'hi', { message: { taskId: 'no-such-task' }, call: { user: 'mallory' } });
    expect(resumed.text.replaceAll(id, 'no-such-task')).toBe(guessed.text);
  });

  describe('of the host’s guards', () => {
    it.each([
      ['an UnauthorizedException', new UnauthorizedException(SECRET), 401, -31401],
      ['a ForbiddenException', new ForbiddenException(SECRET), 403, -31403],
      ['an HttpException of 401', new HttpException(SECRET, 401), 401, -31401],
      ['an HttpException of 429', new HttpException(SECRET, 429), 429, -32600],
      ['an HttpException of 404', new HttpException(SECRET, 404), 200, -32603],
      ['an HttpException of 418', new HttpException({ secret: SECRET }, 418), 200, -32603],
      ['an HttpException of 503', new HttpException(SECRET, 503), 200, -32603],
      ['an error', new Error(SECRET), 200, -32603],
      ['an UnauthenticatedError', new UnauthenticatedError(), 401, -31401],
      ['a PermissionDeniedError', new PermissionDeniedError(), 403, -31403],
      ['an A2AError', new A2AError({ code: -32052, message: 'Closed.' }), 200, -32052],
      ['an A2A error as its cause', new Error(SECRET, { cause: new InternalError() }), 200, -32603],
    ])(
      'that throw %s keep its meaning and not its words (ERR-08, PKG-08b, S-06)',
      async (_kind, error, status, code) => {
        guard.throws(error);
        const answer = await list();
        expectError(answer, { status, id: 'q', code });
        expect(answer.text).not.toContain('SECRET');
      },
    );

    it('that say no are 403 with the id, for each of the eleven methods (PKG-08b, ERR-08, S-09, B-05)', async () => {
      guard.next = () => false;
      for (const method of A2A_METHODS) {
        const params = { id: 'x', message: userMessage('hi') };
        const answer = await rpc(agent.url, method, params, { id: 42 });
        expectError(answer, { status: 403, id: 42, code: -31403 });
      }
    });
  });

  describe('of the principal', () => {
    it.each([
      ['an UnauthorizedException', new UnauthorizedException(SECRET), 401, -31401],
      ['a ForbiddenException', new ForbiddenException(SECRET), 403, -31403],
      ['an UnauthenticatedError', new UnauthenticatedError(), 401, -31401],
      ['a PermissionDeniedError', new PermissionDeniedError(), 403, -31403],
      ['another A2AError', new A2AError({ code: -32053, message: 'Not now.' }), 200, -32053],
      ['an error', new Error(SECRET), 200, -32603],
      ['an HttpException of 500', new HttpException(SECRET, 500), 200, -32603],
      ['a string', SECRET, 200, -32603],
    ])(
      'that is %s keeps its meaning and not its words (ISO-15, FAULT-06, S-06)',
      async (_kind, error, status, code) => {
        for (const isAsync of [false, true]) {
          resolver.throws(error);
          const thrown = resolver.next;
          if (isAsync) resolver.next = async () => thrown();
          const answer = await list();
          expectError(answer, { status, id: 'q', code });
          expect(answer.text).not.toContain('SECRET');
          if (code === -32603) expect(answer.body.error).toEqual({ code, message: 'Internal error' });
        }
        resolver.reset();
        expect((await list()).status).toBe(200);
      },
    );

    it.each([
      ['nobody', {}],
      ['undefined', { owner: undefined }],
      ['null', { owner: null }],
      ['an empty string', { owner: '' }],
      ['a number', { owner: 7 }],
      ['an object', { owner: {} }],
      ['too long', { owner: 'x'.repeat(257) }],
      ['of two lines', { owner: 'a\nb' }],
      ['no Unicode', { owner: '\ud800' }],
      ['of a tenant of two lines', { owner: 'a', tenant: 'x\r\ny' }],
      ['of scopes that are no list', { owner: 'a', scopes: 'read' }],
      ['of scopes that are no strings', { owner: 'a', scopes: [1] }],
    ])(
      'that is %s is 401 with the id, for each of the eleven methods (ISO-01a, ISO-01b, ISO-01c, R-31, B-81)',
      async (_kind, answered) => {
        resolver.next = () => answered;
        const before = agent.service.statistics().executions;
        for (const method of [...A2A_METHODS, 'Unknown']) {
          const answer = await rpc(agent.url, method, { id: 'x', message: userMessage('hi') }, { id: 'q' });
          expectError(answer, { status: 401, id: 'q', code: -31401 });
        }
        expect(agent.service.statistics().executions).toBe(before);
      },
    );

    it('is asked for once per call, and takes null for nobody (ISO-01a)', async () => {
      let asked = 0;
      resolver.next = () => {
        asked += 1;
        return Promise.resolve({ owner: 'alice' });
      };
      expect((await list()).status).toBe(200);
      expect(asked).toBe(1);
      resolver.next = () => Promise.resolve(null);
      // The fallback of this spec's resolver is the header, so an absent answer has to come as a promise.
      expectError(await list(), { status: 401, id: 'q', code: -31401 });
    });
  });

  describe('of 401', () => {
    it('carry the challenge that the host has configured (ISO-02)', async () => {
      const byResolver = await rpc(challenged.url, 'ListTasks', {}, { user: null });
      expectError(byResolver, { status: 401, code: -31401 });
      guard.throws(new UnauthorizedException());
      const byGuard = await rpc(challenged.url, 'ListTasks');
      expectError(byGuard, { status: 401, code: -31401 });
      for (const answer of [byResolver, byGuard]) {
        expect(headerOf(answer, 'www-authenticate')).toBe('Bearer realm="agents"');
      }
    });

    it('carry no challenge when there is none, and nothing else carries one (ISO-02)', async () => {
      const plain = await rpc(agent.url, 'ListTasks', {}, { user: null });
      expect(plain.status).toBe(401);
      expect(headerOf(plain, 'www-authenticate')).toBeUndefined();
      guard.throws(new ForbiddenException());
      const forbidden = await rpc(challenged.url, 'ListTasks');
      expect(forbidden.status).toBe(403);
      expect(headerOf(forbidden, 'www-authenticate')).toBeUndefined();
    });
  });

  describe('of skills', () => {
    it.each(['throwfirst', 'throw'])(
      'that %s fail the task, and tell nothing (B-10, S-06, LIFE-03a, FAULT-05a)',
      async (name) => {
        const sent = await skill(name);
        const { task } = sent.body.result;
        expect(task.status).toMatchObject({
          state: TaskState.Failed,
          message: { parts: [{ text: 'skill handler failed' }] },
        });
        const got = await rpc(agent.url, 'GetTask', { id: task.id });
        const listed = await rpc(agent.url, 'ListTasks', { contextId: task.contextId, includeArtifacts: true });
        for (const { text } of [sent, got, listed]) expect(text).not.toMatch(/SECRET|pw@host|at .*\.ts/u);
      },
    );

    it('that nobody knows reject the task, and are not an unknown method (B-07, SEND-15)', async () => {
      const { status, body } = await skill('no-such-skill');
      expect(status).toBe(200);
      expect(body.result.task.status.state).toBe(TaskState.Rejected);
      expect(body.result.task.status.message.parts[0].text).toContain('no-such-skill');
    });
  });
});

describe.each(ADAPTERS)('the tenant of the interface on %s', (adapter) => {
  it('is asked of every call when the card names one, and grants nothing (ISO-09, CONF-27)', async () => {
    const options = { card: { name: 'Agent', description: 'An agent.', tenant: 't1' } };
    const agent = await startAgent({ adapter, skills: [WireSkills], options });
    try {
      for (const tenant of [undefined, '', 't2', 'T1']) {
        const answer = await rpc(agent.url, 'ListTasks', { tenant });
        expectError(answer, { code: -32602 });
        expect(answer.body.error.data[0].fieldViolations[0].field).toBe('tenant');
      }
      const call = { headers: { 'x-tenant': 'home' } };
      const message = userMessage('hi', { metadata: { skill: 'ask' } });
      const sent = await rpc(agent.url, 'SendMessage', { tenant: 't1', message }, call);
      const { id } = sent.body.result.task;
      expect((await rpc(agent.url, 'GetTask', { tenant: 't1', id }, call)).body.result.id).toBe(id);
      expectError(await rpc(agent.url, 'GetTask', { tenant: 't1', id }), { code: -32001 });
    } finally {
      await agent.close();
    }
  });

  it('never selects or widens the tenant of the caller (ISO-09, ISO-06)', async () => {
    const agent = await startAgent({ adapter, skills: [WireSkills] });
    try {
      const inTenant = { headers: { 'x-tenant': 'acme' } };
      const message = userMessage('hi', { metadata: { skill: 'ask' } });
      const { id } = (await rpc(agent.url, 'SendMessage', { tenant: 'other', message }, inTenant)).body.result.task;
      expect((await rpc(agent.url, 'GetTask', { tenant: 'other', id }, inTenant)).body.result.id).toBe(id);
      for (const call of [{}, { headers: { 'x-tenant': 'other' } }]) {
        expectError(await rpc(agent.url, 'GetTask', { tenant: 'acme', id }, call), { code: -32001 });
        expect((await rpc(agent.url, 'ListTasks', { tenant: 'acme' }, call)).body.result.totalSize).toBe(0);
        expectError(await rpc(agent.url, 'CancelTask', { tenant: 'acme', id }, call), { code: -32001 });
      }
    } finally {
      await agent.close();
    }
  });
});
