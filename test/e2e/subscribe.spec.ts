import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { MemoryTaskStore, textPart, type TaskContext } from 'nestjs-a2a';
import { ADAPTERS, headerPrincipal, startAgent } from '../support/agent.js';
import { newcomer, textOf, type Caller } from '../support/caller.js';
import { callAndLeave } from '../support/departing-client.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { PUPPET } from '../support/puppet.js';
import { EchoSkill } from '../support/wire-skills.js';
import { fold, openStream, Streamer, type StreamReader } from '../support/stream-reader.js';
import { startStreamStage, type StreamStage } from '../support/stream-stage.js';
import { until } from '../support/until.js';

const ended = ({ status }: { readonly status: { readonly state: string } }) => status.state === 'TASK_STATE_COMPLETED';

describe.each(ADAPTERS)('a subscription on %s', (adapter) => {
  let store: GatedStore;
  let stage: StreamStage;

  beforeAll(async () => {
    store = new GatedStore();
    stage = await startStreamStage({ store }, { adapter });
  });
  afterEach(() => stage.quiet());
  afterAll(() => stage.agent.close());

  /** A task whose run waits for the gate, and goes on with what it is given. */
  async function heldTask(then: (task: TaskContext) => unknown = () => 'done') {
    const gate = new Gate();
    const { alice, streams } = stage.stream(async (task) => {
      await task.working();
      await gate.pass(task.signal);
      return then(task);
    });
    const { id } = await alice.start('go');
    await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_WORKING');
    return { gate, alice, streams, id };
  }

  describe('is refused, in JSON with the status 200,', () => {
    async function refusal(opening: Promise<StreamReader>) {
      const stream = await opening;
      await stream.whenEnded();
      expect(stream.status).toBe(200);
      expect(stream.header('content-type')).toBe('application/json');
      expect(stream.body).toMatchObject({ jsonrpc: '2.0', id: 'q', error: { code: expect.any(Number) } });
      return stream.body.error;
    }
    const call = { id: '"q"', headers: { accept: 'text/event-stream' } };

    it.each([{}, { id: '' }, { id: 5 }, { id: null }])('for %j (SUB-01)', async (params) => {
      const error = await refusal(openStream(stage.agent.url, 'SubscribeToTask', params, call));
      expect(error.code).toBe(-32602);
    });

    it('for a task that there is not (SUB-01, B-49)', async () => {
      const { streams } = stage.stream(() => 'x');
      expect(await refusal(streams.subscribe('no-such-task', call))).toMatchObject({ code: -32001 });
    });

    it('for a task of somebody else, in the same words (SUB-01, ISO-03, STRM-11b)', async () => {
      const { gate, alice, id } = await heldTask();
      const strangers = [
        { user: newcomer(stage.agent.url).user },
        { user: alice.user, headers: { 'x-tenant': 't' } },
        { user: alice.user, headers: { 'x-scopes': 'read' } },
      ];
      for (const stranger of strangers) {
        const streams = new Streamer(stage.agent.url, { ...call, ...stranger });
        const answer = await refusal(streams.subscribe(id));
        const unknown = await refusal(streams.subscribe('no-such-task'));
        expect(JSON.stringify(answer).replaceAll(id, 'ID')).toBe(
          JSON.stringify(unknown).replaceAll('no-such-task', 'ID'),
        );
      }
      gate.open();
    });

    it.each([
      ['COMPLETED', () => 'x'],
      ['FAILED', (task: TaskContext) => task.fail('no')],
      ['REJECTED', (task: TaskContext) => task.reject('no')],
    ])('for a task that is %s (SUB-02, B-49)', async (state, work) => {
      const { alice, streams } = stage.stream(work);
      const { id, status } = await alice.task('go');
      expect(status.state).toBe(`TASK_STATE_${state}`);
      expect((await refusal(streams.subscribe(id, call))).code).toBe(-32004);
    });

    it('for a task that was cancelled (SUB-02)', async () => {
      const { alice, streams } = stage.stream((task) => task.requireInput());
      const { id } = await alice.task('go');
      await alice.cancel(id);
      expect((await refusal(streams.subscribe(id, call))).code).toBe(-32004);
    });

    it('when the store fails (STRM-09b, CAP-06)', async () => {
      const { gate, streams, id } = await heldTask();
      store.fail('read', new Error('SECRET'));
      const error = await refusal(streams.subscribe(id, call));
      store.fail('read', undefined);
      expect(error.code).toBe(-32603);
      expect(JSON.stringify(error)).not.toContain('SECRET');
      gate.open();
    });
  });

  it('begins with the task as it is stored, and ends with it (SUB-04a, STRM-03, B-45)', async () => {
    const { gate, alice, streams, id } = await heldTask();
    const stored = await alice.get(id);
    const stream = await streams.subscribe(id);
    const [first] = await stream.whenFrames(1);
    expect(first!.result).toEqual({ task: stored });
    expect(Number(first!.id)).toBe((await store.read({ id, owner: alice.user })).version);
    gate.open();
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['WORKING', 'COMPLETED']);
    expect(fold(stream.frames)).toEqual(await alice.get(id));
  });

  it('loses nothing that happens while the task is read, and shows nothing twice (SUB-04b, SUB-05)', async () => {
    const steps = new Gate();
    const { gate, alice, streams, id } = await heldTask(async (task) => {
      for (const text of ['a', 'b', 'c']) {
        await task.artifact({ artifactId: 'x', parts: [textPart(text)] }, { append: true });
        await steps.pass();
      }
    });
    // The first read only says whether there is a task; the second one is what is shown.
    const reading = store.hold('read', 'before');
    const opening = streams.subscribe(id);
    await reading.whenWaiting();
    reading.letGo();
    await reading.whenWaiting();
    gate.open();
    await steps.whenWaiting();
    // "a" is in the snapshot, and was published to the subscription that is already there.
    const answering = store.hold('read', 'after');
    reading.open();
    await answering.whenWaiting();
    steps.letGo();
    await steps.whenWaiting();
    // "b" was published between the reading and the answer.
    answering.open();
    const stream = await opening;
    steps.open();
    await stream.whenEnded();
    expect(stream.frames[0]!.result.task.artifacts.map(textOf)).toEqual(['a']);
    expect(stream.frames.slice(1, 3).map(({ result }) => textOf(result.artifactUpdate.artifact))).toEqual(['b', 'c']);
    expect(new Set(stream.ids).size).toBe(stream.ids.length);
    expect(fold(stream.frames)).toEqual(await alice.get(id));
  });

  it('gives its seat back when its client leaves while the store hangs (REP-05, CAP-06)', async () => {
    const { gate, alice, id } = await heldTask();
    const reading = store.hold('read', 'before');
    const call = callAndLeave(stage.agent.url, 'SubscribeToTask', { id }, alice.user);
    await reading.whenWaiting();
    // The second read is made from the seat.
    reading.letGo();
    await reading.whenWaiting();
    expect(stage.agent.service.statistics().seats).toBe(1);
    await call.leave();
    await until(() => stage.agent.service.statistics().seats === 0, 'The end of the stream');
    expect(reading.waiting).toBe(1);
    reading.open();
    gate.open();
  });

  it('stays open while the task is paused, and through its next run (SUB-03, R-05)', async () => {
    const { alice, streams } = stage.stream((task) => task.requireInput('What else?'));
    const { id } = await alice.task('go');
    const stream = await streams.subscribe(id);
    await stream.whenFrames(1);
    await alice.follow(id, 'this');
    await stream.whenFrames(3);
    expect(stream.end).toBeUndefined();
    stage.puppet.work = () => 'done';
    await alice.follow(id, 'that');
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['INPUT_REQUIRED', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    const { history: _history, ...rest } = await alice.get(id);
    expect(fold(stream.frames)).toMatchObject(rest);
  });

  it('ends when the task is cancelled, running or paused (STRM-03, STRM-08)', async () => {
    const held = await heldTask();
    const parked = stage.stream((task) => task.requireInput());
    const { id } = await parked.alice.task('go');
    for (const [{ alice, streams }, task] of [
      [held, held.id],
      [parked, id],
    ] as const) {
      const stream = await streams.subscribe(task);
      await stream.whenFrames(1);
      await alice.cancel(task);
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states.at(-1)).toBe('CANCELED');
    }
  });

  it('shows every subscriber the same, and ends for none because another leaves (STRM-07, B-62, STRM-10)', async () => {
    const { gate, alice, streams, id } = await heldTask(async (task) => {
      for (let index = 0; index < 50; index++) await task.progress(`Step ${index}.`);
    });
    const all = await Promise.all([1, 2, 3].map(() => streams.subscribe(id)));
    await Promise.all(all.map((stream) => stream.whenFrames(1)));
    expect(stage.agent.service.statistics()).toMatchObject({ seats: 3, subscribers: 2 });
    const [leaving, ...staying] = all;
    gate.open();
    await leaving!.whenFrames(5);
    leaving!.destroy();
    for (const stream of staying) expect(await stream.whenEnded()).toBe('clean');
    const [one, other] = staying.map(({ frames }) => frames.map(({ data, id }) => `${id} ${data}`));
    expect(one).toHaveLength(52);
    expect(other).toEqual(one);
    expect(leaving!.frames.map(({ data, id }) => `${id} ${data}`)).toEqual(one!.slice(0, leaving!.frames.length));
    expect(fold(staying[0]!.frames)).toEqual(await alice.get(id));
  });

  it('that begins at any moment adds up to the task (SUB-04, SUB-05, STRM-08)', async () => {
    for (let round = 0; round < 20; round++) {
      const moments = [0, 0, 0].map(() => 1 + Math.floor(Math.random() * 298));
      const reached = new Map(moments.map((moment) => [moment, new Gate()]));
      const { alice, streams } = stage.stream(async function* () {
        for (let index = 0; index < 300; index++) {
          // The skill goes on by itself: only the reader waits.
          reached.get(index)?.open();
          if (index % 10 === 0) await new Promise(setImmediate);
          yield `${index} `;
        }
      });
      const { id } = await alice.start('go');
      const opened = await Promise.all(
        moments.map(async (moment) => {
          await reached.get(moment)!.pass();
          return streams.subscribe(id);
        }),
      );
      await Promise.all(opened.map((stream) => stream.whenEnded()));
      const task = await alice.taskWhen(id, ended);
      expect(task.artifacts.map(textOf)).toEqual([Array.from({ length: 300 }, (_, index) => `${index} `).join('')]);
      for (const stream of opened) {
        // One that came too late was told so.
        if (stream.header('content-type') !== 'text/event-stream') expect(stream.body.error.code).toBe(-32004);
        else expect(fold(stream.frames)).toEqual(task);
      }
    }
  });
});

