import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Catch,
  ForbiddenException,
  Inject,
  Injectable,
  Scope,
  SetMetadata,
  UnauthorizedException,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, REQUEST, Reflector } from '@nestjs/core';
import {
  A2A_CONTEXT_TYPE,
  A2AExecutionContext,
  currentA2ARequest,
  Skill,
  SkillCaller,
  SkillTask,
  SkillText,
  type A2AExecution,
  type Principal,
  type RequestSnapshot,
  type TaskContext,
} from 'nestjs-a2a';
import { map, Observable, tap, type Subscriber } from 'rxjs';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { newcomer, textOf, type Caller, type WireTask } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { rpc, userMessage } from '../support/rpc.js';

/** What passed, in order. */
@Injectable()
class Journal {
  lines: string[] = [];
}

const Roles = (...roles: string[]) => SetMetadata('roles', roles);

/** A guard as hosts write them: with dependencies, and metadata of method and class. */
@Injectable()
class RolesGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly journal: Journal,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.getAllAndMerge<string[]>('roles', [context.getHandler(), context.getClass()]);
    this.journal.lines.push(`roles ${roles.join(',')}`);
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    return roles.every((role) => (headers['x-roles'] ?? '').split(' ').includes(role));
  }
}

function guard(name: string, verdict: () => boolean | Promise<boolean> = () => true) {
  @Injectable()
  class NamedGuard implements CanActivate {
    constructor(readonly journal: Journal) {}

    canActivate(): boolean | Promise<boolean> {
      this.journal.lines.push(`guard ${name}`);
      return verdict();
    }
  }
  return NamedGuard;
}

function interceptor(name: string) {
  @Injectable()
  class NamedInterceptor implements NestInterceptor {
    constructor(readonly journal: Journal) {}

    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      this.journal.lines.push(`before ${name}`);
      return next.handle().pipe(
        map((value) => `${name}(${String(value)})`),
        tap(() => this.journal.lines.push(`after ${name}`)),
      );
    }
  }
  return NamedInterceptor;
}

function pipe(name: string) {
  @Injectable()
  class NamedPipe implements PipeTransform {
    constructor(readonly journal: Journal) {}

    transform(value: unknown, { type }: ArgumentMetadata): unknown {
      this.journal.lines.push(`pipe ${name} ${type}`);
      return typeof value === 'string' ? `${value}${name}` : value;
    }
  }
  return NamedPipe;
}

class OutOfStock extends Error {}

@Catch(OutOfStock)
class OutOfStockFilter implements ExceptionFilter {
  constructor(@Inject(Journal) private readonly journal: Journal) {}

  catch(error: OutOfStock, host: ArgumentsHost): unknown {
    this.journal.lines.push(`filter ${host.getType<string>()}`);
    return `Sorry: ${error.message}`;
  }
}

@Catch()
class CatchAll implements ExceptionFilter {
  catch(error: Error): unknown {
    return `caught ${error.name}`;
  }
}

@Injectable()
@UseGuards(guard('class'))
@UseInterceptors(interceptor('class'))
@UsePipes(pipe('C'))
class LayeredSkills {
  #secret = 'mine';

  constructor(private readonly journal: Journal) {}

  @Skill('layered')
  @UseGuards(guard('method'))
  @UseInterceptors(interceptor('method'))
  @UsePipes(pipe('M'))
  layered(@SkillText() text: string): string {
    this.journal.lines.push(`skill ${text}`);
    return this.#secret;
  }

  @Skill('layered-bare')
  bare(task: TaskContext): string {
    return `${task.id} ${this.#secret}`;
  }
}

@Injectable()
@Roles('employee')
@UseGuards(RolesGuard)
class OfficeSkills {
  constructor(private readonly journal: Journal) {}

  @Skill('office')
  office(): string {
    this.journal.lines.push('office');
    return 'open';
  }

  @Skill('safe')
  @Roles('boss')
  safe(): string {
    this.journal.lines.push('safe');
    return 'open';
  }
}

const denials: Record<string, () => boolean | Promise<boolean>> = {
  false: () => false,
  'a promise of false': () => Promise.resolve(false),
  'a ForbiddenException': () => {
    throw new ForbiddenException('SECRET reason');
  },
  'an UnauthorizedException': () => {
    throw new UnauthorizedException('SECRET reason');
  },
};

