import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ForbiddenException,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common';
import {
  MemoryTaskStore,
  OwnerGuard,
  PermissionDeniedError,
  PrincipalService,
  ScopeGuard,
  TaskStore,
  TenantGuard,
  UnauthenticatedError,
  type A2AModuleExtras,
  type A2AOptions,
  type PrincipalAnswer,
  type TaskKey,
  type TaskPage,
  type TaskQuery,
  type TaskRecord,
  type TaskSettle,
  type TaskWritten,
} from 'nestjs-a2a';
import { A2A_METHODS } from '#protocol';
import { ADAPTERS, startAgent, type Adapter, type Agent } from '../support/agent.js';
import { Caller, newcomer, type Answer, type Identity, type WireTask } from '../support/caller.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { OwnerOnlyStore } from '../support/owner-only-store.js';
import { rpc, userMessage } from '../support/rpc.js';

const SECRET = 'SECRET-STACK-db://user:pw@host';
const STORES: readonly (readonly [name: string, create: () => TaskStore, countsForeign?: true])[] = [
  ['the store in memory', () => new MemoryTaskStore()],
  ['a store that knows nothing of tiers', () => new OwnerOnlyStore()],
  ['a store that wrongly says that it filters tiers', () => new OwnerOnlyStore(true), true],
];

/** What an attempt is aimed at. */
type Target = Pick<WireTask, 'id' | 'contextId'>;

/** Every way to name a task in a call: all eleven operations, and the places in which a message names tasks. */
const ATTEMPTS: readonly (readonly [what: string, method: string, params: (target: Target) => object])[] = [
  ['SendMessage', 'SendMessage', ({ id }) => ({ message: userMessage('echo', { messageId: 'm', taskId: id }) })],
  [
    'a reference',
    'SendMessage',
    ({ id }) => ({ message: userMessage('echo', { messageId: 'm', referenceTaskIds: [id] }) }),
  ],
  ['SendStreamingMessage', 'SendStreamingMessage', ({ id }) => ({ message: userMessage('echo', { taskId: id }) })],
  ['GetTask', 'GetTask', ({ id }) => ({ id })],
  ['GetTask with history', 'GetTask', ({ id }) => ({ id, historyLength: 0 })],
  ['ListTasks', 'ListTasks', ({ contextId }) => ({ contextId })],
  ['CancelTask', 'CancelTask', ({ id }) => ({ id })],
  ['SubscribeToTask', 'SubscribeToTask', ({ id }) => ({ id })],
  [
    'CreateTaskPushNotificationConfig',
    'CreateTaskPushNotificationConfig',
    ({ id }) => ({ taskId: id, id: 'c', url: 'https://hooks.example.com/a2a' }),
  ],
  ['GetTaskPushNotificationConfig', 'GetTaskPushNotificationConfig', ({ id }) => ({ taskId: id, id: 'c' })],
  ['ListTaskPushNotificationConfigs', 'ListTaskPushNotificationConfigs', ({ id }) => ({ taskId: id })],
  ['DeleteTaskPushNotificationConfig', 'DeleteTaskPushNotificationConfig', ({ id }) => ({ taskId: id, id: 'c' })],
  ['GetExtendedAgentCard', 'GetExtendedAgentCard', ({ id }) => ({ tenant: id })],
];

/** Those of them that look a task up in the store in a way of their own. */
const WITH_STORE = ['SendMessage', 'GetTask', 'ListTasks', 'CancelTask'];

/** Who may not see a task that was made by `maker`. */
const STRANGERS: readonly (readonly [
  what: string,
  maker: Identity,
  stranger: Identity & { readonly isOther?: true },
])[] = [
  ['another user', {}, { isOther: true }],
  [
    'another user of the same tenant and scopes',
    { tenant: 't', scopes: 'a' },
    { isOther: true, tenant: 't', scopes: 'a' },
  ],
  ['the same user in a tenant', {}, { tenant: 't' }],
  ['the same user in no tenant', { tenant: 't' }, {}],
  ['the same user in another tenant', { tenant: 't' }, { tenant: 'u' }],
  ['the same user, narrowed', {}, { scopes: 'a' }],
  ['the same user, narrowed to nothing', {}, { scopes: '' }],
  ['the same user, narrowed to fewer scopes', { scopes: 'a b' }, { scopes: 'a' }],
  ['the same user, narrowed to more scopes', { scopes: 'a' }, { scopes: 'a b' }],
  ['the same user, narrowed to some scope', { scopes: '' }, { scopes: 'a' }],
  ['the same user in a tenant, narrowed otherwise', { tenant: 't', scopes: 'a' }, { tenant: 't', scopes: 'b' }],
];

