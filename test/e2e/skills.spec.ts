import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Injectable,
  ParseIntPipe,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { UseInterceptors } from '@nestjs/common';
import { Type as TypeOf } from 'class-transformer';
import { IsArray, IsInt, IsOptional, IsString, Min, ValidateNested } from 'class-validator';
import {
  dataPart,
  message,
  rawPart,
  Skill,
  SkillCaller,
  SkillInput,
  SkillMessage,
  SkillTask,
  SkillText,
  textPart,
  urlPart,
  type JsonObject,
  type Message,
  type Part,
  type Principal,
  type TaskContext,
  TaskState,
} from 'nestjs-a2a';
import { from, interval, map, Observable, of, Subject, throwError, toArray } from 'rxjs';
import { z } from 'zod';
import { startAgent, type Agent } from '../support/agent.js';
import { fieldsOf, newcomer, textOf, type Caller, type WireTask } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { startStage, SPEAKER, type Stage } from '../support/puppet.js';
import { settleOf, statusOf } from 'nestjs-a2a/testing';
import { until } from '../support/until.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

class Line {
  @IsString()
  name!: string;

  @IsInt()
  @Min(1)
  count!: number;
}

class Order {
  @IsInt()
  year!: number;

  @IsOptional()
  @IsString()
  note?: string;

  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @TypeOf(() => Line)
  lines?: Line[];
}

const OrderSchema = z.object({ year: z.coerce.number(), lines: z.array(z.object({ name: z.string() })).default([]) });

@Injectable()
class Exclamation {
  readonly mark = '!';
}

@Injectable()
class LoudPipe implements PipeTransform<string, string> {
  constructor(private readonly exclamation: Exclamation) {}

  transform(value: string): string {
    return value.toUpperCase() + this.exclamation.mark;
  }
}

const reversed: PipeTransform<string, string> = { transform: (value) => Array.from(value).reverse().join('') };
const ownerOf: PipeTransform<Principal, string> = { transform: ({ owner }) => owner };

/** What a skill method was called with. */
@Injectable()
class ParameterSkills {
  args: unknown[] = [];
  calls = 0;

  private note(...args: unknown[]): void {
    this.args = args;
    this.calls++;
  }

  @Skill('bare')
  bare(...args: unknown[]): void {
    this.note(...args);
  }

  @Skill('all')
  all(
    @SkillInput() input: JsonObject,
    @SkillText() text: string,
    @SkillMessage() received: Message,
    @SkillCaller() caller: Principal,
    @SkillTask() task: TaskContext,
  ): void {
    this.note(input, text, received, caller, task);
  }

  @Skill('piped')
  piped(
    @SkillText(reversed, LoudPipe) loud: string,
    @SkillCaller(ownerOf) owner: string,
    @SkillInput({ transform: (value: JsonObject) => Object.keys(value) } satisfies PipeTransform) keys: string[],
  ): void {
    this.note(loud, owner, keys);
  }

  @Skill('numbered')
  numbered(@SkillText(ParseIntPipe) value: number): void {
    this.note(value);
  }

  @Skill('order')
  order(@SkillInput() order: Order): void {
    this.note(order);
  }

  @Skill('order-schema')
  orderSchema(@SkillInput(OrderSchema) order: z.infer<typeof OrderSchema>): void {
    this.note(order);
  }

  @Skill('order-message', { answers: 'message' })
  orderMessage(@SkillInput() order: Order) {
    this.note(order);
    return 'taken';
  }
}

