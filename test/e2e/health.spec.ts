import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule, type HealthCheckResult } from '@nestjs/terminus';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { MemoryTaskStore, type TaskKey, type TaskRecord } from 'nestjs-a2a';
import { A2AHealthIndicator } from 'nestjs-a2a/terminus';
import { DataSource } from 'typeorm';
import { ADAPTERS, startAgent, type Agent, type AgentSetup } from '../support/agent.js';
import { newcomer } from '../support/caller.js';
import { postgresUrl } from '../support/data-sources.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { bodyless, type HttpAnswer } from '../support/http-client.js';
import { startPostgres, type PostgresServer } from '../support/postgres.mjs';
import { PuppetSkills } from '../support/puppet.js';
import { userMessage } from '../support/rpc.js';
import { openStream } from '../support/stream-reader.js';
import { until } from '../support/until.js';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly agent: A2AHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.agent.isHealthy()]);
  }

  @Get('named')
  @HealthCheck()
  named(): Promise<HealthCheckResult> {
    return this.health.check([() => this.agent.isHealthy('invoices-agent')]);
  }
}

/** A store that waits for nothing and whose reads fail with what a driver may say. */
class LeakyStore extends MemoryTaskStore {
  override read(_key: TaskKey): Promise<TaskRecord> {
    return Promise.reject(new Error('password authentication failed for admin:hunter2@db.internal'));
  }
}

const UP = { status: 'up', store: 'reachable', isShuttingDown: false, liveRuns: 0, openStreams: 0 };
const DOWN = { ...UP, status: 'down', store: 'unreachable' };