describe.each(STORES)('With %s, a task', (name, createStore, countsForeign) => {
  // Whether the other operations reach a task does not depend on the store.
  const attempts = name === STORES[0]![0] ? ATTEMPTS : ATTEMPTS.filter(([what]) => WITH_STORE.includes(what));
  let agent: Agent;
  let skills: FixtureSkills;

  beforeAll(async () => {
    agent = await startAgent({ skills: [FixtureSkills], options: { store: createStore() } });
    skills = agent.app.get(FixtureSkills);
  });
  afterAll(async () => {
    skills.gate.open();
    await agent.close();
  });

  /** What a stranger sees of an answer, with the ids that it asked for made the same. */
  function seen({ status, headers, text }: Answer, { id, contextId }: Target): object {
    const names = [...headers.keys()].sort();
    const normalised = text.replaceAll(id, 'ID').replaceAll(contextId, 'CONTEXT');
    // The total of a store that says that it filters is taken as given.
    const known = countsForeign ? normalised.replace(/"totalSize":\d+/u, '"totalSize":0') : normalised;
    return { status, text: known, names, length: headers.get('content-length') };
  }

  /** One task of each kind: live, parked and finished. */
  async function tasksOf(maker: Caller): Promise<WireTask[]> {
    const live = [await maker.start('hold'), await maker.start('wait')];
    await skills.gate.whenWaiting(2);
    const parked = [await maker.task('input'), await maker.task('auth')];
    const finished = [await maker.task('echo'), await maker.task('fail'), await maker.task('reject')];
    const canceled = (await maker.cancel((await maker.task('input')).id)).result;
    return Promise.all([...live, ...parked, ...finished, canceled].map(({ id }) => maker.get(id)));
  }

  it.each(STRANGERS)(
    'is not there for %s: every operation answers as for an unknown id (ISO-03…06, ISO-10, GET-02, ERR-07, S-01, S-14)',
    async (_what, identity, { isOther, ...strangerIdentity }) => {
      const maker = newcomer(agent.url, identity);
      const stranger = isOther
        ? newcomer(agent.url, strangerIdentity)
        : maker.with({ tenant: '', ...strangerIdentity });
      const tasks = await tasksOf(maker);
      const before = skills.calls.length;
      await Promise.all(
        attempts.map(async ([what, method, params]) => {
          const attempt = async (target: Target): Promise<object> => ({
            what,
            ...seen(await stranger.invoke(method, params(target)), target),
          });
          const expected = await attempt({ id: randomUUID(), contextId: randomUUID() });
          for (const task of tasks) expect(await attempt(task)).toEqual(expected);
        }),
      );
      // Nothing has happened to the tasks, nothing has run, and the stranger's list is empty.
      expect(await Promise.all(tasks.map(({ id }) => maker.get(id)))).toEqual(tasks);
      expect(skills.calls).toHaveLength(before);
      expect(await stranger.list()).toMatchObject({ tasks: [], nextPageToken: '' });
      skills.gate.letGo();
    },
  );

  it('is there for the same scopes, in any order and however often (ISO-04a)', async () => {
    const maker = newcomer(agent.url, { scopes: 'write read' });
    const { id } = await maker.task('input');
    for (const scopes of ['read write', 'write read', 'read write read write write']) {
      const again = maker.with({ scopes });
      expect((await again.get(id)).id).toBe(id);
      expect((await again.list()).tasks.map((task) => task.id)).toEqual([id]);
      expect((await again.follow(id, 'input')).result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    }
  });

  it('is there for the session of its owner, whatever its scopes (ISO-04b)', async () => {
    const session = newcomer(agent.url);
    const made = [await session.task('input')];
    for (const scopes of ['', 'read', 'read write']) made.push(await session.with({ scopes }).task('input'));
    const ids = made.map(({ id }) => id).sort();
    expect((await session.list()).tasks.map(({ id }) => id).sort()).toEqual(ids);
    expect((await session.list()).totalSize).toBe(4);
    for (const id of ids) expect((await session.follow(id, 'echo')).result.task.id).toBe(id);
  });

  it('of a session is not there for the most restricted tier, nor the other way round a tenant (ISO-04c, ISO-06b)', async () => {
    const session = newcomer(agent.url);
    const none = session.with({ scopes: '' });
    const mine = await none.task('echo');
    await session.task('echo');
    await session.with({ scopes: 'read' }).task('echo');
    expect((await none.list()).tasks.map(({ id }) => id)).toEqual([mine.id]);
    expect((await session.with({ tenant: 't' }).list()).tasks).toEqual([]);
  });

  it('keeps owner, tenant and scopes, whoever resumes or cancels it (ISO-07)', async () => {
    const maker = newcomer(agent.url, { tenant: 't', scopes: 'read' });
    const session = maker.with({ tenant: 't' });
    const store = agent.app.get(TaskStore);
    const tierOf = async (id: string) => {
      const { owner, tenant, scope } = await store.read({ id, owner: maker.user });
      return { owner, tenant, scope };
    };
    const resumed = await maker.task('input');
    const canceled = await maker.task('input');
    const tier = { owner: maker.user, tenant: 't', scope: '["read"]' };
    expect(await tierOf(resumed.id)).toEqual(tier);
    await session.follow(resumed.id, 'echo');
    await session.cancel(canceled.id);
    expect(await tierOf(resumed.id)).toEqual(tier);
    expect(await tierOf(canceled.id)).toEqual(tier);
    expect((await maker.get(resumed.id)).status.state).toBe('TASK_STATE_COMPLETED');
    // The skill is told who called, not who made the task.
    expect(skills.callsOf(resumed.id).map(({ scopes }) => scopes)).toEqual([['read'], null]);
    expect(skills.callsOf(resumed.id).map(({ tenant, owner }) => [tenant, owner])).toEqual([
      ['t', maker.user],
      ['t', maker.user],
    ]);
  });

  it('is made and found in the tenant of the caller, whatever tenant the call names (ISO-09, S-12)', async () => {
    const alice = newcomer(agent.url, { tenant: 'mine' });
    const bob = newcomer(agent.url, { tenant: 'other' });
    const { id } = await bob.task('echo');
    expect((await alice.invoke('GetTask', { id, tenant: 'other' })).error.code).toBe(-32001);
    expect((await alice.invoke('ListTasks', { tenant: 'other' })).result.tasks).toEqual([]);
    const own = (await alice.invoke('SendMessage', { tenant: 'other', message: userMessage('echo') })).result.task;
    expect((await alice.get(own.id)).id).toBe(own.id);
    expect((await alice.with({ tenant: 'other' }).invoke('GetTask', { id: own.id })).error.code).toBe(-32001);
  });

  it('is not found by its context: another caller may use the name for tasks of its own (ISO-03, S-14)', async () => {
    const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
    const message = { contextId: `context-${alice.user}` };
    const [foreign, own] = [await alice.task('echo', { message }), await bob.task('echo', { message })];
    expect((await bob.list(message)).tasks.map(({ id }) => id)).toEqual([own.id]);
    expect((await alice.list(message)).tasks.map(({ id }) => id)).toEqual([foreign.id]);
  });

  it('is not found by what metadata or the message say of the caller (S-12)', async () => {
    const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
    const parked = await alice.task('input');
    const forged = {
      owner: alice.user,
      userId: alice.user,
      user: alice.user,
      tenant: '',
      scopes: null,
      a2a: { owner: alice.user },
    };
    const message = userMessage('echo', { taskId: parked.id, metadata: forged });
    expect((await bob.invoke('SendMessage', { message, metadata: forged })).error.code).toBe(-32001);
    expect((await bob.invoke('CancelTask', { id: parked.id, metadata: forged })).error.code).toBe(-32001);
    expect(await alice.get(parked.id)).toEqual(parked);
  });
});

describe('A store that wrongly says that it filters tiers', () => {
  it('has foreign tasks dropped from its pages; its total is taken as given (ISO-10b)', async () => {
    const agent = await startAgent({ skills: [FixtureSkills], options: { store: new OwnerOnlyStore(true) } });
    try {
      const session = newcomer(agent.url);
      const narrowed = session.with({ scopes: 'read' });
      await session.task('echo');
      const { id } = await narrowed.task('echo');
      await session.task('echo');
      const page = await narrowed.list();
      expect(page.tasks.map((task) => task.id)).toEqual([id]);
      expect(page.totalSize).toBe(3);
    } finally {
      await agent.close();
    }
  });
});

describe.each(ADAPTERS)('A call without an owner, on %s,', (adapter) => {
  let agent: Agent;
  let answer: () => PrincipalAnswer | null | undefined = () => undefined;

  beforeAll(async () => {
    const options = { principal: () => answer(), challenge: 'Bearer realm="a2a"' };
    agent = await startAgent({ adapter, skills: [FixtureSkills], options });
  });
  afterAll(() => agent.close());

  it.each([...A2A_METHODS, 'NoSuchMethod'])(
    'is refused with 401, id and challenge: %s (ISO-01a, ISO-01c, ISO-02)',
    async (method) => {
      answer = () => undefined;
      const { status, headers, text, body } = await rpc(agent.url, method, {}, { id: 'id-7' });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="a2a"');
      expect(text).toMatch(/^\{"jsonrpc":"2\.0","id":"id-7","error":\{"code":-31401,/u);
      expect(body).not.toHaveProperty('result');
    },
  );

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty answer', {}],
    ['no owner', { owner: undefined, tenant: 't' }],
    ['a null owner', { owner: null }],
    ['an empty owner', { owner: '' }],
    ['an owner that is a number', { owner: 7 as never }],
    ['an owner that is an object', { owner: {} as never }],
    ['an owner of 257 characters', { owner: 'x'.repeat(257) }],
    ['an owner with a NUL', { owner: 'a\0b' }],
    ['an owner with a line feed', { owner: 'a\nb' }],
    ['an owner with half a character', { owner: 'a\ud800' }],
    ['a tenant of 257 characters', { owner: 'a', tenant: 'x'.repeat(257) }],
    ['a tenant with a NUL', { owner: 'a', tenant: 'a\0' }],
    ['a tenant that is a number', { owner: 'a', tenant: 7 as never }],
    ['scopes that are a string', { owner: 'a', scopes: 'read' as never }],
    ['scopes that are numbers', { owner: 'a', scopes: [1] as never }],
  ])('is what it is when the resolver gives %s (ISO-01b, ISO-13, R-31, B-81)', async (_what, given) => {
    answer = () => given;
    const { status, body } = await rpc(agent.url, 'SendMessage', { message: userMessage('echo') }, { id: 42 });
    expect(status).toBe(401);
    expect(body).toMatchObject({ id: 42, error: { code: -31401 } });
  });

  it('creates and finds nothing, not even what another such call might have made (B-81, ISO-01c)', async () => {
    answer = () => ({ owner: null });
    await rpc(agent.url, 'SendMessage', { message: userMessage('echo') });
    expect((await rpc(agent.url, 'ListTasks', {})).status).toBe(401);
    answer = () => ({ owner: 'null' });
    expect((await new Caller(agent.url).list()).totalSize).toBe(0);
    answer = () => ({ owner: 'undefined' });
    expect((await new Caller(agent.url).list()).totalSize).toBe(0);
  });

  it.each([
    ['Unauthorized of Nest', new UnauthorizedException(SECRET), 401, -31401],
    ['Unauthenticated', new UnauthenticatedError(), 401, -31401],
    ['Forbidden of Nest', new ForbiddenException(SECRET), 403, -31403],
    ['PermissionDenied', new PermissionDeniedError(), 403, -31403],
    ['an ordinary error', new Error(SECRET), 200, -32603],
    ['a TypeError', new TypeError(SECRET), 200, -32603],
    ['something that is no error', SECRET, 200, -32603],
  ])('tells what the resolver threw, without detail: %s (ISO-15, S-06)', async (_what, thrown, status, code) => {
    answer = () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a resolver may throw anything
      throw thrown;
    };
    const refused = await rpc(agent.url, 'ListTasks', {}, { id: 42 });
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ id: 42, error: { code } });
    expect(refused.text).not.toContain(SECRET);
  });
});

