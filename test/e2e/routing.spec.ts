import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  SkillRouter,
  UnsupportedOperationError,
  type A2AOptions,
  type JsonObject,
  type JsonValue,
  type Part,
  type RoutingRequest,
  type SkillDefinition,
} from 'nestjs-a2a';
import { startAgent, type Agent } from '../support/agent.js';
import { newcomer, textOf, type Caller, type WireTask } from '../support/caller.js';
import { post } from '../support/rpc.js';

/** A skill that answers with its own name. */
function named(id: string, options: Partial<SkillDefinition> = {}): SkillDefinition {
  return { id, handler: () => id, ...options };
}

/** The skill that a task was given to, by what it answered. */
function ranBy({ artifacts }: WireTask): string {
  return artifacts.map(textOf).join();
}

function assertRejected(task: WireTask): string {
  expect(task.status.state).toBe('TASK_STATE_REJECTED');
  expect(task.status.message).toMatchObject({ role: 'ROLE_AGENT', taskId: task.id, contextId: task.contextId });
  expect(task).not.toHaveProperty('artifacts');
  expect(task).not.toHaveProperty('metadata');
  return textOf(task.status.message);
}

describe('A message', () => {
  let agent: Agent;
  let alice: Caller;

  beforeAll(async () => {
    const skills = [named('alpha'), named('beta'), named('hidden-gamma')];
    agent = await startAgent({ options: { skills } });
    alice = newcomer(agent.url);
  });
  afterAll(() => agent.close());

  const sendTo = (metadata: JsonObject, data: readonly JsonValue[] = [], text = 'hi'): Promise<WireTask> => {
    const parts: Part[] = [{ text }, ...data.map((value) => ({ data: value }))];
    return alice.task(parts, { message: { metadata } });
  };

  it('goes to the skill that its metadata names, before that of a data part (ROUTE-01)', async () => {
    expect(ranBy(await sendTo({ skill: 'alpha' }, [{ skill: 'beta' }]))).toBe('alpha');
  });

  it('goes to the skill of the first data part that names one (ROUTE-01)', async () => {
    expect(
      ranBy(await sendTo({}, [['skill'], 'alpha', { other: 1 }, { skill: 7 }, { skill: 'beta' }, { skill: 'alpha' }])),
    ).toBe('beta');
  });

  it.each([['', null, 5, true, {}, ['alpha']]].flat().map((skill) => [JSON.stringify(skill), skill] as const))(
    'goes by its data part when its metadata names the skill %s (ROUTE-02b)',
    async (_text, skill) => {
      expect(ranBy(await sendTo({ skill }, [{ skill: 'beta' }]))).toBe('beta');
    },
  );

  it('is REJECTED when its metadata names no skill of the agent, whatever its data parts name (ROUTE-02a)', async () => {
    const why = assertRejected(await sendTo({ skill: 'nobody' }, [{ skill: 'beta' }]));
    expect(why).toBe('There is no skill called "nobody".');
  });

  it('is REJECTED when its first data part names no skill of the agent, whatever a later one names (ROUTE-02a)', async () => {
    const why = assertRejected(await sendTo({}, [{ skill: 'nobody' }, { skill: 'beta' }]));
    expect(why).toBe('There is no skill called "nobody".');
  });

  it.each(['alpha', 'Please use the skill beta.', '{"skill":"alpha"}', 'skill: alpha'])(
    'is REJECTED when only its prose names a skill: %s (ROUTE-03a, ROUTE-03b)',
    async (text) => {
      expect(assertRejected(await sendTo({}, [], text))).toBe('The message names no skill.');
    },
  );

  it('that is REJECTED is a task like any other, and no error (SEND-15, B-07)', async () => {
    const bob = newcomer(agent.url);
    const { status, result } = await bob.send('hi', { message: { contextId: 'ctx', messageId: 'm-1' } });
    expect(status).toBe(200);
    expect(Object.keys(result)).toEqual(['task']);
    assertRejected(result.task);
    expect(result.task.contextId).toBe('ctx');
    expect(result.task.history.map(textOf)).toEqual(['hi', 'The message names no skill.']);
    expect(result.task.history[0]).toMatchObject({ messageId: 'm-1', taskId: result.task.id });
    expect(await bob.get(result.task.id)).toEqual(result.task);
    expect((await bob.list({ status: 'TASK_STATE_REJECTED' })).totalSize).toBe(1);
    expect((await bob.cancel(result.task.id)).error.code).toBe(-32002);
    expect((await bob.follow(result.task.id, 'hi')).error.code).toBe(-32004);
  });

  it('that is REJECTED is answered with as much history as asked for, and at once (SEND-11, SEND-15)', async () => {
    const configuration = { historyLength: 1, returnImmediately: true };
    const task = await alice.task('hi', { configuration });
    assertRejected(task);
    expect(task.history.map(textOf)).toEqual(['The message names no skill.']);
  });

  it('that is REJECTED learns of no other skill than the one it asked for (ROUTE-04a)', async () => {
    for (const task of [await sendTo({ skill: 'nobody' }), await sendTo({}, [{ skill: 'alph' }]), await sendTo({})]) {
      expect(assertRejected(task)).not.toMatch(/alpha|beta|gamma/u);
    }
  });

  it('has the name that it asked for echoed short, and without what could forge a line (ROUTE-04b)', async () => {
    const why = assertRejected(await sendTo({ skill: `a\r\nb\u0000\u001b[31m\u202e${'x'.repeat(5_000)}` }));
    expect(why.length).toBeLessThan(100);
    expect(why).toMatch(/^There is no skill called "ab\[31mx+…"\.$/u);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'finds no skill in the prototype of things: %s (ROUTE-02a, S-17)',
    async (skill) => {
      expect(assertRejected(await sendTo({ skill }))).toBe(`There is no skill called "${skill}".`);
      expect(assertRejected(await sendTo({}, [{ skill }]))).toBe(`There is no skill called "${skill}".`);
    },
  );

  it('is not routed by what it puts in __proto__ (ROUTE-01, S-17)', async () => {
    const skill = '{"__proto__":{"skill":"alpha"}}';
    const message = `{"role":"ROLE_USER","parts":[{"text":"hi"},{"data":${skill}}],"metadata":${skill}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${message}}}`;
    const { body: answer } = await post(agent.url, body, { user: alice.user });
    expect(assertRejected((answer as { result: { task: WireTask } }).result.task)).toBe('The message names no skill.');
  });

  it('takes no run slot, and runs nothing, when it is REJECTED (SEND-15, CAP-02)', async () => {
    const before = agent.service.statistics();
    await Promise.all(Array.from({ length: 20 }, () => sendTo({ skill: 'nobody' })));
    expect(agent.service.statistics()).toEqual(before);
  });
});

describe('A message to an agent with one skill', () => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startAgent({ options: { skills: [named('only')] } });
  });
  afterAll(() => agent.close());

  it('goes to that skill when it names none (ROUTE-01)', async () => {
    const alice = newcomer(agent.url);
    expect(ranBy(await alice.task('hi'))).toBe('only');
    expect(ranBy(await alice.task([{ data: { any: 'thing' } }]))).toBe('only');
    expect(ranBy(await alice.task('hi', { message: { metadata: { skill: '' } } }))).toBe('only');
  });

  it('does not go to it when it names another (ROUTE-02a)', async () => {
    const alice = newcomer(agent.url);
    assertRejected(await alice.task('hi', { message: { metadata: { skill: 'other' } } }));
    assertRejected(await alice.task([{ data: { skill: 'other' } }]));
  });
});

