import { afterEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { A2AConfigurationError, type PushOptions, type TaskContext } from 'nestjs-a2a';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import { textOf, type Caller } from '../support/caller.js';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { Gate } from '../support/gate.js';
import { LogRecorder } from '../support/log-recorder.js';
import { PUPPET, startStage, type Stage } from '../support/puppet.js';
import { startAgent } from '../support/agent.js';
import { until } from '../support/until.js';
import { WebhookReceiver, type Answering } from '../support/webhook-receiver.js';
import { EchoSkill } from '../support/wire-skills.js';

const QUICK: PushOptions = {
  delivery: 'durable',
  allowPrivate: true,
  timeoutMs: 2_000,
  retry: { minDelayMs: 1, maxDelayMs: 5 },
};

/** Tells four updates and ends. */
async function work(task: TaskContext): Promise<void> {
  await task.working();
  for (const text of ['a', 'b']) await task.artifact({ artifactId: text, parts: [{ text }] });
  await task.complete();
}

const WHOLE = ['WORKING', 'artifact', 'artifact', 'COMPLETED'];

describe.each([
  ['PostgreSQL', postgresDatabase],
  ['SQLite', sqliteDatabase],
] as const)('Durable notifications on %s', (_name, make) => {
  let database: TestDatabase | undefined;
  let stages: Stage[] = [];
  let sources: DataSource[] = [];
  let receivers: WebhookReceiver[] = [];

  afterEach(async () => {
    await Promise.all(stages.map(({ agent }) => agent.close()));
    await Promise.all(sources.map((source) => source.destroy()));
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await database?.drop();
    [database, stages, sources, receivers] = [undefined, [], [], []];
  });

  /** Starts another process, so to say, on the database of the test. */
  async function start(push: PushOptions = {}, logger?: LogRecorder): Promise<Stage> {
    database ??= await make();
    const source = await database.open();
    const store = new TypeOrmTaskStore(source);
    const options = { store, push: { ...QUICK, ...push }, lease: 1_000, shutdown: { drainMs: 0, timeoutMs: 300 } };
    const stage = await startStage(options, logger && { logger });
    sources.push(source);
    stages.push(stage);
    return stage;
  }

  async function receive(answering?: Answering): Promise<WebhookReceiver> {
    const receiver = await WebhookReceiver.start(answering);
    receivers.push(receiver);
    return receiver;
  }

  const asking = ({ url }: WebhookReceiver) => ({
    ...PUPPET,
    configuration: { taskPushNotificationConfig: { url } },
  });

  /** How many configs somebody still has to look at. */
  async function pending(): Promise<number> {
    const [row] = await sources[0]!.query<{ count: number | string }[]>(
      'SELECT count(*) AS count FROM a2a_push_config WHERE due_at IS NOT NULL',
    );
    return Number(row!.count);
  }

  it('bring each update once, in order, also those that the task was created with, and come to an end (PUSH-06a)', async () => {
    const receiver = await receive();
    const { play } = await start();
    const task = await play(work).task('go', asking(receiver));
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(WHOLE);
    expect(receiver.received.every(({ text }) => text.includes(task.id))).toBe(true);
    await until(async () => (await pending()) === 0);
    const quick = await receive();
    await play(() => 'at once').task('go', asking(quick));
    await quick.state('COMPLETED');
    expect(quick.story).toEqual(['artifact', 'COMPLETED']);
  });

  it('are tried again until the receiver takes them, and never overtake one another (§13.2)', async () => {
    let failures = 0;
    const taken: string[] = [];
    const receiver = await receive(({ text }, response) => {
      if (++failures % 4 !== 0) response.statusCode = 500;
      else taken.push(text);
      response.end();
    });
    const logger = new LogRecorder();
    const { play } = await start({}, logger);
    await play(work).task('go', asking(receiver));
    await until(() => taken.length === 4);
    await until(async () => (await pending()) === 0);
    expect(receiver.received.filter(({ text }, index) => text !== receiver.received[index - 1]?.text)).toHaveLength(4);
    expect(receiver.received).toHaveLength(16);
    // The first failure of each, and not all of them.
    expect(logger.of('warn').filter((line) => line.includes('answered 500'))).toHaveLength(4);
  });

  it('go on in another process, from where they were when theirs was closed', async () => {
    let isDown = true;
    const receiver = await receive((_received, response, index) => {
      response.statusCode = isDown && index > 0 ? 503 : 200;
      response.end();
    });
    const first = await start();
    await first.play(work).task('go', asking(receiver));
    await receiver.count(3);
    await first.agent.close();
    stages = [];
    isDown = false;
    const before = receiver.received.length;
    await start();
    await receiver.state('COMPLETED');
    expect(receiver.story[0]).toBe('WORKING');
    expect(receiver.story.slice(before)).toEqual(WHOLE.slice(1));
  });

  it('are brought by one of several processes, each once (REP-09)', async () => {
    const receiver = await receive();
    const [a, b] = [await start(), await start()];
    const callers: Caller[] = [a.play(work), b.play(work)];
    await Promise.all(
      callers.flatMap((caller) => Array.from({ length: 5 }, () => caller.task('go', asking(receiver)))),
    );
    await receiver.count(40);
    await until(async () => (await pending()) === 0);
    expect(receiver.received).toHaveLength(40);
    const byTask = new Map<string, string[]>();
    receiver.received.forEach(({ body }, index) => {
      const { taskId } = body.statusUpdate ?? body.artifactUpdate;
      byTask.set(taskId, [...(byTask.get(taskId) ?? []), receiver.story[index]!]);
    });
    expect([...byTask.values()]).toEqual(Array.from({ length: 10 }, () => WHOLE));
  });

  it('begin after what was there before, for a config that is made later (PCFG-04a)', async () => {
    const receiver = await receive();
    const gate = new Gate();
    const { play } = await start();
    const caller = play(async (task) => {
      await task.working();
      await gate.pass();
      await task.complete();
    });
    const { id } = await caller.start('go', PUPPET);
    await caller.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_WORKING');
    await caller.invoke('CreateTaskPushNotificationConfig', { taskId: id, url: receiver.url });
    gate.open();
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(['COMPLETED']);
  });

  it('tell a cancel, and the resumed task, to who asked earlier (PUSH-11)', async () => {
    const receiver = await receive();
    const { play } = await start();
    const caller = play(async (task) => {
      if (textOf(task.message as never) === 'go') await task.requireInput('more');
      else await task.working();
      await new Promise((resolve) => {
        task.signal.addEventListener('abort', resolve);
      });
    });
    const { id } = await caller.task('go', asking(receiver));
    void caller.follow(id, 'on');
    await receiver.state('WORKING');
    await caller.cancel(id);
    await receiver.state('CANCELED');
    expect(receiver.story).toEqual(['INPUT_REQUIRED', 'WORKING', 'CANCELED']);
  });

  it('show the whole task where the log no longer has the updates one by one (R-26)', async () => {
    let isDown = true;
    const receiver = await receive((_received, response) => {
      response.statusCode = isDown ? 503 : 200;
      response.end();
    });
    const { play } = await start();
    const { id } = await play(work).task('go', asking(receiver));
    await sources[0]!.query(`DELETE FROM a2a_task_event WHERE task_id = '${id}' AND version < 4`);
    // An attempt that was under way knows what it has read.
    await receiver.count(receiver.received.length + 2);
    const before = receiver.received.length;
    isDown = false;
    await until(() => receiver.story.slice(before).includes('task:COMPLETED'));
    await until(async () => (await pending()) === 0);
    expect(receiver.story.slice(before)).toEqual(['task:COMPLETED']);
  });

  it('stop for a config that was removed (PCFG-10, PUSH-14)', async () => {
    const receiver = await receive((_received, response) => {
      response.statusCode = 503;
      response.end();
    });
    const { play } = await start();
    const caller = play(work);
    const { id } = await caller.task('go', {
      ...asking(receiver),
      configuration: { taskPushNotificationConfig: { id: 'c', url: receiver.url } },
    });
    await receiver.count(3);
    await caller.invoke('DeleteTaskPushNotificationConfig', { taskId: id, id: 'c' });
    await until(async () => (await pending()) === 0);
    const after = receiver.received.length;
    const marker = await receive();
    await caller.task('go', asking(marker));
    await marker.state('COMPLETED');
    expect(receiver.received.length).toBeLessThanOrEqual(after + 1);
  });

  it('are given up when a receiver has failed for too long, and are kept no longer', async () => {
    const receiver = await receive((_received, response) => {
      response.statusCode = 410;
      response.end();
    });
    const logger = new LogRecorder();
    const { play } = await start({ retry: { minDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 30 } }, logger);
    await play(work).task('go', asking(receiver));
    await until(async () => (await pending()) === 0);
    expect(logger.of('warn').filter((line) => line.includes('given up'))).toHaveLength(1);
    expect(new Set(receiver.story)).toEqual(new Set(['WORKING']));
  });

  it('hold up nobody else behind a receiver that hangs, and take no more than their owner may have (PUSH-07b, PUSH-07d)', async () => {
    const hung = await receive(() => undefined);
    const { play } = await start({ maxInFlightPerOwner: 2 });
    const slow = play(work);
    await Promise.all(Array.from({ length: 6 }, () => slow.task('go', asking(hung))));
    const receiver = await receive();
    await play(work).task('go', asking(receiver));
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(WHOLE);
    expect(hung.connections).toBe(2);
  });

  it('stay what their configs were made as, when the option is changed (PUSH-11)', async () => {
    let isDown = false;
    const receiver = await receive((_received, response) => {
      response.statusCode = isDown ? 503 : 200;
      response.end();
    });
    const pausing = async (task: TaskContext) => {
      if (textOf(task.message as never) === 'go') await task.requireInput('more');
      else await work(task);
    };
    const bestEffort = await start({ delivery: 'best-effort' });
    const caller = bestEffort.play(pausing);
    const { id } = await caller.task('go', asking(receiver));
    await receiver.count(1);
    await bestEffort.agent.close();
    const durable = await start();
    const later = caller.at(durable.agent.url);
    durable.play(pausing);
    await later.follow(id, 'on');
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(['INPUT_REQUIRED', ...WHOLE]);

    isDown = true;
    const before = receiver.received.length;
    await later.task('on', asking(receiver));
    await receiver.count(before + 2);
    await durable.agent.close();
    isDown = false;
    const failed = receiver.received.length;
    await start({ delivery: 'best-effort' });
    await until(() => receiver.received.length >= failed + 4);
    expect(receiver.story.slice(failed)).toEqual(WHOLE);
    stages = stages.slice(2);
  });

  it('let go of what they have when their process is closed, so that another one need not wait (SHUT-05)', async () => {
    const hung = await receive((_received, response, index) => {
      if (index > 0) response.end();
    });
    // Its lease would not end while the test runs.
    const first = await start({ timeoutMs: 600_000 });
    await first.play(work).task('go', asking(hung));
    await hung.count(1);
    await start();
    await first.agent.close();
    stages = stages.slice(1);
    await hung.state('COMPLETED');
    expect(hung.story).toEqual(['WORKING', ...WHOLE]);
  });
});

describe('Durable notifications without a database', () => {
  it('are refused at boot, and the cure is named', async () => {
    const boot = startAgent({ skills: [EchoSkill], options: { push: { delivery: 'durable' } } });
    await expect(boot).rejects.toThrow(A2AConfigurationError);
    await expect(boot).rejects.toThrow(/Keep tasks in a database/u);
  });
});