describe('A call without an owner, to an agent that challenges nobody,', () => {
  it('is refused without a challenge (ISO-02)', async () => {
    const agent = await startAgent({ skills: [FixtureSkills] });
    try {
      const { status, headers } = await rpc(agent.url, 'ListTasks', {}, { user: null });
      expect([status, headers.get('www-authenticate')]).toEqual([401, null]);
    } finally {
      await agent.close();
    }
  });
});

describe('Owners, tenants and scopes', () => {
  let agent: Agent;
  beforeAll(async () => {
    const principal = ({ headers }: { headers: Record<string, string> }): PrincipalAnswer =>
      JSON.parse(decodeURIComponent(headers['x-principal'] ?? '')) as PrincipalAnswer;
    agent = await startAgent({ skills: [FixtureSkills], options: { principal } });
  });
  afterAll(() => agent.close());

  const as = (principal: PrincipalAnswer) =>
    new Caller(agent.url, { headers: { 'x-principal': encodeURIComponent(JSON.stringify(principal)) } });

  it('that look alike when written in a row are told apart (ISO-13)', async () => {
    const principals: PrincipalAnswer[] = [
      { owner: 'a' },
      { owner: 'a', tenant: 'b' },
      { owner: 'a:b' },
      { owner: 'a","b' },
      { owner: '["a"]' },
      { owner: 'a', scopes: [] },
      { owner: 'a', scopes: [''] },
      { owner: 'a', scopes: ['r', 's'] },
      { owner: 'a', scopes: ['r,s'] },
      { owner: 'a', scopes: ['r","s'] },
      { owner: 'a', scopes: ['["r","s"]'] },
      { owner: 'a', scopes: ['*'] },
      { owner: 'a', tenant: '*' },
      { owner: 'A' },
      { owner: 'a ' },
      { owner: 'ä' },
      { owner: 'a\u0308' },
      { owner: '__proto__' },
      { owner: 'constructor' },
      { owner: '*' },
    ];
    const ids: string[] = [];
    for (const principal of principals) ids.push((await as(principal).task('echo')).id);
    for (const [index, principal] of principals.entries()) {
      const { tasks, totalSize } = await as(principal).list();
      // A session sees the tasks of its narrowed credentials too.
      const isSession = principal.scopes === undefined;
      const own = ids.filter((_, other) => {
        const { owner, tenant } = principals[other]!;
        return other === index || (isSession && owner === principal.owner && tenant === principal.tenant);
      });
      expect([principal, tasks.map(({ id }) => id).sort()]).toEqual([principal, own.sort()]);
      expect(totalSize).toBe(own.length);
    }
  });

  it('are none, when the resolver leaves tenant and scopes out (ISO-04, ISO-06c)', async () => {
    const { id } = await as({ owner: 'plain' }).task('echo');
    for (const same of [{ tenant: null }, { tenant: '' }, { scopes: null }, { tenant: undefined, scopes: undefined }]) {
      expect((await as({ owner: 'plain', ...same }).get(id)).id).toBe(id);
    }
  });
});