describe('A skill method', () => {
  let agent: Agent;
  let skills: ParameterSkills;
  let alice: Caller;

  beforeAll(async () => {
    agent = await startAgent({ skills: [ParameterSkills, Exclamation] });
    skills = agent.app.get(ParameterSkills);
  });
  afterAll(() => agent.close());
  beforeEach(() => {
    alice = newcomer(agent.url);
    skills.args = [];
    skills.calls = 0;
  });

  const ask = (skill: string, input: JsonObject, ...parts: Part[]): Promise<WireTask> =>
    alice.task([...parts, { data: { skill, ...input } }]);

  it('without decorated parameters gets the task context and nothing else', async () => {
    const task = await ask('bare', {}, textPart('hello'));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(skills.args).toHaveLength(1);
    const [context] = skills.args as [TaskContext];
    expect(context.id).toBe(task.id);
    expect(context.message.parts[0]).toEqual({ text: 'hello' });
  });

  it('gets what each of its parameters asks for', async () => {
    const caller = alice.with({ tenant: 't', scopes: 'a b' });
    const task = await caller.task([textPart('one'), dataPart({ skill: 'all', year: 2026 }), textPart('two')], {
      message: { metadata: { m: 1 } },
    });
    const [input, text, received, principal, context] = skills.args as [
      JsonObject,
      string,
      Message,
      Principal,
      TaskContext,
    ];
    expect(input).toEqual({ year: 2026 });
    expect(text).toBe('one\ntwo');
    expect(received).toMatchObject({
      taskId: task.id,
      contextId: task.contextId,
      role: 'ROLE_USER',
      metadata: { m: 1 },
    });
    expect(principal).toEqual({ owner: alice.user, tenant: 't', scopes: ['a', 'b'] });
    expect(context.id).toBe(task.id);
  });

  it('gets the `arguments` of the data part as its input, when it has them', async () => {
    await ask('all', { arguments: { year: 1 }, other: 2 });
    expect(skills.args[0]).toEqual({ year: 1 });
    await ask('all', { arguments: [1, null] });
    expect(skills.args[0]).toEqual([1, null]);
  });

  it('has its parameters go through pipes: instances, and classes with dependencies', async () => {
    await ask('piped', { a: 1, b: 2 }, textPart('abc'));
    expect(skills.args).toEqual(['CBA!', alice.user, ['a', 'b']]);
  });

  it('is REJECTED with the words of a pipe of Nest that refuses, and not called (CTX-08b)', async () => {
    await ask('numbered', {}, textPart('42'));
    expect(skills.args).toEqual([42]);
    const task = await ask('numbered', {}, textPart('many'));
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
    expect(textOf(task.status.message)).toMatch(/^Invalid input: .*numeric string/u);
    expect(skills.calls).toBe(1);
  });

  describe.each(['order', 'order-schema'])('with a validated input (%s)', (skill) => {
    it('gets it as validation has made it', async () => {
      const task = await ask(skill, { year: 2026, lines: [{ name: 'x', count: 1 }] });
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      const [order] = skills.args as [Order];
      expect(order.year).toBe(2026);
      if (skill === 'order') {
        expect(order).toBeInstanceOf(Order);
        expect(order.lines?.[0]).toBeInstanceOf(Line);
      }
    });

    it.each([
      ['a field that is wrong', { year: 'soon' }, ['year']],
      ['a field that is missing', {}, ['year']],
      [
        'fields within others',
        {
          year: 1,
          lines: [
            { name: 'a', count: 1 },
            { name: 5, count: 1 },
          ],
        },
        ['lines.1.name'],
      ],
    ] as [string, JsonObject, string[]][])(
      'is REJECTED for %s, naming the fields, and not called',
      async (_name, input, fields) => {
        const task = await ask(skill, input);
        expect(task.status.state).toBe('TASK_STATE_REJECTED');
        expect(task.artifacts).toBeUndefined();
        const text = textOf(task.status.message);
        expect(text).toMatch(/^Invalid input: /u);
        for (const field of fields) expect(text).toContain(`${field}: `);
        expect(skills.calls).toBe(0);
      },
    );

    it.each([null, 5, 'text', [], true, false, 0, ''])(
      'is REJECTED for an input that is no object: %j',
      async (input) => {
        const task = await ask(skill, { arguments: input });
        expect(task.status.state).toBe('TASK_STATE_REJECTED');
        expect(skills.calls).toBe(0);
      },
    );

    it('is not polluted by the keys of its input (S-17, GATE-10b)', async () => {
      const input = JSON.parse(
        '{"year":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
      ) as JsonObject;
      await ask(skill, { arguments: input });
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });
  });

  it('names every field that is wrong at once', async () => {
    const task = await ask('order', { year: 'x', note: 5, lines: [{ name: 1, count: 0 }] });
    const text = textOf(task.status.message);
    for (const field of ['year', 'note', 'lines.0.name', 'lines.0.count']) expect(text).toContain(`${field}: `);
  });

  it('that answers with Messages refuses invalid input by an error that names the fields', async () => {
    const { error } = await alice.send([
      dataPart({ skill: 'order-message', year: 'x', lines: [{ name: 'a', count: 0 }] }),
    ]);
    expect(error.code).toBe(-32602);
    expect(fieldsOf(error)).toEqual(['year', 'lines.0.count']);
    expect(skills.calls).toBe(0);
  });
});

