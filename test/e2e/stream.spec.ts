import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import compression from 'compression';
import { message, textPart, type TaskContext } from 'nestjs-a2a';
import { ADAPTERS } from '../support/agent.js';
import { textOf } from '../support/caller.js';
import { callAndLeave, Departures } from '../support/departing-client.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { heapAfterGc } from '../support/heap.js';
import { SPEAKER } from '../support/puppet.js';
import { expectError } from '../support/rpc-matchers.js';
import { post, rpc, userMessage } from '../support/rpc.js';
import { fold, openStream, type StreamReader } from '../support/stream-reader.js';
import { startStreamStage, type StreamStage } from '../support/stream-stage.js';
import { until } from '../support/until.js';

const SECRET = 'SECRET-STACK-db://user:pw@host';
const speaker = SPEAKER.message;

/** WORKING, an artifact in two chunks, COMPLETED. */
async function work(task: TaskContext): Promise<void> {
  await task.working('Started.');
  await task.artifact({ artifactId: 'a', parts: [textPart('x')] });
  await task.artifact({ artifactId: 'a', parts: [textPart('y')] }, { append: true, lastChunk: true });
}

describe.each(ADAPTERS)('a message that is streamed on %s', (adapter) => {
  let store: GatedStore;
  let stage: StreamStage;

  beforeAll(async () => {
    store = new GatedStore();
    stage = await startStreamStage(
      { store, extensions: [{ uri: 'urn:x' }], allowedOrigins: ['https://app.example.com'] },
      {
        adapter,
        configure: (app) => {
          app.enableCors({ origin: 'https://app.example.com', exposedHeaders: 'A2A-Extensions' });
          // A host that answers before it is asked.
          app.use('/a2a', (request: { headers: object }, response: { flushHeaders: () => void }, next: () => void) => {
            if ('x-early' in request.headers) response.flushHeaders();
            next();
          });
        },
      },
    );
  });
  afterEach(() => stage.quiet());
  afterAll(() => stage.agent.close());

  const executions = () => stage.agent.service.statistics().executions;

  describe('carries', () => {
    it('the task as it was created, then each event in order, to the end (SSM-02a, SSM-02b, STRM-03, STRM-08, R-21, B-45)', async () => {
      const { alice, streams } = stage.stream(work);
      const stream = await streams.send('go', { messageId: 'm1' });
      expect(await stream.whenEnded()).toBe('clean');
      const [first, ...rest] = stream.frames;
      const { task } = first!.result;
      expect(Object.keys(first!.result)).toEqual(['task']);
      expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
      expect(task).not.toHaveProperty('artifacts');
      expect(task.history.map(({ messageId }) => messageId)).toEqual(['m1']);
      const ids = { taskId: task.id, contextId: task.contextId };
      expect(rest.map(({ result }) => result)).toMatchObject([
        { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' } } },
        { artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } } },
        { artifactUpdate: { ...ids, artifact: { parts: [{ text: 'y' }] }, append: true, lastChunk: true } },
        { statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } },
      ]);
      expect(fold(stream.frames)).toEqual(await alice.get(task.id));
    });

    it('the task as it was created of a skill that ends at once, too (R-21, B-45)', async () => {
      const { alice, streams } = stage.stream(() => 'x');
      const stream = await streams.send('go');
      await stream.whenEnded();
      expect(stream.states).toEqual(['SUBMITTED', 'COMPLETED']);
      expect(stream.frames[0]!.result.task).not.toHaveProperty('artifacts');
      expect(fold(stream.frames)).toEqual(await alice.get(stream.frames[0]!.result.task.id));
    });

    it('the version of the task with each event, as its id (STRM-02, SUB-05)', async () => {
      const { alice, streams } = stage.stream(work);
      const stream = await streams.send('go');
      await stream.whenEnded();
      const { id } = stream.frames[0]!.result.task;
      const { version } = await store.read({ id, owner: alice.user });
      expect(stream.ids).toEqual([0, 1, 2, 3, 4]);
      expect(stream.ids.at(-1)).toBe(version);
    });

    it('the first event when the task has its row, and no sooner (R-21, STRM-09a)', async () => {
      const gate = store.hold('create', 'before');
      const { alice, streams } = stage.stream(work);
      let isOpen = false;
      const opening = streams.send('go').then((stream) => {
        isOpen = true;
        return stream;
      });
      await gate.whenWaiting();
      await alice.list();
      expect(isOpen).toBe(false);
      gate.open();
      expect((await opening).frames[0]?.result.task.status.state ?? 'TASK_STATE_SUBMITTED').toBe(
        'TASK_STATE_SUBMITTED',
      );
      await (await opening).whenEnded();
    });

    it('the first event soon, however long the skill takes over its first word (R-21)', async () => {
      const gate = new Gate();
      const { alice, streams } = stage.stream(() => gate.pass());
      const stream = await streams.send('go');
      const [first] = await stream.whenFrames(1);
      expect(first!.result.task.status.state).toBe('TASK_STATE_SUBMITTED');
      expect(await alice.get(first!.result.task.id)).toEqual(first!.result.task);
      gate.open();
      await stream.whenEnded();
      expect(stream.states).toEqual(['SUBMITTED', 'COMPLETED']);
    });

    it.each([
      ['requireInput', 'INPUT_REQUIRED'],
      ['requireAuth', 'AUTH_REQUIRED'],
    ] as const)('%s to the client at once, and ends (SSM-02b, R-05, B-46, R-38)', async (verb, state) => {
      const { streams } = stage.stream((task) => task[verb]('What else?'));
      const stream = await streams.send('go');
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states).toEqual(['SUBMITTED', state]);
      expect(textOf(stream.frames[1]!.result.statusUpdate.status.message)).toBe('What else?');
    });

    it('a resumed run (SSM-05b)', async () => {
      const { alice, streams } = stage.stream((task) => task.requireInput('What else?'));
      const { id: taskId } = await alice.task('go');
      stage.puppet.work = work;
      const stream = await streams.send('this', { taskId });
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states).toEqual(['WORKING', 'COMPLETED']);
      expect(stream.frames[0]!.result.task.history.map(textOf)).toEqual(['go', 'What else?', 'this']);
      expect(fold(stream.frames)).toEqual(await alice.get(taskId));
      expect(stream.ids).toEqual([3, 4, 5, 6]);
    });

    it('nothing but the task for a message that no skill takes (SSM-05a)', async () => {
      const { alice, streams } = stage.stream(() => 'x');
      const stream = await streams.send('go', { metadata: { skill: 'there is none' } });
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states).toEqual(['REJECTED']);
      const { task } = stream.frames[0]!.result;
      expect(await alice.get(task.id)).toEqual(task);
    });

    it('as much history as was asked for (§3.2.4, SSM-01a)', async () => {
      const { streams } = stage.stream(work);
      const stream = await streams.send('go', {}, { configuration: { historyLength: 0 } });
      await stream.whenEnded();
      expect(stream.frames[0]!.result.task).not.toHaveProperty('history');
    });

    it('everything, whatever returnImmediately says (SSM-02c)', async () => {
      const { streams } = stage.stream(work);
      const stream = await streams.send('go', {}, { configuration: { returnImmediately: true } });
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED']);
    });

    it('text as a blocking call does, whatever it is (B-59)', async () => {
      const text = '<b>&amp; 漢字 😀\n\r\n data: \u2028\u0000"\\ é';
      const { alice, streams } = stage.stream(() => textPart(text));
      const stream = await streams.send(text);
      await stream.whenEnded();
      expect(textOf(stream.frames[0]!.result.task.history[0]!)).toBe(text);
      expect(textOf(stream.frames[1]!.result.artifactUpdate.artifact)).toBe(text);
      const task = await alice.task(text);
      expect(task.artifacts.map(textOf)).toEqual([text]);
    });
  });

  describe('answers with', () => {
    it('one event that is a Message, and keeps no task (R-21, SEND-19, B-45)', async () => {
      const { alice, streams } = stage.stream(() => message('hello'));
      const stream = await streams.send('go');
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.frames).toHaveLength(1);
      const [frame] = stream.frames;
      expect(frame!.id).toBeUndefined();
      expect(Object.keys(frame!.result)).toEqual(['message']);
      expect(textOf(frame!.result.message)).toBe('hello');
      expect((await alice.list()).totalSize).toBe(0);
    });

    it('one event that is a Message, however late, of a skill that promised one (R-21)', async () => {
      const gate = new Gate();
      const { alice, streams } = stage.stream(async () => {
        await gate.pass();
        return message('hello');
      });
      const opening = streams.send('go', speaker);
      await gate.whenWaiting();
      // Longer than after which another skill's task would be told of.
      await new Promise((resolve) => setTimeout(resolve, 80));
      gate.open();
      const stream = await opening;
      await stream.whenEnded();
      expect(stream.frames.map(({ result }) => textOf(result.message))).toEqual(['hello']);
      expect((await alice.list()).totalSize).toBe(0);
    });

    it('COMPLETED when the Message came after the task had been told of (R-21)', async () => {
      const gate = new Gate();
      const { alice, streams } = stage.stream(async () => {
        await gate.pass();
        return message('late');
      });
      const stream = await streams.send('go');
      const [first] = await stream.whenFrames(1);
      gate.open();
      await stream.whenEnded();
      expect(stream.states).toEqual(['SUBMITTED', 'COMPLETED']);
      expect(textOf(stream.frames[1]!.result.statusUpdate.status.message)).toBe('late');
      expect((await alice.get(first!.result.task.id)).status.state).toBe('TASK_STATE_COMPLETED');
    });
  });

  describe('has', () => {
    it('the headers of an event stream (STRM-01a, R-41, B-57)', async () => {
      const { streams } = stage.stream(work);
      const stream = await streams.send('go', {}, { headers: { 'a2a-extensions': 'urn:x, urn:y' } });
      await stream.whenEnded();
      expect(stream.status).toBe(200);
      expect(stream.header('content-type')).toBe('text/event-stream');
      expect(stream.header('cache-control')).toBe('no-store, no-transform');
      expect(stream.header('x-accel-buffering')).toBe('no');
      expect(stream.header('a2a-extensions')).toBe('urn:x');
    });

    it('the headers of the host, such as those of CORS (STRM-01)', async () => {
      const { streams } = stage.stream(work);
      const stream = await streams.send('go', {}, { headers: { origin: 'https://app.example.com' } });
      await stream.whenEnded();
      expect(stream.status).toBe(200);
      expect(stream.header('access-control-allow-origin')).toBe('https://app.example.com');
      expect(stream.header('access-control-expose-headers')).toBe('A2A-Extensions');
    });

    it.each(['"\\u0041/é"', '12345678901234567890', '1.50', '-0', '""'])(
      'the id %s on every event, byte for byte, in one line of data (STRM-02a, STRM-02b, WIRE-04c)',
      async (id) => {
        const { streams } = stage.stream(work);
        const stream = await streams.send('go', {}, { id });
        await stream.whenEnded();
        expect(stream.frames).toHaveLength(5);
        for (const { data } of stream.frames)
          expect(data.startsWith(`{"jsonrpc":"2.0","id":${id},"result":{`)).toBe(true);
        expect(stream.text).toMatch(/^(?:id: \d+\ndata: [^\n]+\n\n){5}$/u);
      },
    );
  });

  describe('is refused', () => {
    it.each([
      ['without parts', { message: userMessage([]) }],
      ['without a message', {}],
      ['for a task that there is not', { message: userMessage('go', { taskId: 'no-such-task' }) }],
      ['about a task that there is not', { message: userMessage('go', { referenceTaskIds: ['no-such-task'] }) }],
      [
        'with a push config that leads to this machine',
        { message: userMessage('go'), configuration: { taskPushNotificationConfig: { url: 'https://localhost' } } },
      ],
      ['with a tenant that is a number', { message: userMessage('go'), tenant: 5 }],
    ])(
      '%s as a blocking one is: in JSON, with nothing made (SSM-01a, STRM-09a, CAP-06, B-49)',
      async (_name, params) => {
        const { alice } = stage.stream(work);
        const before = executions();
        const answers = [];
        for (const method of ['SendMessage', 'SendStreamingMessage']) {
          const headers = { accept: 'text/event-stream' };
          const stream = await openStream(stage.agent.url, method, params, { user: alice.user, id: '"q"', headers });
          await stream.whenEnded();
          expect(stream.body).toMatchObject({ jsonrpc: '2.0', id: 'q', error: { code: expect.any(Number) } });
          const { date: _date, ...kept } = stream.response.headers;
          answers.push({ status: stream.status, headers: kept, text: stream.text });
        }
        expect(answers[1]).toEqual(answers[0]);
        expect(answers[0]).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
        expect(executions()).toBe(before);
        expect((await alice.list()).totalSize).toBe(0);
      },
    );

    it('for a task that has ended (SSM-01a, B-49)', async () => {
      const { alice, streams } = stage.stream(() => 'x');
      const { id: taskId } = await alice.task('go');
      const stream = await streams.send('more', { taskId });
      await stream.whenEnded();
      expect(stream.header('content-type')).toBe('application/json');
      expect(stream.body.error.code).toBe(-32004);
    });

    it('when nobody calls, with 401 (STRM-09a)', async () => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendStreamingMessage',
        params: { message: userMessage('x') },
      });
      expectError(await post(stage.agent.url, body, { user: null }), { status: 401, code: -31401 });
    });

    it('when the host has begun the answer, and makes no task (SSM-01b)', async () => {
      const { alice, streams } = stage.stream(work);
      const before = executions();
      const stream = await streams.send('go', {}, { headers: { 'x-early': '1' }, id: '"q"' });
      await stream.whenEnded();
      expect(stream.body).toMatchObject({ id: 'q', error: { code: -32004 } });
      expect(executions()).toBe(before);
      expect((await alice.list()).totalSize).toBe(0);
    });
  });

  describe('when something fails', () => {
    afterEach(() => {
      store.fail('append', undefined);
      store.fail('create', undefined);
    });

    const fail = () => {
      throw new Error(SECRET);
    };

    it.each([
      ['before its first word', fail, ['SUBMITTED', 'FAILED']],
      [
        'under way',
        async (task: TaskContext) => {
          await task.working();
          fail();
        },
        ['SUBMITTED', 'WORKING', 'FAILED'],
      ],
    ])('the skill, %s: ends with FAILED and tells nothing (B-50, B-51)', async (_name, failing, states) => {
      const { alice, streams } = stage.stream(failing);
      const stream = await streams.send('go');
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states).toEqual(states);
      expect(stream.text).not.toContain('SECRET');
      expect((await alice.get(stream.frames[0]!.result.task.id)).status.state).toBe('TASK_STATE_FAILED');
    });

    it('the store at the first write: answers an error that is no stream (STRM-09b, B-53)', async () => {
      store.fail('create', new Error(SECRET));
      const { streams } = stage.stream(work);
      const stream = await streams.send('go', {}, { id: '"q"' });
      await stream.whenEnded();
      expect(stream.header('content-type')).toBe('application/json');
      expect(stream.body).toMatchObject({ id: 'q', error: { code: -32603 } });
      expect(stream.text).not.toContain('SECRET');
    });

    it('the store under way: says so in the stream, with its id, and ends it (B-50)', async () => {
      const gate = new Gate();
      const { streams } = stage.stream(async (task) => {
        await task.working();
        await gate.pass();
        await task.progress('lost');
      });
      const stream = await streams.send('go', {}, { id: '"q"' });
      await stream.whenFrames(2);
      store.fail('append', new Error(SECRET));
      gate.open();
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states).toEqual(['SUBMITTED', 'WORKING']);
      expect(stream.frames.at(-1)).toMatchObject({
        id: undefined,
        body: { jsonrpc: '2.0', id: 'q' },
        error: { code: -32603 },
      });
      expect(stream.text).not.toContain('SECRET');
      store.fail('append', undefined);
      expect((await rpc(stage.agent.url, 'ListTasks', {})).status).toBe(200);
    });
  });

  describe('whose client leaves', () => {
    it('after the first event: gives all back, and the run goes on to its end (STRM-10, B-54, CAP-06)', async () => {
      const gate = new Gate();
      const { alice, streams } = stage.stream(async (task) => {
        await task.working();
        await gate.pass();
        return `${task.signal.aborted}`;
      });
      const stream = await streams.send('go');
      const [first] = await stream.whenFrames(2);
      stream.destroy();
      await stage.quiet();
      expect(stage.agent.service.statistics().liveRuns).toBe(1);
      gate.open();
      const task = await alice.taskWhen(first!.result.task.id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
      expect(task.artifacts.map(textOf)).toEqual(['false']);
      const again = await streams.subscribe(task.id);
      await again.whenEnded();
      expect(again.body.error.code).toBe(-32004);
    });

    it('before the first event: leaves a task that runs to its end (SSM-04, CAP-06)', async () => {
      const departures = new Departures(stage.agent.app.getHttpServer() as Server);
      const gate = store.hold('create', 'before');
      const { alice } = stage.stream(work);
      const call = callAndLeave(stage.agent.url, 'SendStreamingMessage', { message: userMessage('go') }, alice.user);
      await gate.whenWaiting();
      await departures.of(call);
      gate.open();
      await until(async () => (await alice.list({ status: 'TASK_STATE_COMPLETED' })).totalSize === 1);
    });

    it('while a skill that owes it a Message takes its time: gives the seat back at once (CAP-06, STRM-10)', async () => {
      const departures = new Departures(stage.agent.app.getHttpServer() as Server);
      const gate = new Gate();
      const { alice } = stage.stream(async () => {
        await gate.pass();
        return message('hello');
      });
      const params = { message: userMessage('go', speaker) };
      const call = callAndLeave(stage.agent.url, 'SendStreamingMessage', params, alice.user);
      await gate.whenWaiting();
      await departures.of(call);
      await stage.quiet();
      expect(stage.agent.service.statistics().liveRuns).toBe(1);
      gate.open();
    });
  });
});