describe('The health indicator', () => {
  let agent: Agent;

  afterEach(() => agent.close());

  async function start({ imports = [], ...setup }: AgentSetup = {}): Promise<Agent> {
    return (agent = await startAgent({
      skills: [PuppetSkills],
      controllers: [HealthController],
      providers: [A2AHealthIndicator],
      // Faults are provoked on purpose, and terminus has a logger of its own.
      imports: [TerminusModule.forRoot({ logger: false }), ...(imports as [])],
      ...setup,
    }));
  }

  const health = (path = '/health'): Promise<HttpAnswer> => bodyless(agent.url, 'GET', { path });

  function onDatabase(options: TypeOrmModuleOptions): Promise<Agent> {
    return start({ imports: [TypeOrmModule.forRoot({ ...options, autoLoadEntities: true, retryAttempts: 0 })] });
  }

  it.each(ADAPTERS)('is up on memory, which no other process shares, on %s (ROLE-01b)', async (adapter) => {
    await start({ adapter });
    expect(await health()).toMatchObject({
      status: 200,
      body: { status: 'ok', details: { a2a: { ...UP, relay: 'none' } } },
    });
  });

  it('stands under the key that it is given', async () => {
    await start();
    expect((await health('/health/named')).body.details).toEqual({ 'invoices-agent': { ...UP, relay: 'none' } });
  });

  it('is up on SQLite, whose updates are looked for', async () => {
    await onDatabase({ type: 'better-sqlite3', database: ':memory:' });
    expect(await health()).toMatchObject({ status: 200, body: { details: { a2a: { ...UP, relay: 'polling' } } } });
  });

  it('is up on PostgreSQL, whose channel tells of updates', async () => {
    await onDatabase({ type: 'postgres', url: postgresUrl() });
    await until(async () => (await agent.service.health()).relay === 'connected', 'A connection of the channel');
    expect(await health()).toMatchObject({ status: 200, body: { details: { a2a: { ...UP, relay: 'connected' } } } });
  });

  it('counts live runs and open streams', async () => {
    await start({ options: { store: new MemoryTaskStore() } });
    const gate = new Gate();
    agent.app.get(PuppetSkills).work = () => gate.pass();
    const message = userMessage('go', { metadata: { skill: 'puppet' } });
    const stream = await openStream(agent.url, 'SendStreamingMessage', { message });
    await stream.whenFrames(1);
    expect((await health()).body.details.a2a).toEqual({ ...UP, relay: 'none', liveRuns: 1, openStreams: 1 });
    gate.open();
    await until(() => agent.service.statistics().seats === 0, 'The end of the stream');
    expect((await health()).body.details.a2a).toEqual({ ...UP, relay: 'none' });
  });

  it('is down while the store fails, and up again when it works', async () => {
    const store = new GatedStore();
    await start({ options: { store } });
    store.fail('read', new Error('no'));
    expect(await health()).toMatchObject({ status: 503, body: { status: 'error', details: { a2a: DOWN } } });
    store.fail('read', undefined);
    expect(await health()).toMatchObject({ status: 200, body: { details: { a2a: UP } } });
  });

  it('is down while the store hangs, and up again when it answers', async () => {
    const store = new GatedStore();
    await start({ options: { store, storeTimeout: 100 } });
    const gate = store.hold('read', 'before');
    expect(await health()).toMatchObject({ status: 503, body: { details: { a2a: DOWN } } });
    gate.open();
    expect(await health()).toMatchObject({ status: 200, body: { details: { a2a: UP } } });
  });

  it('waits for a store that hangs two seconds, however long an operation may take', async () => {
    const store = new GatedStore();
    await start({ options: { store, storeTimeout: 600_000 } });
    const gate = store.hold('read', 'before');
    expect((await agent.service.health()).store).toBe('unreachable');
    gate.open();
  });

  it('tells nothing of what the store says', async () => {
    await start({ options: { store: new LeakyStore() } });
    const { status, text, body } = await health();
    expect(status).toBe(503);
    expect(Object.keys(body.details.a2a as object).sort()).toEqual([...Object.keys(DOWN), 'relay'].sort());
    expect(text).not.toMatch(/hunter2|internal|password|Error/u);
  });

  it('is down while PostgreSQL is away, tells that updates are looked for, and is up when it is back', async () => {
    let server: PostgresServer | undefined;
    try {
      server = await startPostgres();
      await onDatabase({ type: 'postgres', url: server.url });
      const relay = async (): Promise<string> => (await agent.service.health()).relay;
      await until(async () => (await relay()) === 'connected', 'A connection of the channel');
      await server.halt();
      await until(async () => (await relay()) === 'polling', 'The loss of the channel');
      const answer = await health();
      expect(answer).toMatchObject({ status: 503, body: { details: { a2a: { ...DOWN, relay: 'polling' } } } });
      expect(answer.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1/u);
      await server.resume();
      await until(async () => (await health()).status === 200, 'The health');
      await until(async () => (await relay()) === 'connected', 'Another connection of the channel');
    } finally {
      await agent.close();
      await server?.stop();
    }
  }, 60_000);

  it('is down as soon as the process shuts down, while live runs may still finish (SHUT-01)', async () => {
    await start({ options: { store: new MemoryTaskStore() } });
    const gate = new Gate();
    agent.app.get(PuppetSkills).work = () => gate.pass();
    await newcomer(agent.url).start('go', { message: { metadata: { skill: 'puppet' } } });
    const closed = agent.app.close();
    await until(async () => (await health()).status === 503, 'The end of health');
    expect((await health()).body.details.a2a).toEqual({
      ...{ ...UP, status: 'down', relay: 'none' },
      ...{ isShuttingDown: true, liveRuns: 1 },
    });
    gate.open();
    await closed;
  });

  it('is down before anything that the shutdown waits for (SHUT-01)', async () => {
    await start();
    const seen: boolean[] = [];
    Object.assign(agent.app.get(PuppetSkills), {
      beforeApplicationShutdown: async () => {
        seen.push((await agent.service.health()).isHealthy);
      },
    });
    await agent.app.close();
    expect(seen).toEqual([false]);
  });

  it('is down, and no error, when the application has been closed', async () => {
    await start();
    const { service } = agent;
    await agent.close();
    expect(await service.health()).toMatchObject({ isHealthy: false, isShuttingDown: true, relay: 'none' });
  });
});

describe('The health of an agent on a closed database', () => {
  it('is told without an error', async () => {
    const agent = await startAgent({
      skills: [PuppetSkills],
      imports: [TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true })],
    });
    await agent.app.get(DataSource).destroy();
    expect(await agent.service.health()).toMatchObject({ isHealthy: false, store: 'unreachable' });
    await agent.close().catch(() => undefined);
  });
});