describe('A skill that demands scopes', () => {
  let agent: Agent;
  beforeAll(async () => {
    const skills = [named('report', { scopes: ['read', 'report'] }), named('open')];
    agent = await startAgent({ options: { skills } });
  });
  afterAll(() => agent.close());

  const asking = (skill: string) => ({ message: { metadata: { skill } } });

  it.each(['', 'read', 'write report', 'READ REPORT'])(
    'answers 403 to a caller with the scopes "%s", before anything is written (R-32)',
    async (scopes) => {
      const alice = newcomer(agent.url, { scopes });
      const { status, id, error } = await alice.send('hi', asking('report'));
      expect([status, id]).toEqual([403, 1]);
      expect(error).toMatchObject({ code: -31403, data: [{ reason: 'PERMISSION_DENIED' }] });
      expect((await alice.list()).totalSize).toBe(0);
    },
  );

  it.each(['report read', 'read more report'])('serves a caller with the scopes "%s" (R-32)', async (scopes) => {
    expect(ranBy(await newcomer(agent.url, { scopes }).task('hi', asking('report')))).toBe('report');
  });

  it('serves a session, which is not narrowed (R-32)', async () => {
    expect(ranBy(await newcomer(agent.url).task('hi', asking('report')))).toBe('report');
  });

  it('is judged after routing: other skills and unknown ones need no scope (R-32)', async () => {
    const alice = newcomer(agent.url, { scopes: '' });
    expect(ranBy(await alice.task('hi', asking('open')))).toBe('open');
    assertRejected(await alice.task('hi', asking('nobody')));
  });
});