/** One skill for each way of denying, named `deny 0` and so on. */
function deniedSkills() {
  return Object.values(denials).map((deny, index) => {
    @Injectable()
    class DeniedSkills {
      constructor(readonly journal: Journal) {}

      @Skill(`deny ${index}`)
      @UseGuards(guard('denying', deny))
      run(): void {
        this.journal.lines.push('run');
      }

      @Skill(`deny message ${index}`, { answers: 'message' })
      @UseGuards(guard('denying', deny))
      answer(): string {
        this.journal.lines.push('run');
        return 'hi';
      }
    }
    return DeniedSkills;
  });
}

@Injectable()
class FaultySkills {
  @Skill('broken guard')
  @UseGuards({
    canActivate: () => {
      throw new Error('SECRET');
    },
  })
  brokenGuard(): void {}

  @Skill('broken interceptor')
  @UseInterceptors({
    intercept: () => {
      throw new Error('SECRET');
    },
  })
  brokenInterceptor(): void {}

  @Skill('forbids itself')
  @UseInterceptors(interceptor('x'))
  forbidsItself(): void {
    throw new ForbiddenException('SECRET');
  }

  @Skill('filtered')
  @UseFilters(OutOfStockFilter)
  filtered(@SkillText() text: string): string {
    if (text === 'stock') throw new OutOfStock('no more');
    throw new Error('SECRET');
  }

  @Skill('filtered guard')
  @UseFilters(CatchAll)
  @UseGuards({ canActivate: () => false })
  filteredGuard(): void {}
}

@Injectable()
@UseFilters(CatchAll)
class FilteredSkills {
  @Skill('filtered class')
  run(): void {
    throw new TypeError('SECRET');
  }
}

abstract class BaseSkills {
  abstract readonly word: string;

  @Skill('inherited')
  inherited(@SkillText() text: string): string {
    return `${this.word} ${text}`;
  }
}

@Injectable()
class DerivedSkills extends BaseSkills {
  readonly word = 'derived';
}

describe('The pipeline of a skill method', () => {
  let agent: Agent;
  let journal: Journal;

  beforeAll(async () => {
    agent = await startAgent({
      skills: [LayeredSkills, OfficeSkills, FaultySkills, FilteredSkills, DerivedSkills, ...deniedSkills()],
      providers: [Journal],
    });
    journal = agent.app.get(Journal);
  });
  afterAll(() => agent.close());
  beforeEach(() => {
    journal.lines = [];
  });

  const ask = (skill: string, text = 'x'): Promise<WireTask> =>
    newcomer(agent.url).task(text, { message: { metadata: { skill } } });

  it('runs guards, interceptors and pipes of class and method as on a route (PKG-10b, B-86)', async () => {
    const task = await ask('layered', 'text');
    expect(journal.lines).toEqual([
      'guard class',
      'guard method',
      'before class',
      'before method',
      'pipe C custom',
      'pipe M custom',
      'skill textCM',
      'after method',
      'after class',
    ]);
    expect(resultOf(task)).toBe('class(method(mine))');
  });

  it('gives a method without decorated parameters its task behind interceptors too', async () => {
    const task = await ask('layered-bare');
    expect(resultOf(task)).toBe(`class(${task.id} mine)`);
  });

  it.each([
    ['office', 'employee', true],
    ['office', 'guest', false],
    ['safe', 'employee', false],
    ['safe', 'employee boss', true],
  ])('heeds a guard with dependencies that reads metadata: %s for %s (B-86)', async (skill, roles, isAllowed) => {
    const message = userMessage('x', { metadata: { skill } });
    const { body } = await rpc(agent.url, 'SendMessage', { message }, { headers: { 'x-roles': roles } });
    const { task } = (body as { result: { task: WireTask } }).result;
    expect(task.status.state).toBe(isAllowed ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_REJECTED');
    expect(journal.lines).toEqual([
      skill === 'safe' ? 'roles boss,employee' : 'roles employee',
      ...(isAllowed ? [skill] : []),
    ]);
  });

  it.each(Object.keys(denials).map((name, index) => [name, index] as const))(
    'settles the task REJECTED without the reason when a guard denies by %s (PKG-10b)',
    async (_name, index) => {
      const { result, text } = await newcomer(agent.url).send('x', {
        message: { metadata: { skill: `deny ${index}` } },
      });
      expect(result.task.status.state).toBe('TASK_STATE_REJECTED');
      expect(textOf(result.task.status.message)).toBe('not permitted');
      expect(text).not.toContain('SECRET');
      expect(journal.lines).toEqual(['guard denying']);
    },
  );

  it.each(Object.keys(denials).map((name, index) => [name, index] as const))(
    'refuses with -31403 when the skill answers with Messages and a guard denies by %s (PKG-10b, R-21)',
    async (_name, index) => {
      const { error, text } = await newcomer(agent.url).send('x', {
        message: { metadata: { skill: `deny message ${index}` } },
      });
      expect(error.code).toBe(-31403);
      expect(text).not.toContain('SECRET');
      expect(journal.lines).toEqual(['guard denying']);
    },
  );

  it.each(['broken guard', 'broken interceptor'])(
    'FAILS the task with a neutral text for a %s (FAULT-05a)',
    async (skill) => {
      const task = await ask(skill);
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(textOf(task.status.message)).toBe('skill handler failed');
    },
  );

  it('takes what the skill itself forbids for its failure, behind an interceptor too (LIFE-03a)', async () => {
    const task = await ask('forbids itself');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message)).toBe('skill handler failed');
  });

  describe('with filters', () => {
    it('takes what a filter of the method makes of its exception for the result (B-86)', async () => {
      const task = await ask('filtered', 'stock');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(resultOf(task)).toBe('Sorry: no more');
      expect(journal.lines).toEqual(['filter a2a']);
    });

    it('passes over a filter for other exceptions (FAULT-05a)', async () => {
      const task = await ask('filtered', 'fire');
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(textOf(task.status.message)).toBe('skill handler failed');
      expect(journal.lines).toEqual([]);
    });

    it('heeds those of the class, and lets them see the denial of a guard', async () => {
      expect(resultOf(await ask('filtered class'))).toBe('caught TypeError');
      expect(resultOf(await ask('filtered guard'))).toBe('caught ForbiddenException');
    });
  });

  it('finds methods that a provider has inherited, and calls them on it (PKG-03a)', async () => {
    expect(resultOf(await ask('inherited', 'word'))).toBe('derived word');
  });
});