class Invoice {
  readonly due = new Date(0);
  constructor(
    readonly id: number,
    private readonly secret: string,
  ) {}

  toJSON(): unknown {
    return { id: this.id, due: this.due, kind: this.secret.length };
  }
}

describe('What a skill returns', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage();
  });
  afterAll(() => stage.agent.close());

  it.each([undefined, Promise.resolve(undefined)])(
    'nothing, is COMPLETED without an artifact (LIFE-02)',
    async (nothing) => {
      const alice = stage.play(() => nothing);
      const task = await alice.task('go');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task).not.toHaveProperty('artifacts');
      expect(task.status).not.toHaveProperty('message');
    },
  );

  it.each([
    ['a string', 'text', [{ text: 'text' }]],
    ['an empty string', '', [{ text: '' }]],
    ['null', null, [{ data: null }]],
    ['false', false, [{ data: false }]],
    ['zero', 0, [{ data: 0 }]],
    ['an object', { a: [1, { b: null }] }, [{ data: { a: [1, { b: null }] } }]],
    ['an empty array', [], [{ data: [] }]],
    ['an array', ['a', 'b'], [{ data: ['a', 'b'] }]],
    ['a class instance', new Invoice(7, 'xyz'), [{ data: { id: 7, due: '1970-01-01T00:00:00.000Z', kind: 3 } }]],
    ['a text part', textPart('x', { mediaType: 'text/markdown' }), [{ text: 'x', mediaType: 'text/markdown' }]],
    ['a data part', dataPart(0), [{ data: 0 }]],
    [
      'a raw part',
      rawPart(Buffer.from('hi'), 'a.txt', 'text/plain'),
      [{ raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain' }],
    ],
    ['parts', [textPart('a'), urlPart('https://x.example')], [{ text: 'a' }, { url: 'https://x.example' }]],
    ['a promise', Promise.resolve('later'), [{ text: 'later' }]],
  ] as [string, unknown, JsonObject[]][])('%s, is one artifact, COMPLETED', async (_name, value, parts) => {
    const task = await stage.play(() => value).task('go');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts).toEqual([{ artifactId: expect.stringMatching(UUID), parts }]);
    expect(task.status).not.toHaveProperty('message');
  });

  it('an artifact, is that artifact (DM-09b)', async () => {
    const artifact = {
      artifactId: 'report',
      name: 'Report',
      description: 'The report.',
      parts: [textPart('x')],
      metadata: { pages: 3 },
      extensions: ['urn:x'],
    };
    expect((await stage.play(() => artifact).task('go')).artifacts).toEqual([artifact]);
    const minted = await stage.play(() => ({ name: 'n', parts: [textPart('x')] })).task('go');
    expect(minted.artifacts).toEqual([{ artifactId: expect.stringMatching(UUID), name: 'n', parts: [{ text: 'x' }] }]);
    expect((await stage.play(() => ({ parts: [] })).task('go')).artifacts).toEqual([
      { artifactId: expect.stringMatching(UUID), parts: [] },
    ]);
  });

  it('replaces the artifact of the same id that it recorded before (CTX-05)', async () => {
    const alice = stage.play(async (task) => {
      await task.artifact({ artifactId: 'a', parts: [textPart('draft')] });
      return { artifactId: 'a', parts: [textPart('final')] };
    });
    expect((await alice.task('go')).artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'final' }] }]);
  });

  it.each([
    ['NaN', () => NaN],
    ['Infinity', () => ({ deep: [Infinity] })],
    ['a function', () => () => 1],
    ['a symbol', () => Symbol('s')],
    ['a bigint', () => 1n],
    ['a Map', () => new Map([[1, 2]])],
    ['bytes', () => Buffer.from('x')],
    ['a cycle', cycle],
    ['an artifact with NaN', () => ({ parts: [{ data: NaN }] })],
    ['an artifact with odd metadata', () => ({ parts: [], metadata: { bad: () => 1 } })],
    ['a part with odd metadata', () => ({ text: 'x', metadata: { bad: NaN } })],
    ['a Message with odd metadata', () => message('x', { bad: NaN })],
    [
      'an object whose toJSON throws',
      () => ({
        toJSON: () => {
          throw new Error('SECRET');
        },
      }),
    ],
    [
      'a getter that throws',
      () => ({
        get bad() {
          throw new Error('SECRET');
        },
      }),
    ],
  ])('%s, FAILS the task and leaves nothing half-written (CTX-11, STORE-09b, FAULT-05a)', async (_name, make) => {
    const alice = stage.play(make);
    const task = await alice.task('go');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message)).toBe('skill handler failed');
    expect(task).not.toHaveProperty('artifacts');
    expect(await alice.get(task.id)).toEqual(task);
  });

  it('is taken when the state was set before, only for the state to stand (LIFE-07)', async () => {
    const alice = stage.play(async (task) => {
      await task.complete('Done.');
      return 'too late';
    });
    const task = await alice.task('go');
    expect(textOf(task.status.message)).toBe('Done.');
    expect(task).not.toHaveProperty('artifacts');
  });

  it('is not shared with the skill: changing it later changes nothing (DM-15, B-70)', async () => {
    const value = { list: [1] };
    const alice = stage.play(() => value);
    const task = await alice.task('go');
    value.list.push(2);
    expect((await alice.get(task.id)).artifacts[0]?.parts).toEqual([{ data: { list: [1] } }]);
  });

  describe.each([
    [
      'a generator',
      (items: unknown[]) =>
        (function* () {
          yield* items;
        })(),
    ],
    [
      'an async generator',
      (items: unknown[]) =>
        (async function* () {
          yield* items;
        })(),
    ],
    ['a cold Observable', (items: unknown[]) => from(items)],
    [
      'an Observable in time',
      (items: unknown[]) =>
        interval(1).pipe(
          map((index) => items[index]),
          takeFirst(items.length),
        ),
    ],
  ] as [string, (items: unknown[]) => unknown][])('%s', (_name, make) => {
    it('of strings and parts, is one artifact to which they append, COMPLETED at its end (DESIGN §1)', async () => {
      const task = await stage.play(() => make(['c0', textPart('c1'), 'c2'])).task('go');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task.artifacts).toEqual([
        { artifactId: expect.stringMatching(UUID), parts: [{ text: 'c0' }, { text: 'c1' }, { text: 'c2' }] },
      ]);
    });

    it('of all kinds of items, appends values and lets artifacts stand for themselves (DESIGN §1)', async () => {
      const items = [
        'a',
        { artifactId: 'own', parts: [textPart('x')] },
        5,
        null,
        { b: 1 },
        [textPart('p'), textPart('q')],
      ];
      const task = await stage.play(() => make(items)).task('go');
      expect(task.artifacts).toEqual([
        {
          artifactId: expect.stringMatching(UUID),
          parts: [{ text: 'a' }, { data: 5 }, { data: null }, { data: { b: 1 } }, { text: 'p' }, { text: 'q' }],
        },
        { artifactId: 'own', parts: [{ text: 'x' }] },
      ]);
    });

    it('of nothing, is COMPLETED without an artifact', async () => {
      const task = await stage.play(() => make([])).task('go');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task).not.toHaveProperty('artifacts');
    });

    it('with an item that is no JSON, FAILS and keeps the items before it (CTX-11)', async () => {
      const alice = stage.play(() => make(['kept', NaN, 'never']));
      const task = await alice.task('go');
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(task.artifacts.map(({ parts }) => parts)).toEqual([[{ text: 'kept' }]]);
      expect(await alice.get(task.id)).toEqual(task);
    });

    it('of a direct Message, answers with it and keeps no task (SEND-19, R-21)', async () => {
      const alice = stage.play(() => make([message('hello')]));
      const { result } = await alice.send('go');
      expect(textOf(result.message)).toBe('hello');
      expect((await alice.list()).totalSize).toBe(0);
    });

    it('of a direct Message after a chunk, makes it the message of COMPLETED (R-21)', async () => {
      const task = await stage.play(() => make(['chunk', message('all done')])).task('go');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(textOf(task.status.message)).toBe('all done');
      expect(task.artifacts.map(({ parts }) => parts)).toEqual([[{ text: 'chunk' }]]);
    });
  });

  it.each([
    [
      'a generator',
      () =>
        (function* () {
          yield 'kept';
          throw new Error('SECRET');
        })(),
    ],
    [
      'an async generator',
      () =>
        (async function* () {
          yield 'kept';
          throw new Error('SECRET');
        })(),
    ],
    ['an Observable', () => from(['kept']).pipe(thenFail())],
    ['an Observable that only fails', () => throwError(() => new Error('SECRET'))],
  ])('%s that fails, FAILS the task with a neutral text and keeps what was stored (LIFE-03a)', async (name, make) => {
    const task = await stage.play(make).task('go');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message)).toBe('skill handler failed');
    const kept = name.endsWith('only fails') ? undefined : [[{ text: 'kept' }]];
    expect((task.artifacts as WireTask['artifacts'] | undefined)?.map(({ parts }) => parts)).toEqual(kept);
  });

  it('an Observable that emits as it is subscribed to, keeps the order of thousands of items (CTX-10b)', async () => {
    const items = Array.from({ length: 3_000 }, (_, index) => `${index}`);
    const task = await stage.play(() => of(...items)).task('go');
    expect(task.artifacts[0]?.parts.map(({ text }) => text)).toEqual(items);
  });

  it('an infinite Observable, is torn down when the task is cancelled (R-34, LIFE-04)', async () => {
    const order: string[] = [];
    const alice = stage.play((task) => {
      task.signal.addEventListener('abort', () => order.push('signal'));
      return new Observable((subscriber) => {
        const timer = setInterval(() => {
          subscriber.next('tick');
        }, 1);
        return () => {
          clearInterval(timer);
          order.push('torn down');
        };
      });
    });
    const { id } = await alice.start('go');
    await alice.taskWhen(id, ({ artifacts }) => (artifacts as unknown) !== undefined);
    const { result } = await alice.cancel(id);
    expect(result.status.state).toBe('TASK_STATE_CANCELED');
    await until(() => order.length === 2, 'The teardown');
    expect(order).toEqual(['signal', 'torn down']);
    expect((await alice.get(id)).artifacts).toEqual(result.artifacts);
  });

  it('an async generator, is returned when the task is cancelled, after the signal (R-34, LIFE-04)', async () => {
    const order: string[] = [];
    const alice = stage.play(async function* (task) {
      task.signal.addEventListener('abort', () => order.push('signal'));
      try {
        yield 'first';
        await aborted(task.signal);
        yield 'late';
      } finally {
        order.push('returned');
      }
    });
    const { id } = await alice.start('go');
    await alice.taskWhen(id, ({ artifacts }) => (artifacts as unknown) !== undefined);
    await alice.cancel(id);
    await until(() => order.length === 2, 'The return');
    expect(order).toEqual(['signal', 'returned']);
    expect((await alice.get(id)).artifacts[0]?.parts).toEqual([{ text: 'first' }]);
  });

  it('an iterator that never returns, does not hold the cancelled task (R-34, LIFE-06)', async () => {
    let returned = false;
    const alice = stage.play(() => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: () => {
          returned = true;
          return new Promise<never>(() => undefined);
        },
      }),
    }));
    const { id } = await alice.start('go');
    await until(() => stage.agent.service.statistics().liveRuns === 1);
    expect((await alice.cancel(id)).result.status.state).toBe('TASK_STATE_CANCELED');
    await until(() => returned, 'The return');
    await until(() => stage.agent.service.statistics().liveRuns === 0, 'The end of the run');
  });
});