describe.each(ADAPTERS)('after a restart on %s', (adapter) => {
  it('a paused task can be subscribed to, and ends as resumed (B-61, SUB-04)', async () => {
    const store = new MemoryTaskStore();
    const before = await startStreamStage({ store }, { adapter });
    const { alice } = before.stream((task) => task.requireInput('What?'));
    const parked = await alice.task('go');
    await before.agent.close();
    const after = await startStreamStage({ store }, { adapter });
    const streams = new Streamer(after.agent.url, { user: alice.user });
    const stream = await streams.subscribe(parked.id);
    expect((await stream.whenFrames(1))[0]!.result).toEqual({ task: parked });
    after.puppet.work = () => 'done';
    await alice.at(after.agent.url).follow(parked.id, 'this');
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    await after.quiet();
    await after.agent.close();
  });

  it('a message to a paused task whose skill is gone shows its version, too (SSM-05a, LIFE-11a)', async () => {
    const store = new MemoryTaskStore();
    const before = await startStreamStage({ store }, { adapter });
    const { alice } = before.stream((task) => task.requireInput('What?'));
    const { id } = await alice.task('go', PUPPET);
    await before.agent.close();
    const after = await startAgent({ adapter, skills: [EchoSkill], options: { store } });
    const stream = await new Streamer(after.url, { user: alice.user }).send('this', { taskId: id });
    await stream.whenEnded();
    expect(stream.states).toEqual(['REJECTED']);
    expect(stream.ids).toEqual([(await store.read({ id, owner: alice.user })).version]);
    await after.close();
  });
});