/** Notes the execution contexts that it sees. */
@Injectable()
class ContextNoter implements CanActivate, NestInterceptor {
  static contexts: ExecutionContext[] = [];

  canActivate(context: ExecutionContext): boolean {
    ContextNoter.contexts.push(context);
    return true;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    ContextNoter.contexts.push(context);
    return next.handle();
  }
}

interface HostRequest {
  user?: unknown;
  readonly headers: Record<string, string | undefined>;
}

@Injectable()
class UserGuard implements CanActivate {
  static contexts: ExecutionContext[] = [];

  canActivate(context: ExecutionContext): boolean {
    UserGuard.contexts.push(context);
    const request = context.switchToHttp().getRequest<HostRequest>();
    request.user = { sub: request.headers['x-user'] };
    return true;
  }
}

@Injectable()
class ContextSkills {
  @Skill('context', { tags: ['a', 'b'], description: 'Looks around.' })
  @UseGuards(ContextNoter)
  @UseInterceptors(ContextNoter)
  context(@SkillTask() _task: TaskContext, @SkillCaller() _caller: Principal): string {
    return 'seen';
  }
}

describe.each(ADAPTERS)('The execution context of a skill, on %s,', (adapter) => {
  let agent: Agent;

  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [ContextSkills], options: { guards: [UserGuard] } });
  });
  afterAll(() => agent.close());
  beforeEach(() => {
    ContextNoter.contexts = [];
    UserGuard.contexts = [];
  });

  it('is of type a2a, and knows call, task and skill (DESIGN §1, B-86)', async () => {
    const alice = newcomer(agent.url).with({ tenant: 't', scopes: 'a' });
    const task = await alice.task('hello');
    expect(ContextNoter.contexts).toHaveLength(2);
    for (const context of ContextNoter.contexts) {
      expect(context.getType<string>()).toBe(A2A_CONTEXT_TYPE);
      expect(context.getType<string>()).toBe('a2a');
      expect(context.getClass()).toBe(ContextSkills);
      expect(context.getHandler().name).toBe('context');
      const execution: A2AExecution = A2AExecutionContext.create(context);
      expect(execution.call.principal).toEqual({ owner: alice.user, tenant: 't', scopes: ['a'] });
      expect(execution.call.version).toBe('1.0');
      expect(execution.task.id).toBe(task.id);
      expect(execution.skill).toMatchObject({ id: 'context', tags: ['a', 'b'], description: 'Looks around.' });
    }
  });

  it('gives guards of the host the HTTP request, with the user that they put on it (B-86)', async () => {
    const alice = newcomer(agent.url);
    await alice.task('hello');
    const request = ContextNoter.contexts[0]?.switchToHttp().getRequest<HostRequest>();
    expect(request?.user).toEqual({ sub: alice.user });
    expect(request?.headers['x-user']).toBe(alice.user);
    expect(request).toBe(UserGuard.contexts[0]?.switchToHttp().getRequest());
    expect(ContextNoter.contexts[0]?.switchToHttp().getResponse()).toBeDefined();
  });

  it('is not to be had from the context of an HTTP route', async () => {
    await newcomer(agent.url).task('hello');
    expect(() => A2AExecutionContext.create(UserGuard.contexts[0]!)).toThrow(TypeError);
    expect(() => A2AExecutionContext.create(UserGuard.contexts[0]!)).toThrow('of type "http"');
  });
});