describe('A direct Message', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage();
  });
  afterAll(() => stage.agent.close());

  it('is the answer, of the agent and of no task, and no task is kept (SEND-19, R-15, R-21)', async () => {
    const alice = stage.play(() => message(['Good morning.', dataPart({ a: 1 })], { mood: 'good' }));
    const { result } = await alice.send('hello', { message: { contextId: 'mine' } });
    expect(result).toEqual({
      message: {
        messageId: expect.stringMatching(UUID),
        contextId: 'mine',
        role: 'ROLE_AGENT',
        parts: [{ text: 'Good morning.' }, { data: { a: 1 } }],
        metadata: { mood: 'good' },
      },
    });
    expect((await alice.list()).totalSize).toBe(0);
  });

  it('takes back the row that was written after 50 ms, of which nobody was told (R-21)', async () => {
    const alice = stage.play(async () => {
      await until(async () => (await alice.list()).totalSize === 1, 'The row');
      return message('late, but no task');
    });
    const { result } = await alice.send('hello');
    expect(textOf(result.message)).toBe('late, but no task');
    expect((await alice.list()).totalSize).toBe(0);
  });

  it('takes back no row that someone else has settled meanwhile (R-21, R-22)', async () => {
    const alice = stage.play(async (task) => {
      await until(async () => (await alice.list()).totalSize === 1, 'The row');
      // Another replica: no event in this process.
      await stage.store.settle(settleOf({ id: task.id, owner: alice.user }, statusOf(TaskState.Canceled, Date.now())));
      return message('too late');
    });
    const { result } = await alice.send('hello');
    expect(result.task.status.state).toBe('TASK_STATE_CANCELED');
    expect((await alice.list()).totalSize).toBe(1);
  });

  it('becomes the message of COMPLETED when the client was told of a task (R-21)', async () => {
    const gate = new Gate();
    const alice = stage.play(async () => {
      await gate.pass();
      return message('hello', { mood: 'good' });
    });
    const { id } = await alice.start('hello');
    gate.open();
    const task = await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    expect(task.status.message).toMatchObject({
      role: 'ROLE_AGENT',
      taskId: id,
      parts: [{ text: 'hello' }],
      metadata: { mood: 'good' },
    });
    expect(task.history.at(-1)).toEqual(task.status.message);
  });

  it('becomes the message of COMPLETED when the skill has told of its task (R-21)', async () => {
    const alice = stage.play(async (task) => {
      await task.working();
      return message('hello');
    });
    const task = await alice.task('hello');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task.status.message)).toBe('hello');
  });

  it('never undoes a state that the skill has set (LIFE-07)', async () => {
    const alice = stage.play(async (task) => {
      await task.fail('No.');
      return message('hello');
    });
    const task = await alice.task('hello');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
  });
});

