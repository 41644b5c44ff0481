import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Skill, SkillTask, SkillText, TaskContext, type Part, type TaskUpdate } from 'nestjs-a2a';
import { a2aEntities, TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import { DataSource } from 'typeorm';
import { startAgent, type Agent } from '../support/agent.js';
import { startCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.js';
import { postgresDatabase, postgresUrl, type TestDatabase } from '../support/data-sources.js';
import { startPostgres, type PostgresServer } from '../support/postgres.mjs';
import { rpc, send, taskWhen } from '../support/rpc.js';
import { draftOf, keyOf } from 'nestjs-a2a/testing';

function chunk(text: string, append: boolean): TaskUpdate {
  return { kind: 'artifact', artifact: { artifactId: 'a', parts: [{ text }] }, append, lastChunk: false };
}

describe('Two writers of one version on PostgreSQL (STORE-14)', () => {
  it('have exactly one winner, in each of 1,000 rounds', async () => {
    const database = await postgresDatabase();
    const dataSources = await Promise.all([database.open(), database.open()]);
    const stores = dataSources.map((dataSource) => new TypeOrmTaskStore(dataSource));
    const draft = draftOf({ runId: 'run' });
    await stores[0]!.create(draft);
    const winners: number[] = [];
    for (let round = 0; round < 1_000; round++) {
      const results = await Promise.allSettled(
        stores.map((store, writer) =>
          store.append({
            key: keyOf(draft),
            expected: round,
            runId: 'run',
            updates: [chunk(`${round}:${writer};`, round > 0)],
            at: round,
            task: () => {
              throw new Error('The chunks are too small for a snapshot.');
            },
          }),
        ),
      );
      const won = results.flatMap(({ status }, writer) => (status === 'fulfilled' ? [writer] : []));
      expect(won).toHaveLength(1);
      winners.push(won[0]!);
    }
    const { task, version } = await stores[1]!.read(keyOf(draft));
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
    await database.drop();
    expect(version).toBe(1_000);
    const texts = task.artifacts![0]!.parts.map((part) => ('text' in part ? part.text : ''));
    expect(texts).toEqual(winners.map((writer, round) => `${round}:${writer};`));
  }, 60_000);
});

describe('A connection that is cut around a write (R-24)', () => {
  let database: TestDatabase;
  let proxy: CuttingProxy;
  let dataSource: DataSource;
  let store: TypeOrmTaskStore;

  beforeAll(async () => {
    database = await postgresDatabase();
    const direct = await database.open();
    const { schema } = direct.options as { schema?: string };
    await direct.destroy();
    const { port } = new URL(postgresUrl());
    proxy = await startCuttingProxy(Number(port), 'a2a-write');
    const url = postgresUrl().replace(`:${port}/`, `:${proxy.port}/`);
    dataSource = await new DataSource({
      type: 'postgres',
      url,
      schema: schema!,
      entities: a2aEntities(),
      extra: { options: `-c search_path=${schema}` },
    }).initialize();
    store = new TypeOrmTaskStore(dataSource);
  });

  afterAll(async () => {
    await store.close();
    await dataSource.destroy();
    await proxy.close();
    await database.drop();
  });

  it.each(['before', 'after'] as const)('%s the commit loses no update and makes none twice', async (cut) => {
    const draft = draftOf({ runId: 'run' });
    const cutsBefore = proxy.cuts();
    proxy.cutNext(cut);
    await store.create(draft);
    for (let version = 0; version < 20; version++) {
      if (version % 2 === 0) proxy.cutNext(cut);
      const stored = await store.append({
        key: keyOf(draft),
        expected: version,
        runId: 'run',
        updates: [chunk(`${version};`, version > 0)],
        at: version,
        task: () => draft.task,
      });
      expect(stored.version).toBe(version + 1);
    }
    const { task, version } = await store.read(keyOf(draft));
    expect(proxy.cuts() - cutsBefore).toBe(11);
    expect(version).toBe(20);
    expect(task.artifacts![0]!.parts).toEqual(Array.from({ length: 20 }, (_, index) => ({ text: `${index};` })));
  });

  it.each(['before', 'after'] as const)('%s the commit lets a settle happen once', async (cut) => {
    const draft = draftOf({ runId: 'run' });
    await store.create(draft);
    proxy.cutNext(cut);
    const status = { state: 'TASK_STATE_CANCELED', timestamp: '2030-01-01T00:00:00.000Z' } as const;
    const settled = await store.settle({
      key: keyOf(draft),
      guard: ['TASK_STATE_SUBMITTED'],
      update: { kind: 'status', status },
      at: 1,
    });
    expect(settled?.version).toBe(1);
    expect((await store.read(keyOf(draft))).task.status).toEqual(status);
  });
});

@Injectable()
class OutageSkills {
  @Skill('echo')
  echo(@SkillText() text: string): string {
    return text;
  }

  /** Works until it is told to stop, an update every few milliseconds. */
  @Skill('tick')
  async tick(@SkillTask() task: TaskContext): Promise<void> {
    for (let tick = 0; !OutageSkills.isOver; tick++) {
      await task.artifact({ artifactId: 'ticks', parts: [{ text: `${tick};` }] }, { append: true });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  static isOver = false;
}

describe('PostgreSQL that is stopped while tasks run', () => {
  let server: PostgresServer;
  let agent: Agent;

  beforeAll(async () => {
    server = await startPostgres();
    agent = await startAgent({
      imports: [TypeOrmModule.forRoot({ type: 'postgres', url: server.url, autoLoadEntities: true, retryAttempts: 0 })],
      skills: [OutageSkills],
    });
  });

  afterAll(async () => {
    await agent.close();
    await server.stop();
  });

  it('is an internal error to callers within 5 s, and the work goes on when it is back (B-53)', async () => {
    const metadata = { skill: 'tick' };
    const started = await send(agent.url, '', { message: { metadata }, configuration: { returnImmediately: true } });
    const { id } = started.body.result.task;
    const blocking = send(agent.url, '', { message: { metadata } });
    await taskWhen(agent.url, id, ({ artifacts }) => artifacts?.[0].parts.length > 3);

    await server.halt();
    const began = performance.now();
    const [sent, read, waiting] = await Promise.all([
      send(agent.url, 'hello', { message: { metadata: { skill: 'echo' } } }),
      rpc(agent.url, 'GetTask', { id }),
      blocking,
    ]);
    expect(performance.now() - began).toBeLessThan(5_500);
    for (const answer of [sent, read, waiting]) {
      expect(answer).toMatchObject({ status: 200, body: { error: { code: -32603 } } });
      expect(answer.text).not.toMatch(/postgres|ECONN|SELECT|a2a_/u);
    }

    await server.resume();
    const ticks = (task: { artifacts: { parts: Part[] }[] }): number => task.artifacts[0]!.parts.length;
    const before = await taskWhen(agent.url, id, ({ status }) => status !== undefined);
    await taskWhen(agent.url, id, (task) => ticks(task) > ticks(before) + 3);
    OutageSkills.isOver = true;
    const ended = await taskWhen(agent.url, id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    const texts = ended.artifacts[0].parts.map(({ text }: { text: string }) => text);
    expect(texts).toEqual(texts.map((_: string, index: number) => `${index};`));
    const after = await send(agent.url, 'hello again', { message: { metadata: { skill: 'echo' } } });
    expect(after.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
  }, 60_000);
});