/** A global enhancer of every kind, as a host may have them. */
@Injectable()
@Catch()
class HostEnhancer implements CanActivate, NestInterceptor, PipeTransform, ExceptionFilter {
  static seen: string[] = [];

  canActivate(context: ExecutionContext): boolean {
    HostEnhancer.seen.push(`guard ${context.getType<string>()}`);
    return true;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    HostEnhancer.seen.push(`interceptor ${context.getType<string>()}`);
    return next.handle().pipe(map((data) => ({ data })));
  }

  transform(value: unknown): unknown {
    if (typeof value === 'string') HostEnhancer.seen.push('pipe');
    return typeof value === 'string' ? 'changed' : value;
  }

  catch(error: unknown, host: ArgumentsHost): unknown {
    HostEnhancer.seen.push(`filter ${host.getType<string>()}`);
    return `caught ${String(error)}`;
  }
}

@Injectable()
class PlainSkills {
  @Skill('plain')
  plain(@SkillText() text: string): string {
    if (text === 'throw') throw new Error('SECRET');
    return text;
  }
}

describe.each(ADAPTERS)('The global enhancers of a host, on %s,', (adapter) => {
  it.each([
    ['provided', true],
    ['set in main.ts', false],
  ])(
    'act once, on the HTTP request, and not again on the skill: %s (PKG-09a, B-13, DESIGN §1)',
    async (_name, isProvided) => {
      const agent = await startAgent({
        adapter,
        skills: [PlainSkills],
        providers: isProvided
          ? [APP_GUARD, APP_INTERCEPTOR, APP_PIPE, APP_FILTER].map((provide) => ({ provide, useClass: HostEnhancer }))
          : [],
        configure: (app) => {
          if (isProvided) return;
          const enhancer = new HostEnhancer();
          app
            .useGlobalGuards(enhancer)
            .useGlobalInterceptors(enhancer)
            .useGlobalPipes(enhancer)
            .useGlobalFilters(enhancer);
        },
      });
      try {
        HostEnhancer.seen = [];
        const alice = newcomer(agent.url);
        const task = await alice.task('hello');
        expect(resultOf(task)).toBe('hello');
        const failed = await alice.task('throw');
        expect(failed.status.state).toBe('TASK_STATE_FAILED');
        expect(textOf(failed.status.message)).toBe('skill handler failed');
        const perRequest = ['guard http', 'interceptor http'];
        expect(HostEnhancer.seen).toEqual([...perRequest, ...perRequest]);
      } finally {
        await agent.close();
      }
    },
  );
});

interface Visit {
  readonly instance: object;
  readonly user: unknown;
}

const visits: Visit[] = [];

@Injectable({ scope: Scope.REQUEST })
class RequestService {
  constructor(@Inject(REQUEST) readonly request: HostRequest) {}
}

@Injectable({ scope: Scope.REQUEST })
class RequestScopedSkills {
  constructor(@Inject(REQUEST) private readonly request: HostRequest) {}