describe('A skill that answers with Messages', () => {
  let stage: Stage;
  let store: GatedStore;

  beforeAll(async () => {
    store = new GatedStore();
    stage = await startStage({ store, taskTimeout: 500 });
  });
  afterAll(() => stage.agent.close());

  it.each([
    ['a Message', () => message('hi'), [{ text: 'hi' }]],
    ['a string', () => 'hi', [{ text: 'hi' }]],
    ['a value', () => ({ a: 1 }), [{ data: { a: 1 } }]],
    ['null', () => null, [{ data: null }]],
    ['parts', () => [textPart('a'), dataPart(1)], [{ text: 'a' }, { data: 1 }]],
  ])('makes a Message of %s, and never a row (R-21)', async (_name, work, parts) => {
    const before = store.calls.length;
    const { result } = await stage.play(work).send('go', SPEAKER);
    expect(result.message).toMatchObject({ role: 'ROLE_AGENT', parts });
    expect(result).not.toHaveProperty('task');
    expect(store.calls).toHaveLength(before);
  });

  it('writes no row after 50 ms either (R-21)', async () => {
    const before = store.calls.length;
    const alice = stage.play(async () => {
      await new Promise((resolve) => setTimeout(resolve, 80));
      return 'slow';
    });
    expect((await alice.send('go', SPEAKER)).result.message.parts).toEqual([{ text: 'slow' }]);
    expect(store.calls).toHaveLength(before);
  });

  it('is waited for, whatever returnImmediately says (R-21)', async () => {
    const alice = stage.play(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return 'hi';
    });
    const { result } = await alice.send('go', { ...SPEAKER, configuration: { returnImmediately: true } });
    expect(textOf(result.message)).toBe('hi');
  });

  it.each([
    ['working', (task: TaskContext) => task.working()],
    ['progress', (task: TaskContext) => task.progress('x')],
    ['artifact', (task: TaskContext) => task.artifact({ parts: [] })],
    ['complete', (task: TaskContext) => task.complete()],
    ['fail', (task: TaskContext) => task.fail()],
    ['reject', (task: TaskContext) => task.reject()],
    ['requireInput', (task: TaskContext) => task.requireInput()],
    ['requireAuth', (task: TaskContext) => task.requireAuth('x')],
  ] as [string, (task: TaskContext) => Promise<unknown>][])(
    'has no task: %s() throws (R-21)',
    async (_name, mutate) => {
      let refusal: unknown;
      const before = store.calls.length;
      const alice = stage.play(async (task) => {
        await mutate(task).catch((error: unknown) => (refusal = error));
        return 'hi';
      });
      expect(textOf((await alice.send('go', SPEAKER)).result.message)).toBe('hi');
      expect(refusal).toMatchObject({ code: 'TASK_ENDED' });
      expect(store.calls).toHaveLength(before);
    },
  );

  it.each([
    [
      'throws',
      () => {
        throw new Error('SECRET');
      },
      -32603,
    ],
    ['gives a task no-result', () => undefined, -32006],
    ['gives what is no JSON', () => NaN, -32603],
    ['streams', () => of('a', 'b'), -32603],
  ])('that %s is answered with an error (R-21, B-10)', async (_name, work, code) => {
    const before = store.calls.length;
    const { error, text } = await stage.play(work).send('go', SPEAKER);
    expect(error.code).toBe(code);
    expect(text).not.toContain('SECRET');
    expect(store.calls).toHaveLength(before);
  });

  it('may stream its Message', async () => {
    expect(textOf((await stage.play(() => of(message('hi'))).send('go', SPEAKER)).result.message)).toBe('hi');
  });

  it('that takes too long is answered with an error, and its slot is free again (LIFE-05a, CAP-03)', async () => {
    const alice = stage.play(() => new Promise(() => undefined));
    const { error } = await alice.send('go', SPEAKER);
    expect(error).toMatchObject({ code: -32603, message: 'task timed out' });
    expect(stage.agent.service.statistics().liveRuns).toBe(0);
  });
});