describe.each(ADAPTERS)('closeOnInterrupted on %s', (adapter) => {
  const ask = (task: TaskContext) => task.requireInput('What else?');

  async function pausedStreams(closeOnInterrupted: 'send' | 'always' | 'never') {
    const stage = await startStreamStage({ streaming: { closeOnInterrupted } }, { adapter });
    const gate = new Gate();
    const { alice, streams } = stage.stream(async (task) => {
      await task.working();
      await gate.pass();
      await ask(task);
    });
    const sent = await streams.send('go');
    const { id } = (await sent.whenFrames(2))[0]!.result.task;
    const live = await streams.subscribe(id);
    await live.whenFrames(1);
    gate.open();
    await sent.whenFrames(3);
    await live.whenFrames(2);
    const parked = await streams.subscribe(id);
    await parked.whenFrames(1);
    return { stage, alice, id, all: { sent, live, parked } };
  }

  it.each([
    ['send', ['sent']],
    ['always', ['sent', 'live', 'parked']],
    ['never', []],
  ] as const)(
    '%s: when a task is paused, of all streams those end that were %j (R-05, SUB-03, SSM-02b)',
    async (value, closed) => {
      const { stage, alice, id, all } = await pausedStreams(value);
      const names = Object.keys(all) as (keyof typeof all)[];
      for (const name of closed) expect(await all[name].whenEnded()).toBe('clean');
      const open = names.filter((name) => !(closed as readonly string[]).includes(name));
      await until(() => stage.agent.service.statistics().seats === open.length);
      for (const name of open) expect(all[name].end).toBeUndefined();
      for (const name of names) expect(all[name].states.at(-1)).toBe('INPUT_REQUIRED');
      stage.puppet.work = () => 'done';
      await alice.follow(id, 'this');
      for (const name of open) {
        expect(await all[name].whenEnded()).toBe('clean');
        expect(all[name].states.slice(-3)).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
      }
      await stage.quiet();
      await stage.agent.close();
    },
  );
});

