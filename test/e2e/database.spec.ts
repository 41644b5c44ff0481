import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import {
  A2AService,
  MemoryTaskStore,
  Skill,
  SkillTask,
  SkillText,
  TaskContext,
  TaskState,
  TaskStore,
  textPart,
} from 'nestjs-a2a';
import { a2aEntities, createTables, TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import { DataSource } from 'typeorm';
import { startAgent, type Agent } from '../support/agent.js';
import { postgresDatabase, postgresUrl, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { rpc, send } from '../support/rpc.js';
import { draftOf, keyOf, settleOf, statusOf } from 'nestjs-a2a/testing';
import { until } from '../support/until.js';

@Injectable()
class DatabaseSkills {
  constructor(private readonly dataSource: DataSource) {}

  @Skill('echo')
  echo(@SkillText() text: string): string {
    return text;
  }

  /** Awaits an update of its task while a transaction of the host is open. */
  @Skill('transact')
  transact(@SkillTask() task: TaskContext): Promise<string> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('SELECT 1');
      await task.working(textPart('in a transaction'));
      return 'done';
    });
  }

  /** Works until it is told to stop. */
  @Skill('wait')
  async wait(@SkillTask() task: TaskContext): Promise<void> {
    await task.working();
    await new Promise((resolve) => {
      task.signal.addEventListener('abort', resolve);
    });
  }

  @Skill('chunks')
  async *chunks(@SkillText() count: string): AsyncGenerator<string> {
    for (let index = 0; index < Number(count); index++) yield `${index};`;
  }
}

const memory: TypeOrmModuleOptions = { type: 'better-sqlite3', database: ':memory:' };

async function agentOn(options: TypeOrmModuleOptions, setup: Parameters<typeof startAgent>[0] = {}): Promise<Agent> {
  return startAgent({ imports: [TypeOrmModule.forRoot(options)], skills: [DatabaseSkills], ...setup });
}