describe.each(ADAPTERS)('two thousand clients that leave at any moment, on %s', (adapter) => {
  it('leave nothing behind (B-55, CAP-06, STRM-11a)', async () => {
    const stage = await startStreamStage({}, { adapter });
    const { alice } = stage.stream((task) => task.requireInput('More?'));
    const { id } = await alice.task('go');
    stage.stream(() => 'x');
    const server = stage.agent.app.getHttpServer() as Server;
    const connections = () => promisify(server.getConnections.bind(server))();
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const settled = async () => {
      await stage.quiet();
      await until(() => stage.agent.service.statistics().liveRuns === 0);
      await until(async () => (await connections()) <= before.connections, 'The end of the connections');
      await until(() => timers() <= before.timers, 'The end of the timers');
    };
    const before = { connections: await connections(), timers: timers() };
    const subscription = () => callAndLeave(stage.agent.url, 'SubscribeToTask', { id }, alice.user);
    // Each of another user, so that seats are not what is tested.
    const sending = (user: string) =>
      callAndLeave(stage.agent.url, 'SendStreamingMessage', { message: userMessage('go') }, user);
    const leave = async (calls: (() => ReturnType<typeof callAndLeave>)[]) => {
      const leaving = calls.map(async (make, index) => {
        const call = make();
        // In the guards, in the handler, or when events have come.
        await new Promise((resolve) => setTimeout(resolve, index));
        await call.leave();
      });
      await Promise.all(leaving);
    };
    for (let batch = 0; batch < 50; batch++) {
      await leave([subscription, ...Array.from({ length: 9 }, (_, index) => () => sending(`user-${batch}-${index}`))]);
    }
    await settled();
    const heap = heapAfterGc();
    // No task is made from here on: what the heap grows by is what the streams leave.
    for (let batch = 0; batch < 100; batch++) await leave(Array<typeof subscription>(15).fill(subscription));
    await settled();
    expect(heapAfterGc() - heap).toBeLessThan(1500 * 1024);
    expect(stage.agent.service.statistics()).toMatchObject({ subscribers: 0, seats: 0 });
    await stage.agent.close();
  }, 60_000);
});