  @Skill('request-scoped')
  async run(@SkillTask() task: TaskContext): Promise<unknown> {
    await gates.pass(task.signal);
    visits.push({ instance: this, user: this.request.user });
    return this.request.user;
  }
}

@Injectable()
class SkillsWithRequestService {
  constructor(private readonly service: RequestService) {}

  @Skill('with-request-service')
  @UseInterceptors(interceptor('seen'))
  run(task: TaskContext): unknown {
    visits.push({ instance: this, user: this.service.request.user });
    return task.id;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientSkills {
  private count = 0;

  @Skill('transient')
  run(): number {
    visits.push({ instance: this, user: undefined });
    return ++this.count;
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestScopedGuard implements CanActivate {
  constructor(@Inject(REQUEST) private readonly request: HostRequest) {}

  canActivate(): boolean {
    visits.push({ instance: this, user: this.request.user });
    return (this.request.user as { sub: string }).sub !== 'mallory';
  }
}

@Injectable()
class GuardedSingleton {
  @Skill('guarded-singleton')
  @UseGuards(RequestScopedGuard)
  run(): string {
    return 'in';
  }
}

let gates = new Gate();
const als = new AsyncLocalStorage<string>();

@Injectable()
class AlsSkills {
  @Skill('als')
  async run(@SkillTask() task: TaskContext): Promise<unknown> {
    await gates.pass(task.signal);
    return als.getStore() ?? 'lost';
  }

  @Skill('als-generator')
  async *generate(): AsyncGenerator<string> {
    await gates.pass();
    yield als.getStore() ?? 'lost';
  }

  @Skill('als-observable')
  @UseInterceptors({ intercept: (_: ExecutionContext, next: CallHandler) => next.handle() })
  observe(): Observable<string> {
    return new Observable((subscriber: Subscriber<string>) => {
      subscriber.next(als.getStore() ?? 'lost');
      subscriber.complete();
    });
  }
}

const requests: (RequestSnapshot | undefined)[] = [];

@Injectable()
class CurrentRequestSkills {
  @Skill('current')
  async run(task: TaskContext): Promise<void> {
    requests.push(task.request, currentA2ARequest());
    await gates.pass(task.signal);
    requests.push(currentA2ARequest());
    await task.working();
    requests.push(currentA2ARequest());
  }

  @Skill('current-generator')
  *generate(task: TaskContext): Generator<string> {
    requests.push(task.request, currentA2ARequest());
    yield 'a';
    requests.push(currentA2ARequest());
  }

  @Skill('current-observable')
  @UseInterceptors({ intercept: (_: ExecutionContext, next: CallHandler) => next.handle() })
  observe(task: TaskContext): Observable<string> {
    requests.push(task.request, currentA2ARequest());
    return new Observable((subscriber: Subscriber<string>) => {
      requests.push(currentA2ARequest());
      subscriber.complete();
    });
  }
}

describe.each(ADAPTERS)('What a skill knows of its request, on %s,', (adapter) => {
  let agent: Agent;

  beforeAll(async () => {
    agent = await startAgent({
      adapter,
      skills: [
        RequestScopedSkills,
        SkillsWithRequestService,
        TransientSkills,
        GuardedSingleton,
        AlsSkills,
        CurrentRequestSkills,
      ],
      providers: [RequestService, Journal],
      options: { guards: [UserGuard], extensions: [{ uri: 'urn:x' }] },
      configure: (app) => {
        app.use((request: HostRequest, _response: unknown, next: () => void) => {
          als.run(`als of ${request.headers['x-user'] ?? 'nobody'}`, next);
        });
      },
    });
  });
  afterAll(async () => {
    gates.open();
    await agent.close();
  });
  beforeEach(() => {
    gates = new Gate();
    gates.open();
    visits.length = 0;
    requests.length = 0;
  });

  const ask = (alice: Caller, skill: string): Promise<WireTask> =>
    alice.task('x', { message: { metadata: { skill } } });

  it('a request-scoped provider is made anew for each run, with the request and its user (PKG-10a, B-85)', async () => {
    const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
    await Promise.all([alice, bob, alice].map((user) => ask(user, 'request-scoped')));
    expect(visits.map(({ user }) => (user as { sub: string }).sub).sort()).toEqual(
      [alice.user, alice.user, bob.user].sort(),
    );
    expect(new Set(visits.map(({ instance }) => instance)).size).toBe(3);
  });

  it('a request-scoped provider keeps its request after the response has ended (B-85)', async () => {
    gates = new Gate();
    const alice = newcomer(agent.url);
    const { id } = await alice.start('x', { message: { metadata: { skill: 'request-scoped' } } });
    gates.open();
    const task = await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    expect(task.artifacts[0]?.parts).toEqual([{ data: { sub: alice.user } }]);
  });

  it('a request-scoped provider has it when the client asks for extensions (B-85)', async () => {
    const message = userMessage('x', { metadata: { skill: 'request-scoped' } });
    const call = { user: 'alice', headers: { 'a2a-extensions': 'urn:x' } };
    const { headers } = await rpc(agent.url, 'SendMessage', { message }, call);
    expect(headers.get('a2a-extensions')).toBe('urn:x');
    expect(visits.map(({ user }) => user)).toEqual([{ sub: 'alice' }]);
  });

  it('a provider with a request-scoped dependency is resolved for each run, behind an interceptor too (PKG-10a)', async () => {
    const alice = newcomer(agent.url);
    const tasks = [await ask(alice, 'with-request-service'), await ask(alice, 'with-request-service')];
    expect(visits.map(({ user }) => user)).toEqual([{ sub: alice.user }, { sub: alice.user }]);
    expect(visits[0]?.instance).not.toBe(visits[1]?.instance);
    expect(tasks.map(resultOf)).toEqual(tasks.map(({ id }) => `seen(${id})`));
  });

  it('a transient provider is new in each run (PKG-10a)', async () => {
    const alice = newcomer(agent.url);
    const counts = [await ask(alice, 'transient'), await ask(alice, 'transient')].map(
      ({ artifacts }) => artifacts[0]?.parts,
    );
    expect(counts).toEqual([[{ data: 1 }], [{ data: 1 }]]);
    expect(visits[0]?.instance).not.toBe(visits[1]?.instance);
  });

  it('a request-scoped guard on a singleton sees the request of each run (PKG-10a, B-86)', async () => {
    const alice = newcomer(agent.url);
    expect(resultOf(await ask(alice, 'guarded-singleton'))).toBe('in');
    const { body } = await rpc(
      agent.url,
      'SendMessage',
      { message: userMessage('x', { metadata: { skill: 'guarded-singleton' } }) },
      { user: 'mallory' },
    );
    expect((body as { result: { task: WireTask } }).result.task.status.state).toBe('TASK_STATE_REJECTED');
    expect(visits.map(({ user }) => user)).toEqual([{ sub: alice.user }, { sub: 'mallory' }]);
  });

  it.each(['als', 'als-generator', 'als-observable'])(
    'the async context of the host’s middleware is there: %s (B-85, ISO-12)',
    async (skill) => {
      const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
      const tasks = await Promise.all([alice, bob].map((user) => ask(user, skill)));
      expect(tasks.map(resultOf)).toEqual([`als of ${alice.user}`, `als of ${bob.user}`]);
    },
  );

  it.each(['als', 'als-generator'])(
    'the async context of the host’s middleware stays after the answer was given: %s (B-85)',
    async (skill) => {
      gates = new Gate();
      const alice = newcomer(agent.url);
      const { id } = await alice.start('x', { message: { metadata: { skill } } });
      gates.open();
      const task = await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
      expect(resultOf(task)).toBe(`als of ${alice.user}`);
    },
  );

  it.each(['current', 'current-generator', 'current-observable'])(
    'currentA2ARequest() is what task.request is, all along the run: %s (CTX-02a, CTX-02b)',
    async (skill) => {
      const alice = newcomer(agent.url);
      await ask(alice, skill);
      const [request, ...others] = requests;
      expect(request).toMatchObject({ method: 'POST', url: '/a2a', user: { sub: alice.user } });
      expect(request?.headers['x-user']).toBe(alice.user);
      expect(request?.ip).toMatch(/127\.0\.0\.1$/u);
      expect(others.length).toBeGreaterThan(0);
      for (const other of others) expect(other).toBe(request);
      expect(currentA2ARequest()).toBeUndefined();
    },
  );
});

/** The text of the only artifact. */
function resultOf({ artifacts }: WireTask): string {
  expect(artifacts).toHaveLength(1);
  return textOf(artifacts[0]!);
}