@Injectable()
class LetterSkills {
  source = new Subject<string>();
  subscriptions = 0;

  @Skill('letters')
  @UseInterceptors({
    intercept: (_: ExecutionContext, next: CallHandler) => next.handle().pipe(map((item) => `<${String(item)}>`)),
  } satisfies NestInterceptor)
  letters(@SkillText() text: string): unknown {
    switch (text) {
      case 'observable':
        return of('a', 'b', 'c');
      case 'empty':
        return of();
      case 'endless':
        return new Observable((subscriber) => {
          this.subscriptions++;
          subscriber.next('first');
          return () => this.subscriptions--;
        });
      case 'fails':
        return from(['a']).pipe(thenFail());
      default:
        return text;
    }
  }

  @Skill('gathered')
  @UseInterceptors({
    intercept: (_: ExecutionContext, next: CallHandler) => next.handle().pipe(toArray()),
  } satisfies NestInterceptor)
  gathered(): unknown {
    return of('a', 'b');
  }

  @Skill('plain')
  @UseInterceptors({ intercept: (_: ExecutionContext, next: CallHandler) => next.handle() } satisfies NestInterceptor)
  plain(@SkillText() text: string): unknown {
    switch (text) {
      case 'generator':
        return (function* () {
          yield 'a';
          yield 'b';
        })();
      case 'async':
        return (async function* () {
          yield 'a';
          yield 'b';
        })();
      case 'message':
        return message('hi');
      case 'nothing':
        return undefined;
      case 'null':
        return null;
      default:
        return { value: text };
    }
  }

