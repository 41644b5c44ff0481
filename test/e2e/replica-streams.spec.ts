import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { postgresUrl } from '../support/data-sources.js';
import { rpc } from '../support/rpc.js';
import { fold, Streamer } from '../support/stream-reader.js';
import { startSut, type SutProcess } from '../support/sut-process.js';

const TASKS = 50;
const CHUNKS = 200;

describe('Three replicas on one PostgreSQL (R-04, REP-01, REP-07)', () => {
  const database = `replicas_${process.pid}`;
  let admin: DataSource;
  let replicas: SutProcess[];

  beforeAll(async () => {
    admin = await new DataSource({ type: 'postgres', url: postgresUrl() }).initialize();
    await admin.query(`CREATE DATABASE ${database}`);
    const env = { DATABASE_URL: postgresUrl().replace(/[^/]+$/u, database) };
    replicas = [await startSut(env), await startSut(env), await startSut(env)];
  }, 30_000);

  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.destroy();
  });

  /** Breaks the connections over which the replicas hear of one another. */
  async function breakRelays(): Promise<void> {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND query LIKE 'LISTEN%'`,
      [database],
    );
  }

  it.each([
    ['', false],
    [' while their connections are broken again and again', true],
  ])(
    `show every subscriber of ${TASKS} tasks every update once, in order%s`,
    async (_title, breaks) => {
      const [a, b, c] = replicas.map(({ url }) => new Streamer(url, { user: 'alice' }));
      const interval = breaks ? setInterval(() => void breakRelays(), 1_000) : undefined;
      const senders = await Promise.all(Array.from({ length: TASKS }, () => a!.send(`drip ${CHUNKS} 10`)));
      const watchers = await Promise.all(
        senders.flatMap((sender) =>
          [b!, c!, c!].map(async (streamer) => {
            const [first] = await sender.whenFrames(1);
            return streamer.subscribe(first!.result.task.id);
          }),
        ),
      );
      // Every third leaves in the middle, and that is nobody else's affair.
      const [staying, leaving] = [0, 1].map((kind) =>
        watchers.filter((_, index) => (index % 3 === 2 ? 1 : 0) === kind),
      );
      await Promise.all(leaving!.map((reader) => reader.whenFrames(CHUNKS / 2)));
      leaving!.forEach((reader) => {
        reader.destroy();
      });
      const readers = [...senders, ...staying!];
      await Promise.all(readers.map((reader) => reader.whenEnded()));
      clearInterval(interval);
      for (const reader of readers) {
        const folded = fold(reader.frames);
        const { body } = await rpc(replicas[2]!.url, 'GetTask', { id: folded.id });
        expect(folded.status.state).toBe('TASK_STATE_COMPLETED');
        expect(folded).toEqual(body.result);
        const versions = reader.ids;
        expect(versions).toEqual(versions.map((_, index) => versions[0]! + index));
      }
    },
    60_000,
  );
});
