import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rawPart, TaskState, textPart, urlPart, type Part, type TaskContext, type TaskUpdate } from 'nestjs-a2a';
import { textOf, type Caller, type WireTask } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { LogRecorder } from '../support/log-recorder.js';
import { startStage, type Stage } from '../support/puppet.js';
import { rpc, userMessage } from '../support/rpc.js';
import { until } from '../support/until.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

/** Every mutation, each with what it needs. */
const MUTATIONS = [
  ['working', (task) => task.working('x')],
  ['progress', (task) => task.progress('x')],
  ['artifact', (task) => task.artifact({ parts: [textPart('x')] })],
  ['complete', (task) => task.complete('x')],
  ['fail', (task) => task.fail('x')],
  ['reject', (task) => task.reject('x')],
  ['requireInput', (task) => task.requireInput('x')],
  ['requireAuth', (task) => task.requireAuth('x')],
] as const satisfies readonly (readonly [string, (task: TaskContext) => Promise<unknown>])[];

describe('The task context', () => {
  let stage: Stage;
  let store: GatedStore;
  let log: LogRecorder;
  let rejections: unknown[];
  const note = (reason: unknown) => rejections.push(reason);

  beforeAll(async () => {
    store = new GatedStore();
    log = new LogRecorder();
    stage = await startStage({ store, extensions: [{ uri: 'urn:x' }] }, { logger: log });
    process.on('unhandledRejection', note);
  });
  afterAll(async () => {
    process.off('unhandledRejection', note);
    await stage.agent.close();
  });
  beforeEach(() => {
    rejections = [];
    store.calls.splice(0);
  });
  afterEach(async () => {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(rejections).toEqual([]);
  });

  /** Plays the skill to its end, and makes its expectations those of the test. */
  async function act(
    work: (task: TaskContext, alice: Caller) => unknown,
    content: string | Part[] = 'go',
  ): Promise<WireTask> {
    const failures: unknown[] = [];
    const alice = stage.play(async (task) => {
      try {
        return await work(task, alice);
      } catch (error) {
        failures.push(error);
        throw error;
      }
    });
    const task = await alice.task(content);
    if (failures.length > 0) throw failures[0];
    return task;
  }

  const versionOf = async (task: TaskContext): Promise<number> =>
    (await store.read({ id: task.id, owner: task.owner })).version;

  describe('says', () => {
    it('whose task it is, and what came with the request (CTX-01, SEND-17, VER-05)', async () => {
      const seen: unknown[] = [];
      const alice = stage
        .play((task) => {
          const { owner, tenant, scopes, configuration, metadata, requestedExtensions } = task;
          seen.push({ owner, tenant, scopes, configuration, metadata, requestedExtensions });
        })
        .with({ tenant: 't', scopes: 'b a' });
      const params = {
        message: userMessage('go'),
        configuration: { acceptedOutputModes: ['text/plain'], historyLength: 3 },
        metadata: { trace: { id: 1 } },
      };
      const headers = { 'x-tenant': 't', 'x-scopes': 'b a', 'a2a-extensions': 'urn:x, urn:y' };
      await rpc(stage.agent.url, 'SendMessage', params, { user: alice.user, headers });
      expect(seen).toEqual([
        {
          owner: alice.user,
          tenant: 't',
          scopes: ['b', 'a'],
          configuration: params.configuration,
          metadata: params.metadata,
          requestedExtensions: ['urn:x', 'urn:y'],
        },
      ]);
    });

    it('what the task is, as last stored (CTX-01)', async () => {
      await act(async (task) => {
        expect(task.task()).toMatchObject({ id: task.id, status: { state: TaskState.Submitted } });
        const written = task.working('On it.');
        expect(task.task().status.state).toBe(TaskState.Submitted);
        await written;
        expect(task.task().status).toMatchObject({
          state: TaskState.Working,
          message: { parts: [{ text: 'On it.' }] },
        });
        await task.artifact({ artifactId: 'a', parts: [textPart('x')] });
        expect(task.task()).toEqual((await store.read({ id: task.id, owner: task.owner })).task);
      });
    });

    it('what the message is, with the ids of the task (CTX-01, SEND-03b)', async () => {
      await act((task) => {
        const { contextId } = task.task();
        expect(task.message).toMatchObject({ taskId: task.id, contextId, role: 'ROLE_USER', parts: [{ text: 'go' }] });
        expect(task.message.messageId).toMatch(UUID);
      });
    });

    it('nothing that can be used to change it (CTX-01, DM-15, B-70)', async () => {
      const task = await act(async (context) => {
        context.task().status.state = TaskState.Failed;
        context.task().history?.splice(0);
        context.message.parts.splice(0);
        context.metadata['changed'] = true;
        context.configuration.historyLength = 0;
        try {
          (context.requestedExtensions as string[]).push('admin');
        } catch {
          // What cannot be changed is as good as a copy.
        }
        expect(context.message.parts).toHaveLength(1);
        expect(context.metadata).toEqual({});
        expect(context.configuration).toEqual({});
        expect(context.requestedExtensions).not.toContain('admin');
        await context.working();
      });
      expect(task.history.map(textOf)).toEqual(['go']);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    });

    it('the same of the caller however the skill has changed what it was given (DM-15, S-12)', async () => {
      const seen: unknown[] = [];
      const alice = stage
        .play((task) => {
          try {
            (task.scopes as string[]).push('admin');
          } catch {
            // As good as a copy.
          }
          seen.push(task.scopes);
        })
        .with({ scopes: 'a' });
      await alice.task('go');
      expect(seen).toEqual([['a']]);
    });
  });

  describe('working()', () => {
    it('moves to WORKING, with a message when it has content and without when not (CTX-04a)', async () => {
      await act(async (task) => {
        await task.working('One', textPart('two'));
        expect(task.task().status.message?.parts).toEqual([{ text: 'One' }, { text: 'two' }]);
      });
      await act(async (task) => {
        await task.working();
        expect(task.task().status).not.toHaveProperty('message');
        expect(task.task().history).toHaveLength(1);
      });
    });

    it('does nothing once WORKING: no write, no version, no message, not even un-awaited (CTX-04b)', async () => {
      await act(async (task) => {
        await Promise.all([task.working('One.'), task.working('Two.')]);
        const before = await store.read({ id: task.id, owner: task.owner });
        const writes = store.calls.length;
        await task.working('Three.');
        await task.working();
        expect(store.calls).toHaveLength(writes);
        expect(await store.read({ id: task.id, owner: task.owner })).toEqual(before);
        expect(before.version).toBe(1);
        expect(before.task.history?.map(({ parts }) => parts)).toEqual([[{ text: 'go' }], [{ text: 'One.' }]]);
      });
    });
  });

  it('progress() reports in WORKING, as often as it is called, and merges metadata (CTX-12, B-42)', async () => {
    const task = await act(async (context) => {
      await context.progress('One.', { a: 1, both: 1 });
      expect(context.task().status).toMatchObject({ state: TaskState.Working, message: { parts: [{ text: 'One.' }] } });
      await context.progress([textPart('Two.'), 'and three.'], { b: 2, both: 2 });
      expect(await versionOf(context)).toBe(2);
      await context.working('idempotent');
      expect(await versionOf(context)).toBe(2);
    });
    expect(task.history.map(textOf)).toEqual(['go', 'One.', 'Two.and three.']);
    expect(task.metadata).toMatchObject({ a: 1, b: 2, both: 2, 'a2a.skill': 'puppet' });
  });

  describe('artifact()', () => {
    it('records an artifact, replaces it, or adds to it (CTX-05)', async () => {
      const task = await act(async (context) => {
        expect(await context.artifact({ artifactId: 'a', name: 'A', parts: [textPart('1')] })).toBe('a');
        await context.artifact({ artifactId: 'b', parts: [textPart('2')] });
        await context.artifact({ artifactId: 'a', parts: [textPart('3')] });
        await context.artifact({ artifactId: 'b', parts: [textPart('4')] }, { append: true });
      });
      expect(task.artifacts).toEqual([
        { artifactId: 'a', parts: [{ text: '3' }] },
        { artifactId: 'b', parts: [{ text: '2' }, { text: '4' }] },
      ]);
    });

    it('makes events that say what they are: whole or chunk, last or not, with metadata (CTX-06, CTX-07b)', async () => {
      const updates: TaskUpdate[] = [];
      const create = store.create.bind(store);
      store.create = (draft) => {
        updates.push(...draft.updates);
        return create(draft);
      };
      const task = await act(async (context) => {
        void context.artifact({ artifactId: 'a', parts: [textPart('1')] }, { append: true });
        void context.artifact({ artifactId: 'a', parts: [textPart('2')] }, { append: true, metadata: { n: 2 } });
        void context.artifact({ artifactId: 'a', parts: [textPart('3')] }, { append: true, lastChunk: true });
        await context.artifact({ artifactId: 'b', parts: [textPart('4')] });
      });
      store.create = create;
      const event = (text: string, fields: object) => ({
        kind: 'artifact',
        artifact: { artifactId: text === '4' ? 'b' : 'a', parts: [{ text }] },
        append: false,
        lastChunk: false,
        ...fields,
      });
      expect(updates).toEqual([
        event('1', {}),
        event('2', { append: true, metadata: { n: 2 } }),
        event('3', { append: true, lastChunk: true }),
        event('4', {}),
      ]);
      expect(task.artifacts[0]?.parts).toEqual([{ text: '1' }, { text: '2' }, { text: '3' }]);
    });

    it('mints an id and tells it (CTX-07a)', async () => {
      let id = '';
      const task = await act(async (context) => {
        id = await context.artifact({ parts: [urlPart('https://x.example')] });
        await context.artifact({ artifactId: id, parts: [rawPart(Buffer.from('x'))] }, { append: true });
      });
      expect(id).toMatch(UUID);
      expect(task.artifacts).toEqual([{ artifactId: id, parts: [{ url: 'https://x.example' }, { raw: 'eA==' }] }]);
    });

    it.each([undefined, null, []])('makes no parts of %p an empty array, in a delta too (DM-09c)', async (parts) => {
      const task = await act(async (context) => {
        const artifact = parts === undefined ? { artifactId: 'a' } : { artifactId: 'a', parts };
        await context.artifact(artifact);
        await context.artifact(artifact, { append: true });
      });
      expect(task.artifacts).toEqual([{ artifactId: 'a', parts: [] }]);
    });

    it('copies what it is given (DM-15, B-70)', async () => {
      const task = await act(async (context) => {
        const data = { a: 1 };
        const parts: Part[] = [{ data }];
        const recorded = context.artifact({ artifactId: 'a', parts });
        data.a = 2;
        parts.push(textPart('late'));
        await recorded;
      });
      expect(task.artifacts[0]?.parts).toEqual([{ data: { a: 1 } }]);
    });
  });

  it.each([
    ['complete', 'COMPLETED'],
    ['fail', 'FAILED'],
    ['reject', 'REJECTED'],
    ['requireInput', 'INPUT_REQUIRED'],
    ['requireAuth', 'AUTH_REQUIRED'],
  ] as const)('%s() ends the run in %s, with an optional message (CTX-08a)', async (end, state) => {
    const told = await act((task) => task[end]('Because', textPart('so.')));
    expect(told.status).toMatchObject({
      state: `TASK_STATE_${state}`,
      message: {
        role: 'ROLE_AGENT',
        taskId: told.id,
        contextId: told.contextId,
        parts: [{ text: 'Because' }, { text: 'so.' }],
      },
    });
    const silent = await act((task) => task[end]());
    expect(silent.status.state).toBe(`TASK_STATE_${state}`);
    expect(silent.status).not.toHaveProperty('message');
  });

  it('requireAuth() without a word is worth a warning (LIFE-12)', async () => {
    log.lines.splice(0);
    await act((task) => task.requireAuth('Sign in at https://auth.example.com.'));
    expect(log.of('warn')).toEqual([]);
    const { id } = await act((task) => task.requireAuth());
    expect(log.of('warn').some((line) => line.includes(id) && line.includes('authentication'))).toBe(true);
  });

  describe.each(['complete', 'fail', 'reject', 'requireInput', 'requireAuth'] as const)('after %s()', (end) => {
    it.each(MUTATIONS)('%s() rejects and changes nothing, awaited or not (CTX-09, FAULT-01)', async (_name, mutate) => {
      for (const isAwaited of [true, false]) {
        let refusal: unknown;
        const task = await act(async (context) => {
          const ended = context[end]('End.');
          if (isAwaited) await ended;
          refusal = await mutate(context).catch((error: unknown) => error);
          await ended;
          void mutate(context);
          expect(await versionOf(context)).toBe(1);
        });
        expect(refusal).toMatchObject({ code: 'TASK_ENDED' });
        expect(textOf(task.status.message)).toBe('End.');
        expect(task).not.toHaveProperty('artifacts');
      }
    });
  });

  it.each(MUTATIONS)(
    '%s() stores, then resolves: what it resolves to is in the store (CTX-10a, LIFE-01b)',
    async (_name, mutate) => {
      await act(async (task) => {
        const gate = store.hold('create', 'before');
        let isResolved = false;
        const mutated = mutate(task).then(() => (isResolved = true));
        await gate.whenWaiting();
        expect(isResolved).toBe(false);
        gate.open();
        await mutated;
        expect(await versionOf(task)).toBe(1);
      });
    },
  );

  it('applies what is not awaited one by one, in call order, and takes few writes for it (CTX-10b, R-34)', async () => {
    const task = await act(async (context) => {
      void context.working('0');
      for (let step = 1; step < 50; step++) {
        void context.progress(`${step}`);
        void context.artifact({ artifactId: 'a', parts: [textPart(`${step}`)] }, { append: true });
      }
      await context.complete('50');
    });
    expect(task.history.map(textOf).slice(1)).toEqual(Array.from({ length: 51 }, (_, index) => `${index}`));
    expect(task.artifacts[0]?.parts.map(({ text }) => text)).toEqual(
      Array.from({ length: 49 }, (_, index) => `${index + 1}`),
    );
    expect(store.calls.map(({ operation }) => operation)).toEqual(['create']);
  });

  const odd: [string, () => unknown][] = [
    ['NaN', () => NaN],
    ['Infinity', () => Infinity],
    ['a function', () => () => 1],
    ['a symbol', () => Symbol('s')],
    ['a bigint', () => 1n],
    ['a cycle', cycle],
    ['a Map', () => new Map()],
  ];

  it.each(odd)('refuses %s in every place, and leaves task and version as they were (CTX-11)', async (_name, make) => {
    const bad = make() as never;
    const task = await act(async (context) => {
      await context.artifact({ artifactId: 'a', parts: [] });
      const before = context.task();
      for (const mutate of [
        () => context.working({ data: bad }),
        () => context.progress({ data: bad }),
        () => context.progress('x', { bad }),
        () => context.artifact({ parts: [{ data: bad }] }),
        () => context.artifact({ parts: [{ text: 'x', metadata: { bad } }] }),
        () => context.artifact({ parts: [], metadata: { bad } }),
        () => context.artifact({ parts: [], extensions: bad }),
        () => context.artifact({ parts: [] }, { metadata: { bad } }),
        () => context.complete({ data: bad }),
        () => context.fail({ text: 'x', metadata: { bad } }),
        () => context.requireInput({ data: [{ deep: bad }] as never }),
      ]) {
        await expect(mutate()).rejects.toThrow();
        void mutate();
      }
      expect(await versionOf(context)).toBe(1);
      expect(context.task()).toEqual(before);
    });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it.each([
    ['no content', {}],
    ['two contents', { text: 'x', url: 'y' }],
    ['a text that is none', { text: 5 }],
    ['raw that is no base64', { raw: '***' }],
    ['nothing', null],
    ['a number', 5],
  ])('refuses a part with %s, and leaves task and version as they were (DM-03, CTX-11)', async (_name, part) => {
    await act(async (context) => {
      await context.working();
      for (const mutate of [
        () => context.progress(part as never),
        () => context.artifact({ parts: [part as never] }),
        () => context.complete(part as never),
      ]) {
        await expect(mutate()).rejects.toThrow();
      }
      expect(await versionOf(context)).toBe(1);
    });
  });

  it.each(MUTATIONS)(
    '%s() that nobody awaits and that fails ends neither process nor task (FAULT-01)',
    async (_name, mutate) => {
      const alice = stage.play(async (task) => {
        await task.artifact({ artifactId: 'a', parts: [] });
        store.fail('append', new Error('down'));
        void mutate(task);
        void mutate(task).then(
          () => undefined,
          () => undefined,
        );
        const failed = until(() => store.count('append') > 0);
        await failed;
        store.fail('append', undefined);
        return 'made it';
      });
      const task = await alice.task('go');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    },
  );

  describe('once the run has lost its task', () => {
    it.each(MUTATIONS)('%s() rejects and changes nothing (CTX-10a, LIFE-08a)', async (_name, mutate) => {
      const gate = new Gate();
      const over = new Gate();
      const refusals: unknown[] = [];
      const alice = stage.play(async (task) => {
        await gate.pass();
        for (let round = 0; round < 2; round++) await mutate(task).catch((error: unknown) => refusals.push(error));
        over.open();
      });
      const { id } = await alice.start('go');
      await gate.whenWaiting();
      const { result } = await alice.cancel(id);
      gate.open();
      await over.pass();
      expect(refusals).toEqual(Array<unknown>(2).fill(expect.objectContaining({ code: 'SETTLED_ELSEWHERE' })));
      expect(await alice.get(id)).toEqual(result);
    });
  });

  describe('has a signal', () => {
    it('that tells of a cancel, and why (CTX-03)', async () => {
      const reasons: unknown[] = [];
      const alice = stage.play(
        (task) =>
          new Promise<void>((resolve) => {
            task.signal.addEventListener('abort', () => {
              reasons.push(task.signal.reason);
              resolve();
            });
          }),
      );
      const { id } = await alice.start('go');
      await until(() => stage.agent.service.statistics().liveRuns === 1);
      expect(reasons).toEqual([]);
      await alice.cancel(id);
      await until(() => reasons.length === 1);
      expect(reasons).toEqual([expect.objectContaining({ code: 'SETTLED_ELSEWHERE' })]);
    });

    it('that is silent as long as nothing stops the run, and after it', async () => {
      let signal: AbortSignal | undefined;
      await act((task) => {
        signal = task.signal;
      });
      expect(signal?.aborted).toBe(false);
    });
  });

  it('follows the task no longer than its run (B-55)', async () => {
    for (const work of [
      () => 'x',
      () => {
        throw new Error('x');
      },
      (task: TaskContext) => task.requireInput(),
    ]) {
      await stage.play(work).send('go');
    }
    expect(stage.agent.service.statistics()).toMatchObject({ liveRuns: 0, subscribers: 0 });
  });
});

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}