describe('The tenant of the card', () => {
  it('is the only one that a call may name, and is no tenant of its tasks (ISO-09)', async () => {
    const card = { name: 'Agent', description: 'An agent.', tenant: 'acme' };
    const agent = await startAgent({ skills: [FixtureSkills], options: { card } });
    try {
      const alice = newcomer(agent.url);
      expect((await alice.invoke('ListTasks', { tenant: 'other' })).error.code).toBe(-32602);
      const { result } = await alice.invoke('SendMessage', { tenant: 'acme', message: userMessage('echo') });
      const { id } = result.task;
      expect((await alice.invoke('GetTask', { tenant: 'acme', id })).result.id).toBe(id);
      const inTenant = alice.with({ tenant: 'acme' });
      expect((await inTenant.invoke('GetTask', { tenant: 'acme', id })).error.code).toBe(-32001);
    } finally {
      await agent.close();
    }
  });
});

/** A store that notes in whose name, and in what async context, it is asked. */
class NotingStore extends MemoryTaskStore {
  readonly notes: { readonly operation: string; readonly owner: string; readonly caller: string | undefined }[] = [];

  constructor(private readonly callers: AsyncLocalStorage<string>) {
    super();
  }

  override read(key: TaskKey): Promise<TaskRecord> {
    this.note('read', key.owner);
    return super.read(key);
  }