  @Skill('swallowed')
  @UseInterceptors({ intercept: () => of('from the cache') } satisfies NestInterceptor)
  swallowed(): unknown {
    this.subscriptions++;
    return 'computed';
  }
}

describe('Through an interceptor', () => {
  let agent: Agent;
  let skills: LetterSkills;

  beforeAll(async () => {
    agent = await startAgent({ skills: [LetterSkills] });
    skills = agent.app.get(LetterSkills);
  });
  afterAll(() => agent.close());

  const ask = (skill: string, text: string) => newcomer(agent.url).task(text, { message: { metadata: { skill } } });
  const partsOf = ({ artifacts }: WireTask) =>
    (artifacts as WireTask['artifacts'] | undefined)?.map(({ parts }) => parts);

  it('an Observable keeps streaming, its items mapped one by one', async () => {
    const task = await ask('letters', 'observable');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(task)).toEqual([[{ text: '<a>' }, { text: '<b>' }, { text: '<c>' }]]);
  });

  it('an empty Observable is COMPLETED without an artifact', async () => {
    const task = await ask('letters', 'empty');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(task)).toBeUndefined();
  });

  it('a failing Observable fails, after its items', async () => {
    const task = await ask('letters', 'fails');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(partsOf(task)).toEqual([[{ text: '<a>' }]]);
  });

  it('a plain value is mapped, and one artifact', async () => {
    expect(partsOf(await ask('letters', 'word'))).toEqual([[{ text: '<word>' }]]);
  });

  it('an endless Observable is torn down when the task is cancelled (R-34)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start('endless', { message: { metadata: { skill: 'letters' } } });
    await alice.taskWhen(id, ({ artifacts }) => (artifacts as unknown) !== undefined);
    expect(skills.subscriptions).toBe(1);
    await alice.cancel(id);
    await until(() => skills.subscriptions === 0, 'The teardown');
  });

  it('an Observable that is gathered into a list is one chunk', async () => {
    expect(partsOf(await ask('gathered', 'x'))).toEqual([[{ data: ['a', 'b'] }]]);
  });

  it.each([
    ['generator', [[{ text: 'a' }, { text: 'b' }]]],
    ['async', [[{ text: 'a' }, { text: 'b' }]]],
    ['nothing', undefined],
    ['null', [[{ data: null }]]],
    ['other', [[{ data: { value: 'other' } }]]],
  ])('a result of every kind arrives as it is: %s', async (text, parts) => {
    const task = await ask('plain', text);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(partsOf(task)).toEqual(parts);
  });

  it('a direct Message arrives as one (SEND-19)', async () => {
    const { result } = await newcomer(agent.url).send('message', { message: { metadata: { skill: 'plain' } } });
    expect(textOf(result.message)).toBe('hi');
  });

  it('a result that the interceptor gives instead is taken, and the skill not called', async () => {
    const before = skills.subscriptions;
    expect(partsOf(await ask('swallowed', 'x'))).toEqual([[{ text: 'from the cache' }]]);
    expect(skills.subscriptions).toBe(before);
  });
});