describe.each(ADAPTERS)('the caller of a stream on %s', (adapter) => {
  type Answer = { owner?: string | undefined; tenant?: string | undefined; scopes?: string[] | null } | null;

  /** An agent whose answer to who calls, and whose guard, change while streams are open. */
  async function start() {
    const host = { answer: undefined as ((request: never) => Answer) | undefined, denies: false, asked: 0, guarded: 0 };
    const guard: CanActivate = {
      canActivate: (context: ExecutionContext) => {
        host.guarded++;
        const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
        return !(host.denies && headers['x-user'] !== 'bob');
      },
    };
    const stage = await startStreamStage(
      {
        streaming: { keepAliveMs: 15 },
        guards: [guard],
        principal: (request: never) => {
          host.asked++;
          return host.answer ? host.answer(request) : headerPrincipal(request);
        },
      } as never,
      { adapter },
    );
    return { host, stage };
  }

  async function open(stage: StreamStage, headers: Record<string, string> = {}) {
    const gate = new Gate();
    const { alice } = stage.stream(async (task) => {
      await task.working();
      await gate.pass();
      return 'done';
    });
    const streams = new Streamer(stage.agent.url, { user: alice.user, headers });
    const stream = await streams.send('go');
    await stream.whenFrames(2);
    return { gate, alice, stream };
  }

  it('is asked for again at each keep-alive, and stays as long as it is who it was (ISO-08, STRM-04b, R-33)', async () => {
    const { host, stage } = await start();
    const { gate, stream } = await open(stage, { 'x-tenant': 't', 'x-scopes': 'b a' });
    // The same set in another order is the same caller.
    host.answer = (request) => ({ ...headerPrincipal(request), scopes: ['a', 'b'] });
    const { asked, guarded } = host;
    const { comments } = stream;
    await stream.when(() => stream.comments >= comments + 3, 'three keep-alives');
    expect(host.asked - asked).toBeGreaterThanOrEqual(3);
    expect(host.guarded - guarded).toBeGreaterThanOrEqual(3);
    gate.open();
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED']);
    await stage.agent.close();
  });

  const same = (request: never) => headerPrincipal(request);
  it.each<[string, (request: never) => Answer]>([
    ['is nobody any more', () => null],
    ['has no owner any more', () => ({ owner: '' })],
    [
      'cannot be told any more',
      () => {
        throw new Error('The session store is down.');
      },
    ],
    ['is another owner', () => ({ owner: 'mallory' })],
    ['is in another tenant', (request) => ({ ...same(request), tenant: 'u' })],
    ['is in no tenant', (request) => ({ ...same(request), tenant: undefined })],
    ['has fewer scopes', (request) => ({ ...same(request), scopes: ['a'] })],
    ['has no scopes', (request) => ({ ...same(request), scopes: [] })],
    ['is narrowed no more', (request) => ({ ...same(request), scopes: null })],
  ])(
    '%s: its stream ends, gives all back and leaves the task alone (ISO-08, STRM-04b, R-33, CAP-06)',
    async (_name, answer) => {
      const { host, stage } = await start();
      const { gate, alice, stream } = await open(stage, { 'x-tenant': 't', 'x-scopes': 'a b' });
      host.answer = answer;
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states).toEqual(['SUBMITTED', 'WORKING']);
      expect(stream.text).not.toContain('error');
      await stage.quiet();
      expect(stage.agent.service.statistics().liveRuns).toBe(1);
      host.answer = undefined;
      gate.open();
      const { id } = stream.frames[0]!.result.task;
      await alice.with({ tenant: 't', scopes: 'a b' }).taskWhen(id, ended);
      await stage.agent.close();
    },
  );

  it('is denied by a guard of the host: its stream ends, and no other (ISO-08, R-33)', async () => {
    const { host, stage } = await start();
    const { gate, stream } = await open(stage);
    const bob = await new Streamer(stage.agent.url, { user: 'bob' }).send('go');
    await bob.whenFrames(2);
    host.denies = true;
    expect(await stream.whenEnded()).toBe('clean');
    const { comments } = bob;
    await bob.when(() => bob.comments > comments + 1, 'two keep-alives');
    gate.open();
    expect(await bob.whenEnded()).toBe('clean');
    expect(bob.states.at(-1)).toBe('COMPLETED');
    await stage.quiet();
    await stage.agent.close();
  });

  it('is checked on a stream that is never idle, too (ISO-08, STRM-04b)', async () => {
    const { host, stage } = await start();
    const stop = new AbortController();
    const { alice, streams } = stage.stream(async (task) => {
      while (!stop.signal.aborted) {
        await task.progress('Busy.');
        await new Promise(setImmediate);
      }
    });
    const stream = await streams.send('go');
    await stream.whenFrames(5);
    host.answer = () => null;
    expect(await stream.whenEnded()).toBe('clean');
    await stage.quiet();
    stop.abort();
    host.answer = undefined;
    await until(async () => (await alice.list({ status: 'TASK_STATE_COMPLETED' })).totalSize === 1);
    await stage.agent.close();
  });
});

describe.each(ADAPTERS)('the signal of a skill on %s', (adapter) => {
  it('does not fire when a stream ends or its client leaves, and does when the task is cancelled (CTX-03, STRM-10)', async () => {
    const stage = await startStreamStage({}, { adapter });
    const signals: AbortSignal[] = [];
    const gate = new Gate();
    const { alice, streams }: { alice: Caller; streams: Streamer } = stage.stream(async (task) => {
      signals.push(task.signal);
      await task.working();
      await gate.pass(task.signal);
    });
    const stream = await streams.send('go');
    const { id } = (await stream.whenFrames(2))[0]!.result.task;
    stream.destroy();
    await stage.quiet();
    expect(signals[0]!.aborted).toBe(false);
    const again = await streams.subscribe(id);
    await again.whenFrames(1);
    await alice.cancel(id);
    expect(signals[0]!.aborted).toBe(true);
    await again.whenEnded();
    expect(again.states).toEqual(['WORKING', 'CANCELED']);
    await stage.agent.close();
  });
});