  override list(query: TaskQuery): Promise<TaskPage> {
    this.note('list', query.tier.owner);
    return super.list(query);
  }

  override settle(settle: TaskSettle): Promise<TaskWritten | null> {
    this.note('settle', settle.key.owner);
    return super.settle(settle);
  }

  private note(operation: string, owner: string): void {
    this.notes.push({ operation, owner, caller: this.callers.getStore() });
  }
}

describe.each(ADAPTERS)('A store of the host, on %s,', (adapter) => {
  const callers = new AsyncLocalStorage<string>();
  const store = new NotingStore(callers);
  let agent: Agent;

  beforeAll(async () => {
    const configure = (app: INestApplication): void => {
      rememberCallers(app, adapter, callers);
    };
    agent = await startAgent({ adapter, skills: [FixtureSkills], options: { store }, configure });
  });
  afterAll(() => agent.close());

  it('is asked in the name of the caller alone, and in the context of its request (ISO-03, ISO-12, CAN-06)', async () => {
    const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
    await Promise.all(
      [alice, bob].map(async (caller) => {
        const { id } = await caller.task('input');
        const message = { referenceTaskIds: [id] };
        await Promise.all([caller.get(id), caller.list(), caller.task('echo', { message })]);
        await caller.follow(id, 'input');
        await caller.cancel(id);
      }),
    );
    expect(new Set(store.notes.map(({ operation }) => operation))).toEqual(new Set(['read', 'list', 'settle']));
    expect(new Set(store.notes.map(({ owner }) => owner))).toEqual(new Set([alice.user, bob.user]));
    for (const { operation, owner, caller } of store.notes) expect([operation, caller]).toEqual([operation, owner]);
  });
});