describe('With a store that is stuck,', () => {
  let stage: Stage;
  let store: GatedStore;

  beforeAll(async () => {
    store = new GatedStore();
    stage = await startStage({ store, maxTaskBytes: -1 });
  });
  afterAll(() => stage.agent.close());

  it.each([
    [
      'generator',
      (pull: () => string) =>
        (function* () {
          for (;;) yield pull();
        })(),
    ],
    [
      'async generator',
      (pull: () => string) =>
        (async function* () {
          for (;;) yield pull();
        })(),
    ],
  ] as [string, (pull: () => string) => unknown][])(
    'an endless %s is pulled at most 256 items ahead of it (R-34)',
    async (_name, make) => {
      let pulled = 0;
      const gate = store.hold('append', 'before');
      const alice = stage.play(() => make(() => `${pulled++}`));
      const { id } = await alice.start('go');
      await gate.whenWaiting();
      await until(() => pulled === 256);
      // A whole answer later it is still no more.
      await alice.get(id);
      expect(pulled).toBe(256);
      expect((await alice.cancel(id)).result.status.state).toBe('TASK_STATE_CANCELED');
      gate.open();
      await until(() => stage.agent.service.statistics().liveRuns === 0);
      // The write that was held up lost against the cancel: nothing of it is on the task.
      expect(await alice.get(id)).not.toHaveProperty('artifacts');
    },
  );

  it('an Observable with more than 16 MiB to store fails its run and is torn down (R-34)', async () => {
    const gate = store.hold('append', 'before');
    const source = new Subject<string>();
    const alice = stage.play(() => source);
    const { id } = await alice.start('go');
    await until(() => source.observed);
    const megabyte = 'x'.repeat(1024 * 1024);
    for (let item = 0; item < 17 && source.observed; item++) source.next(megabyte);
    expect(source.observed).toBe(false);
    gate.open();
    const task = await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_FAILED');
    expect(textOf(task.status.message)).toBe('skill handler failed');
  });
});

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

/** Lets the items through, and then fails. */
function thenFail<T>() {
  return (source: Observable<T>): Observable<T> =>
    new Observable((subscriber) =>
      source.subscribe({
        next: (item) => {
          subscriber.next(item);
        },
        complete: () => {
          subscriber.error(new Error('SECRET'));
        },
      }),
    );
}

function takeFirst<T>(count: number) {
  return (source: Observable<T>): Observable<T> =>
    new Observable((subscriber) => {
      let left = count;
      if (left === 0) {
        subscriber.complete();
        return undefined;
      }
      return source.subscribe((item) => {
        subscriber.next(item);
        if (--left === 0) subscriber.complete();
      });
    });
}