describe('a stream behind compression on express', () => {
  it('is not held back (STRM-01b, B-57)', async () => {
    const stage = await startStreamStage({}, { configure: (app) => void app.use(compression({ threshold: 0 })) });
    const gate = new Gate();
    const { streams } = stage.stream(async (task) => {
      for (let step = 1; ; step++) {
        await task.progress(`Step ${step}.`);
        await gate.pass(task.signal);
        if (step === 3) return;
      }
    });
    const stream = await streams.send('go', {}, { headers: { 'accept-encoding': 'gzip, deflate, br' } });
    expect(stream.header('content-encoding')).toBeUndefined();
    for (const count of [2, 3, 4]) {
      await gate.whenWaiting();
      // The skill is held: what has been written comes through by itself.
      expect(await stream.whenFrames(count)).toHaveLength(count);
      gate.letGo();
    }
    await stream.whenEnded();
    await stage.agent.close();
  });
});

describe.each(ADAPTERS)('an idle stream on %s', (adapter) => {
  it('shows that it lives (STRM-04a, B-57)', async () => {
    const stage = await startStreamStage({ streaming: { keepAliveMs: 15 } }, { adapter });
    const gate = new Gate();
    const { streams } = stage.stream(() => gate.pass());
    const stream = await streams.send('go');
    await stream.when(() => stream.comments >= 4, 'four comments');
    expect(stream.text).toContain('\n\n: keep-alive\n\n');
    gate.open();
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['SUBMITTED', 'COMPLETED']);
    await stage.quiet();
    await stage.agent.close();
  });

  it('says nothing before it is time to (STRM-04a)', async () => {
    const stage = await startStreamStage({}, { adapter });
    const gate = new Gate();
    const { streams } = stage.stream(() => gate.pass());
    const stream = await streams.send('go');
    await stream.whenFrames(1);
    gate.open();
    await stream.whenEnded();
    expect(stream.comments).toBe(0);
    await stage.agent.close();
  });
});