/** Does what a host's middleware does that keeps the request's user in an async context. */
function rememberCallers(app: INestApplication, adapter: Adapter, callers: AsyncLocalStorage<string>): void {
  interface Request {
    readonly headers: Record<string, string>;
  }
  const remember = ({ headers }: Request, next: () => void): void => {
    callers.run(headers['x-user'] ?? '', next);
  };
  if (adapter === 'express') {
    app.use((request: Request, _response: unknown, next: () => void) => {
      remember(request, next);
    });
    return;
  }
  interface Fastify {
    addHook: (name: 'onRequest', hook: (request: Request, reply: unknown, done: () => void) => void) => void;
  }
  const fastify = app.getHttpAdapter().getInstance() as Fastify;
  fastify.addHook('onRequest', (request, _reply, done) => {
    remember(request, done);
  });
}

/** A guard of the host that takes the tenant from a header of its own. */
@Injectable()
class OrganisationGuard implements CanActivate {
  constructor(private readonly principals: PrincipalService) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    this.principals.note(request, { tenant: request.headers['x-organisation'] ?? '' });
    return true;
  }
}

describe('The guards that note owner, tenant and scopes', () => {
  async function withGuards<T>(
    principalGuards: NonNullable<A2AModuleExtras['principalGuards']>,
    use: (agent: Agent) => Promise<T>,
  ): Promise<T> {
    const agent = await startAgent({ skills: [FixtureSkills], options: { principalGuards } });
    try {
      return await use(agent);
    } finally {
      await agent.close();
    }
  }

  it('can be replaced one by one (ISO-14)', async () => {
    await withGuards([OwnerGuard, OrganisationGuard, ScopeGuard], async ({ url }) => {
      const inOrganisation = (name: string) =>
        new Caller(url, { headers: { 'x-organisation': name, 'x-tenant': 'same' } });
      const { id } = await inOrganisation('red').task('echo');
      expect((await inOrganisation('red').get(id)).id).toBe(id);
      expect((await inOrganisation('blue').invoke('GetTask', { id })).error.code).toBe(-32001);
    });
  });

  it('can be put in another order (ISO-14)', async () => {
    await withGuards([ScopeGuard, TenantGuard, OwnerGuard], async ({ url }) => {
      const alice = newcomer(url, { tenant: 't', scopes: 'read' });
      const { id } = await alice.task('echo');
      expect((await alice.get(id)).id).toBe(id);
      expect((await alice.with({ tenant: 'u', scopes: 'read' }).invoke('GetTask', { id })).error.code).toBe(-32001);
      expect((await rpc(url, 'GetTask', { id }, { user: null })).status).toBe(401);
    });
  });

  it('leave nobody in without an owner, even when that of the owner is left out (ISO-14, ISO-01)', async () => {
    await withGuards([TenantGuard, ScopeGuard], async ({ url }) => {
      const { status, body } = await rpc(url, 'ListTasks', {}, { id: 42 });
      expect(status).toBe(401);
      expect(body).toMatchObject({ id: 42, error: { code: -31401 } });
    });
  });

  it('put the caller into the most restricted tier when that of the scopes is left out (ISO-14, ISO-04c)', async () => {
    await withGuards([OwnerGuard, TenantGuard], async ({ url, app }) => {
      const alice = newcomer(url);
      const { id } = await alice.task('echo');
      expect(await app.get(TaskStore).read({ id, owner: alice.user })).toMatchObject({ scope: '[]' });
    });
  });
});

it('Options of the principal are needed: there is no anonymous agent (ISO-01c)', async () => {
  const options = { principal: undefined } as unknown as Partial<A2AOptions>;
  await expect(startAgent({ skills: [FixtureSkills], options })).rejects.toThrow(/`principal` is missing/u);
});