describe('The default store (PKG-11a)', () => {
  it('is on the DataSource of the host when its entities are loaded automatically', async () => {
    const agent = await agentOn({ ...memory, autoLoadEntities: true });
    const answer = await send(agent.url, 'hi', { message: { metadata: { skill: 'echo' } } });
    const rows = await agent.app.get(DataSource).query('SELECT id, owner, state FROM a2a_task');
    await agent.close();
    expect(rows).toEqual([{ id: answer.body.result.task.id, owner: 'alice', state: 'TASK_STATE_COMPLETED' }]);
  });

  it('is on a DataSource that lists the entities', async () => {
    const agent = await agentOn({ ...memory, entities: [...a2aEntities({ tablePrefix: 'agent_' })] });
    await send(agent.url, 'hi', { message: { metadata: { skill: 'echo' } } });
    const rows = await agent.app.get(DataSource).query('SELECT count(*) AS count FROM agent_task');
    await agent.close();
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('is on a DataSource with a name, and its tables have the prefix (STORE-12)', async () => {
    const agent = await startAgent({
      imports: [
        TypeOrmModule.forRoot({ ...memory, autoLoadEntities: true }),
        TypeOrmModule.forRoot({ ...memory, name: 'agent', autoLoadEntities: true }),
      ],
      skills: [DatabaseSkills],
      options: { database: { dataSource: 'agent', tablePrefix: 'other_' } },
    });
    await send(agent.url, 'hi', { message: { metadata: { skill: 'echo' } } });
    const named = agent.app.get<DataSource>(getDataSourceToken('agent'));
    const rows = await named.query('SELECT count(*) AS count FROM other_task');
    await agent.close();
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('is in memory when there is no DataSource, or the host does not want it', async () => {
    const without = await startAgent({ options: { skills: [{ id: 'a', handler: () => 'a' }] } });
    const unwanted = await agentOn({ ...memory, autoLoadEntities: true }, { options: { database: false } });
    const stores = [without, unwanted].map((agent) => agent.app.get(TaskStore));
    await Promise.all([without.close(), unwanted.close()]);
    expect(stores.every((store) => store instanceof MemoryTaskStore)).toBe(true);
  });

  it('is never used when the host names a store', async () => {
    const agent = await agentOn({ ...memory, autoLoadEntities: true }, { options: { store: new MemoryTaskStore() } });
    const store = agent.app.get(TaskStore);
    await agent.close();
    expect(store).toBeInstanceOf(MemoryTaskStore);
  });

  it('refuses to boot on a DataSource that does not know the entities, and says which line to add', async () => {
    await expect(agentOn(memory)).rejects.toThrow(/autoLoadEntities: true.*\.\.\.a2aEntities\(\)/u);
  });

  it('refuses a prefix that is no plain identifier (STORE-12)', () => {
    expect(() => a2aEntities({ tablePrefix: 'a"; DROP' })).toThrow(/no plain identifier/u);
  });
});

describe.each([
  ['SQLite', sqliteDatabase],
  ['PostgreSQL', postgresDatabase],
] as const)('On %s', (name, make) => {
  let database: TestDatabase;
  let agent: Agent;

  beforeAll(async () => {
    database = await make();
    const dataSource = await database.open({ poolSize: 2 });
    @Module({ providers: [{ provide: DataSource, useValue: dataSource }], exports: [DataSource] })
    class DatabaseModule {}
    agent = await startAgent({
      imports: [DatabaseModule],
      skills: [DatabaseSkills],
      options: { store: new TypeOrmTaskStore(dataSource), maxConcurrentRunsPerOwner: -1, terminalTaskRetention: -1 },
    });
  });

  afterAll(async () => {
    const dataSource = agent.app.get(DataSource);
    await agent.close();
    await dataSource.destroy();
    await database.drop();
  });

  it('200 parallel sends of 20 owners, over a pool of 2, all complete (B-74)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        send(agent.url, `text ${index}`, {
          message: { metadata: { skill: 'echo' } },
          call: { user: `owner-${index % 20}` },
        }),
      ),
    );
    const states = answers.map(({ body }) => body.result?.task.status.state);
    expect(states).toEqual(Array.from({ length: 200 }, () => 'TASK_STATE_COMPLETED'));
    const listed = await rpc(agent.url, 'ListTasks', {}, { user: 'owner-7' });
    expect(listed.body.result.totalSize).toBe(10);
  });

  it('a stream of 300 chunks is read back whole, from its updates and from its snapshot (R-03)', async () => {
    const answer = await send(agent.url, '300', { message: { metadata: { skill: 'chunks' } } });
    const { id, artifacts } = answer.body.result.task;
    const read = await rpc(agent.url, 'GetTask', { id });
    expect(read.body.result.artifacts).toEqual(artifacts);
    expect(artifacts[0].parts).toHaveLength(300);
  });

  it('a run is stopped whose task was settled and removed elsewhere, and its caller told so (REP-02, REP-04)', async () => {
    const store = agent.app.get(TaskStore);
    const call = { user: 'removed' };
    const waiting = send(agent.url, '', { message: { metadata: { skill: 'wait' } }, call });
    let key = { id: '', owner: 'removed' };
    await until(async () => {
      const { body } = await rpc(agent.url, 'ListTasks', {}, call);
      const [task] = body.result.tasks;
      key = { ...key, id: String(task?.id) };
      return task?.status.state === 'TASK_STATE_WORKING';
    });
    // As another process does: nobody here is told.
    const written = await store.settle(settleOf(key, statusOf(TaskState.Canceled)));
    await store.discard(key, written!.version);
    expect((await waiting).body.error.code).toBe(-32001);
    await until(() => agent.app.get(A2AService).statistics().liveRuns === 0);
  });

  if (name === 'PostgreSQL') {
    it('a skill may await an update inside of open transactions of the host that take the whole pool', async () => {
      const answers = await Promise.all(
        Array.from({ length: 2 }, () => send(agent.url, '', { message: { metadata: { skill: 'transact' } } })),
      );
      const states = answers.map(({ body }) => body.result?.task.status.state);
      expect(states).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    });
  } else {
    it('a skill that awaits an update inside of an open transaction of the host fails, and nothing hangs', async () => {
      const answer = await send(agent.url, '', { message: { metadata: { skill: 'transact' } } });
      expect(answer.body.error?.code ?? answer.body.result?.task.status.state).not.toBe('TASK_STATE_COMPLETED');
      const after = await send(agent.url, 'still here', { message: { metadata: { skill: 'echo' } } });
      expect(after.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    }, 20_000);
  }
});

describe('The tables', () => {
  it.each([
    ['SQLite', sqliteDatabase],
    ['PostgreSQL', postgresDatabase],
  ] as const)('that are created on %s are those that the entities describe (STORE-10)', async (_name, make) => {
    const database = await make();
    const dataSource = await database.open();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    await dataSource.destroy();
    await database.drop();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it.each([
    ['SQLite', sqliteDatabase],
    ['PostgreSQL', postgresDatabase],
  ] as const)('of an older release on %s are brought up to date, with what is in them', async (_name, make) => {
    const database = await make();
    const dataSource = await database.open();
    const store = new TypeOrmTaskStore(dataSource);
    const draft = draftOf();
    await store.create(draft);
    await dataSource.query('DROP INDEX a2a_task_by_replica');
    await dataSource.query('ALTER TABLE a2a_task DROP COLUMN replica');
    await dataSource.query('DROP TABLE a2a_replica');
    await createTables(dataSource);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    const { task } = await store.read(keyOf(draft));
    await store.close();
    await dataSource.destroy();
    await database.drop();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
    expect(task).toEqual(draft.task);
  });

  it('are created once by four processes that boot at the same time', async () => {
    const schema = `t_boot_${process.pid}`;
    const admin = await new DataSource({ type: 'postgres', url: postgresUrl() }).initialize();
    await admin.query(`CREATE SCHEMA ${schema}`);
    const options: TypeOrmModuleOptions = {
      type: 'postgres',
      url: postgresUrl(),
      schema,
      autoLoadEntities: true,
      extra: { options: `-c search_path=${schema}` },
    };
    const agents = await Promise.all(Array.from({ length: 4 }, () => agentOn(options)));
    const rows = await admin.query('SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = $1', [schema]);
    await Promise.all(agents.map((agent) => agent.close()));
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    await admin.destroy();
    expect(rows).toEqual([{ count: 6 }]);
  });
});
