import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rpc, send, taskWhen, userMessage, type RpcAnswer } from '../support/rpc.js';
import { sharedPostgres, sharedSqlite, type SharedDatabase } from '../support/shared-database.js';
import { fold, openStream } from '../support/stream-reader.js';
import { startSut, type SutProcess } from '../support/sut-process.js';
import { until } from '../support/until.js';

const LEASE = 2_000;
const TERMINAL = /COMPLETED|CANCELED|FAILED|REJECTED/u;

async function stat({ url }: SutProcess): Promise<{ executions: number; liveRuns: number }> {
  return (await (await fetch(`${url}/stat`)).json()) as { executions: number; liveRuns: number };
}

async function started(sut: SutProcess, text: string): Promise<string> {
  const { body } = await send(sut.url, text, { configuration: { returnImmediately: true } });
  return String(body.result.task.id);
}

async function stateOn({ url }: SutProcess, id: string): Promise<string> {
  const { body } = await rpc(url, 'GetTask', { id });
  return String(body.result.status.state);
}

describe.each([
  ['PostgreSQL', sharedPostgres],
  ['a SQLite file', sharedSqlite],
] as const)('Two processes on %s', (_name, open) => {
  let database: SharedDatabase;
  let a: SutProcess;
  let b: SutProcess;
  let bStartedAt: number;

  beforeAll(async () => {
    database = await open();
    const env = { DATABASE_URL: database.url, LEASE_MS: String(LEASE) };
    // One after the other: the tables of a new SQLite file are created without a lock.
    a = await startSut(env);
    b = await startSut(env);
    bStartedAt = performance.now();
  }, 60_000);

  afterAll(async () => {
    await Promise.all([a, b].map((sut) => sut.kill()));
    await database.drop();
  });

  it('agree, and so do all streams, on what a cancel on the one made of a run on the other, in each of 100 rounds (REP-02, REP-03a, CAN-04, CAN-05, CAN-07, B-71)', async () => {
    const agreed: string[] = [];
    for (let round = 0; round < 100; round++) {
      // The odd ones may complete before, while or after they are cancelled; the even ones never do by themselves.
      const text = round % 2 ? `slow ${Math.floor(Math.random() * 12)}` : 'slow 600000';
      const streams = [await openStream(a.url, 'SendStreamingMessage', { message: userMessage(text) })];
      const [first] = await streams[0]!.whenFrames(1);
      const { id } = first!.result.task;
      const onB = await openStream(b.url, 'SubscribeToTask', { id });
      // It is refused when the task has ended by then.
      if (onB.header('content-type') === 'text/event-stream') streams.push(onB);
      const { body } = await rpc(b.url, 'CancelTask', { id });
      const states = await Promise.all([stateOn(a, id), stateOn(b, id)]);
      const answered = body.result ? String(body.result.status.state) : 'TASK_STATE_COMPLETED';
      if (!body.result) expect(body.error.code).toBe(-32002);
      expect(states).toEqual([answered, answered]);
      for (const stream of streams) {
        expect(await stream.whenEnded()).toBe('clean');
        expect(`TASK_STATE_${stream.states.at(-1)}`).toBe(answered);
      }
      agreed.push(`${id} ${answered}`);
    }
    await until(async () => (await stat(a)).liveRuns === 0, 'The end of the runs that were cancelled elsewhere');
    const later = await Promise.all(
      agreed.map(async (line) => `${line.split(' ')[0]!} ${await stateOn(a, line.split(' ')[0]!)}`),
    );
    expect(later).toEqual(agreed);
  }, 60_000);

  it('answer a caller that waits for a run as soon as it is cancelled on the other (REP-02, CAN-05)', async () => {
    const waiting = send(a.url, 'slow 600000', { message: { contextId: 'a-wait' } });
    let id = '';
    await until(async () => {
      const { body } = await rpc(b.url, 'ListTasks', { contextId: 'a-wait' });
      id = String(body.result.tasks[0]?.id ?? '');
      return id !== '';
    }, 'The task');
    await rpc(b.url, 'CancelTask', { id });
    const { body } = await waiting;
    expect(body.result.task).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('let one of them run a task that both resume, in each of 100 rounds (REP-08, B-71)', async () => {
    const ranBefore = (await stat(a)).executions + (await stat(b)).executions;
    for (let round = 0; round < 100; round++) {
      const paused = await send((round % 2 ? a : b).url, 'input');
      const { id: taskId, contextId } = paused.body.result.task;
      const answers = await Promise.all(
        [a, b].map((sut, index) => send(sut.url, `by ${index}`, { message: { taskId, contextId } })),
      );
      const won = answers.filter(({ body }) => body.result);
      expect(won).toHaveLength(1);
      expect(stateOf(won[0]!)).toBe('TASK_STATE_COMPLETED');
      const texts = won[0]!.body.result.task.artifacts[0].parts.map(({ text }: { text: string }) => text);
      expect(texts).toEqual([`resumed: by ${answers.indexOf(won[0]!)}`]);
      const { body } = await rpc(a.url, 'GetTask', { id: taskId });
      const history = body.result.history.map(({ parts }: { parts: { text: string }[] }) => parts[0]!.text);
      expect(history).toEqual(expect.arrayContaining(['input', `by ${answers.indexOf(won[0]!)}`]));
    }
    expect((await stat(a)).executions + (await stat(b)).executions - ranBefore).toBe(200);
  }, 60_000);

  it('show a subscriber on the one how the other goes on with a task that was paused (REP-03b, R-05)', async () => {
    const paused = await send(a.url, 'input');
    const { id: taskId, contextId } = paused.body.result.task;
    const stream = await openStream(a.url, 'SubscribeToTask', { id: taskId });
    await stream.whenFrames(1);
    const { body } = await send(b.url, 'elsewhere', { message: { taskId, contextId } });
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states[0]).toBe('INPUT_REQUIRED');
    // What a client says is in no event.
    const { status, artifacts } = body.result.task;
    expect(fold(stream.frames)).toMatchObject({ status, artifacts });
  });

  it('fail what a killed one was running, within its lease and two seconds (R-08, LIFE-14)', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => started(a, 'slow 600000')));
    const surviving = await started(b, 'slow 600000');
    await Promise.all(ids.map((id) => taskWhen(b.url, id, ({ status }) => status.state === 'TASK_STATE_WORKING')));
    const watchers = await Promise.all(ids.slice(0, 5).map((id) => openStream(b.url, 'SubscribeToTask', { id })));
    await a.kill();
    // The other one believes itself only once it has been heard of for a whole lease.
    const began = Math.max(performance.now(), bStartedAt + (LEASE * 4) / 3);
    const ended = await Promise.all(ids.map((id) => taskWhen(b.url, id, ({ status }) => TERMINAL.test(status.state))));
    expect(performance.now() - began).toBeLessThan(LEASE + 2_000);
    for (const { status } of ended) {
      expect(status.state).toBe('TASK_STATE_FAILED');
      expect(status.message.parts).toEqual([{ text: 'the run was lost' }]);
    }
    for (const watcher of watchers) {
      expect(await watcher.whenEnded()).toBe('clean');
      expect(watcher.states.at(-1)).toBe('FAILED');
    }
    expect(await stateOn(b, surviving)).toBe('TASK_STATE_WORKING');
  }, 60_000);
});

function stateOf({ body }: RpcAnswer): string {
  return String(body.result.task.status.state);
}
