import { afterEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { MemoryTaskStore, type A2AOptions, type TaskContext, type TaskStore } from 'nestjs-a2a';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import type { Caller, WireTask } from '../support/caller.js';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { OwnerOnlyStore } from '../support/owner-only-store.js';
import { PUPPET, startStage, type Stage } from '../support/puppet.js';
import { Streamer } from '../support/stream-reader.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

type Opened = { readonly store: TaskStore; readonly close: () => Promise<void> };

async function onDatabase(make: () => Promise<TestDatabase>): Promise<Opened> {
  const database = await make();
  const dataSource: DataSource = await database.open();
  return {
    store: new TypeOrmTaskStore(dataSource),
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}

const inMemory = async (store: TaskStore): Promise<Opened> => ({ store, close: async () => {} });

/** Waits for another message, or for a token when the text says so. */
async function pause(task: TaskContext): Promise<void> {
  const [part] = task.message.parts;
  if (part && 'text' in part && part.text === 'auth') await task.requireAuth();
  else if (part && 'text' in part && part.text === 'on') await task.complete();
  else await task.requireInput();
}

describe.each<[string, () => Promise<Opened>]>([
  ['memory', () => inMemory(new MemoryTaskStore())],
  ["a host's own store", () => inMemory(new OwnerOnlyStore())],
  ['SQLite', () => onDatabase(sqliteDatabase)],
  ['PostgreSQL', () => onDatabase(postgresDatabase)],
])('Paused tasks, with %s,', (name, open) => {
  let opened: Opened;
  let stage: Stage;
  const receivers: WebhookReceiver[] = [];

  afterEach(async () => {
    await stage.agent.close();
    await opened.close();
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  });

  async function start(options: Partial<A2AOptions> = {}): Promise<Caller> {
    opened = await open();
    stage = await startStage({ store: opened.store, pausedTaskRetention: 3, push: { allowPrivate: true }, ...options });
    return stage.play(pause);
  }

  async function pausedTasks(caller: Caller, count: number): Promise<WireTask[]> {
    const tasks: WireTask[] = [];
    for (let index = 0; index < count; index++) tasks.push(await caller.task(index % 2 ? 'auth' : 'input', PUPPET));
    return tasks;
  }

  async function statesOf(caller: Caller, tasks: readonly WireTask[]): Promise<string[]> {
    const current = await Promise.all(tasks.map(({ id }) => caller.get(id)));
    return current.map(({ status }) => status.state.replace('TASK_STATE_', ''));
  }

  it('beyond the bound are cancelled, the oldest first, of both kinds (RET-03a)', async () => {
    const caller = await start();
    const tasks = await pausedTasks(caller, 6);
    await until(async () => (await statesOf(caller, tasks)).filter((state) => state === 'CANCELED').length === 3);
    expect(await statesOf(caller, tasks)).toEqual([
      ...['CANCELED', 'CANCELED', 'CANCELED'],
      ...['AUTH_REQUIRED', 'INPUT_REQUIRED', 'AUTH_REQUIRED'],
    ]);
    // Those that are left go on.
    expect((await caller.follow(tasks[3]!.id, 'on')).result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('count per owner, tenant and scope set (RET-01b, RET-03a)', async () => {
    const caller = await start();
    const callers = [caller, caller.with({ tenant: 't' }), caller.with({ scopes: 'a' }), caller.with({ scopes: 'b' })];
    const mine: WireTask[][] = [];
    for (const each of callers) mine.push(await pausedTasks(each, 3));
    const others = callers[3]!;
    const more = [...mine[3]!, ...(await pausedTasks(others, 1))];
    await until(async () => (await statesOf(others, more))[0] === 'CANCELED');
    for (const [index, each] of callers.slice(0, 3).entries()) {
      expect(await statesOf(each, mine[index]!)).not.toContain('CANCELED');
    }
  });

  it('tell those who follow them, and their webhooks (RET-03b)', async () => {
    const caller = await start();
    const receiver = await WebhookReceiver.start();
    receivers.push(receiver);
    // A store that keeps no configs offers none.
    const hasPush = opened.store.pushConfigs !== undefined;
    const configuration = hasPush ? { taskPushNotificationConfig: { url: receiver.url } } : {};
    const oldest = await caller.task('input', { ...PUPPET, configuration });
    const reader = await new Streamer(stage.agent.url, { user: caller.user }).subscribe(oldest.id);
    await pausedTasks(caller, 3);
    expect(await reader.whenEnded()).toBe('clean');
    expect(reader.states.at(-1)).toBe('CANCELED');
    if (hasPush) await receiver.state('CANCELED');
  });

  if (name !== 'memory') return;

  it('have no bound where the option lifts it, and 64 by default (RET-03a, RET-07)', async () => {
    const free = await start({ pausedTaskRetention: -1 });
    const tasks = await pausedTasks(free, 70);
    await stage.agent.close();
    expect((await opened.store.list({ ...everything(free), limit: 100 })).records).toHaveLength(70);
    expect(tasks).toHaveLength(70);
    const bounded = await start({ pausedTaskRetention: 0 });
    await pausedTasks(bounded, 70);
    await until(async () => {
      const { records } = await opened.store.list({ ...everything(bounded), limit: 100 });
      return records.filter(({ task }) => task.status.state === 'TASK_STATE_CANCELED').length === 6;
    });
  });

  it('whose bound cannot be kept disturb nobody (RET-08a)', async () => {
    const caller = await start();
    const list = opened.store.list.bind(opened.store);
    opened.store.list = () => Promise.reject(new Error('down'));
    const tasks = await pausedTasks(caller, 5);
    opened.store.list = list;
    expect(await statesOf(caller, tasks)).not.toContain('CANCELED');
  });
});

function everything({ user }: Caller) {
  return { tier: { owner: user, tenant: '', scope: '*' }, artifacts: false };
}
