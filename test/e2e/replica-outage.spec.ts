import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPostgres, type PostgresServer } from '../support/postgres.mjs';
import { rpc, send, taskWhen, userMessage } from '../support/rpc.js';
import { fold, openStream } from '../support/stream-reader.js';
import { startSut, type SutProcess } from '../support/sut-process.js';

const LEASE = 2_000;

describe('Two replicas whose PostgreSQL is stopped', () => {
  let server: PostgresServer;
  let a: SutProcess;
  let b: SutProcess;

  beforeAll(async () => {
    server = await startPostgres();
    const env = { DATABASE_URL: server.url, LEASE_MS: String(LEASE) };
    [a, b] = [await startSut(env), await startSut(env)];
  }, 60_000);

  afterAll(async () => {
    await Promise.all([a, b].map((sut) => sut.kill()));
    await server.stop();
  });

  /** Takes the database away for longer than a process may be silent. */
  async function outage(): Promise<void> {
    await server.halt();
    const over = performance.now() + LEASE * 1.5;
    // Nothing tells that a lease has run out while the database that keeps it is away.
    while (performance.now() < over) await new Promise((resolve) => setTimeout(resolve, 100));
    await server.resume();
  }

  it('fail no run of a process that lived through it (R-08), and lose nothing that a client was told (LIFE-01b)', async () => {
    const running = await Promise.all(
      Array.from({ length: 10 }, () => send(a.url, 'slow 7000', { configuration: { returnImmediately: true } })),
    );
    const ids = running.map(({ body }) => String(body.result.task.id));
    const streams = await Promise.all(
      Array.from({ length: 5 }, () =>
        openStream(a.url, 'SendStreamingMessage', { message: userMessage('drip 600 10') }),
      ),
    );
    const dripping = await Promise.all(
      streams.map(async (stream) => {
        const frames = await stream.whenFrames(5);
        return frames[0]!.result.task.id;
      }),
    );
    const watchers = await Promise.all(dripping.map((id) => openStream(b.url, 'SubscribeToTask', { id })));
    await outage();

    for (const id of ids) {
      const { status } = await taskWhen(b.url, id, ({ status: { state } }) => /COMPLETED|FAILED|CANCELED/u.test(state));
      expect(status.state).toBe('TASK_STATE_COMPLETED');
    }
    for (const [index, id] of dripping.entries()) {
      const task = await taskWhen(b.url, id, ({ status: { state } }) => /COMPLETED|FAILED|CANCELED/u.test(state));
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      const texts: string[] = task.artifacts[0].parts.map(({ text }: { text: string }) => text);
      expect(texts).toEqual(Array.from({ length: 600 }, (_, chunk) => `${chunk};`));
      for (const stream of [streams[index]!, watchers[index]!]) {
        await stream.whenEnded();
        const last = stream.frames.at(-1)!;
        // A stream goes on to the end of its task, or says that it cannot.
        if (!('error' in last.body)) expect(fold(stream.frames)).toEqual(task);
      }
    }
    const after = await rpc(b.url, 'ListTasks', { pageSize: 100 });
    expect(after.body.result.totalSize).toBe(15);
  }, 120_000);
});