describe.each(ADAPTERS)('a reader on %s', (adapter) => {
  const CHUNK = 'x'.repeat(100_000);

  /** 200 chunks of 100 kB, 20 MB of events, in an artifact that is replaced over and over. */
  async function flood(task: TaskContext): Promise<void> {
    for (let index = 0; index < 200; index++) {
      await task.artifact({ artifactId: 'a', parts: [textPart(`${index} ${CHUNK}`)] });
      await new Promise(setImmediate);
    }
  }

  const start = (writeDeadlineMs: number) =>
    startStreamStage({ maxTaskBytes: -1, streaming: { writeDeadlineMs } }, { adapter });

  it('that takes nothing is let go by the deadline, and nobody else notices (STRM-05, STRM-06, STRM-07, CAP-06, R-26)', async () => {
    const stage = await start(150);
    const gate = new Gate();
    const { alice, streams } = stage.stream(async (task) => {
      await task.working();
      await gate.pass();
      await flood(task);
    });
    const good = await streams.send('go');
    const { id } = (await good.whenFrames(1))[0]!.result.task;
    const slow = await streams.subscribe(id);
    await slow.whenFrames(1);
    slow.pause();
    gate.open();
    expect(await good.whenEnded()).toBe('clean');
    expect(fold(good.frames)).toEqual(await alice.get(id));
    await until(() => stage.agent.service.statistics().seats === 0, 'The end of the slow stream');
    slow.resume();
    expect(await slow.whenEnded()).toBe('cut');
    expect(slow.states).not.toContain('COMPLETED');
    await stage.quiet();
    await stage.agent.close();
  });

  it('that is slow but steady loses nothing (R-26, STRM-05)', async () => {
    const stage = await start(10_000);
    const { alice, streams } = stage.stream(flood);
    const stream: StreamReader = await streams.send('go');
    stream.response.on('data', () => {
      stream.pause();
      setTimeout(() => {
        stream.resume();
      }, 1);
    });
    expect(await stream.whenEnded()).toBe('clean');
    const task = await alice.get(stream.frames[0]!.result.task.id);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(fold(stream.frames)).toEqual(task);
    expect(stream.ids).toEqual([...stream.ids].sort((a, b) => a - b));
    await stage.quiet();
    await stage.agent.close();
  });
});