describe('A router of the host', () => {
  /** Starts an agent with a router, sends one message and gives the task. */
  async function routed(router: NonNullable<A2AOptions['router']>, text = 'hi'): Promise<WireTask> {
    const agent = await startAgent({ options: { router, skills: [named('alpha'), named('beta')] } });
    try {
      return await newcomer(agent.url).task(text);
    } finally {
      await agent.close();
    }
  }

  it('replaces that of the package, as a function (ROUTE-05)', async () => {
    expect(ranBy(await routed(() => 'beta'))).toBe('beta');
    expect(ranBy(await routed(() => Promise.resolve('alpha')))).toBe('alpha');
  });

  it('replaces that of the package, as a class or an instance of one (ROUTE-05)', async () => {
    @Injectable()
    class LastRouter extends SkillRouter {
      route({ skills }: RoutingRequest): string | undefined {
        return skills.at(-1)?.id;
      }
    }
    expect(ranBy(await routed(LastRouter))).toBe('beta');
    expect(ranBy(await routed(new LastRouter()))).toBe('beta');
  });

  it('that names a skill that there is not has the task REJECTED (ROUTE-05)', async () => {
    expect(assertRejected(await routed(() => 'gamma'))).toBe('There is no skill called "gamma".');
  });

  it.each([undefined, null, 7, {}])('that answers %p has the task REJECTED (ROUTE-05)', async (answer) => {
    expect(assertRejected(await routed(() => answer as undefined))).toBe('The message names no skill.');
  });

  it('is quoted when it throws an A2AError, also as a cause (ROUTE-05)', async () => {
    const told = new UnsupportedOperationError('Only on weekdays.');
    for (const error of [told, new Error('wrapped', { cause: told })]) {
      const task = await routed(() => {
        throw error;
      });
      expect(assertRejected(task)).toBe('Only on weekdays.');
    }
  });

  it('is not quoted when it throws anything else (ROUTE-05, B-10)', async () => {
    for (const router of [
      () => {
        throw new Error('db://user:pw@host');
      },
      () => Promise.reject(new Error('db://user:pw@host')),
    ]) {
      expect(assertRejected(await routed(router))).toBe('The message could not be routed to a skill.');
    }
  });

  it('may change what it is given, and changes nothing (ROUTE-05)', async () => {
    const task = await routed(({ message, skills }) => {
      message.parts.splice(0, 1, { text: 'changed' });
      (message as { contextId: string }).contextId = 'changed';
      try {
        (skills as unknown[]).length = 0;
      } catch {
        // What cannot be changed need not be copied.
      }
      return 'alpha';
    });
    expect(ranBy(task)).toBe('alpha');
    expect(task.history.map(textOf)).toEqual(['hi']);
    expect(task.contextId).not.toBe('changed');
  });

  it('sees message and skills as they are (ROUTE-05)', async () => {
    const seen: RoutingRequest[] = [];
    const { id, contextId } = await routed((request) => {
      seen.push(request);
      return 'alpha';
    });
    expect(seen[0]?.skills.map((skill) => skill.id)).toEqual(['alpha', 'beta']);
    expect(seen[0]?.message).toMatchObject({ taskId: id, contextId, parts: [{ text: 'hi' }] });
  });
});
