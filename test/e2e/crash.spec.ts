import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { postgresUrl } from '../support/data-sources.js';
import { rpc, send } from '../support/rpc.js';
import { startSut } from '../support/sut-process.js';

/** What a client was told of a task. */
interface Told {
  readonly id: string;
  readonly parts: number;
}

async function crashWhileTasksRun(databaseUrl: string): Promise<void> {
  const told = await tellOfRunningTasks(databaseUrl);
  expect(told.every(({ parts }) => parts > 0)).toBe(true);
  const sut = await startSut({ DATABASE_URL: databaseUrl });
  try {
    for (const { id, parts } of told) {
      const { body } = await rpc(sut.url, 'GetTask', { id });
      expect(partsOf(body.result)).toBeGreaterThanOrEqual(parts);
    }
    const listed = await rpc(sut.url, 'ListTasks', { pageSize: 100 });
    expect(listed.body.result.totalSize).toBe(told.length);
    const canceled = await rpc(sut.url, 'CancelTask', { id: told[0]?.id });
    expect(canceled.body.result.status.state).toBe('TASK_STATE_CANCELED');
  } finally {
    await sut.kill();
  }
}

/** Starts tasks, asks for them a few times, and kills the process while they still run. */
async function tellOfRunningTasks(databaseUrl: string): Promise<Told[]> {
  const sut = await startSut({ DATABASE_URL: databaseUrl });
  try {
    const tasks: string[] = [];
    for (let count = 0; count < 10; count++) {
      const { body } = await send(sut.url, 'chunks 100000 40', { configuration: { returnImmediately: true } });
      tasks.push(String(body.result.task.id));
    }
    let told: Told[] = [];
    for (let round = 0; round < 3; round++) {
      told = await Promise.all(
        tasks.map(async (id) => ({ id, parts: partsOf((await rpc(sut.url, 'GetTask', { id })).body.result) })),
      );
    }
    return told;
  } finally {
    await sut.kill();
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tasks are looked into freely
function partsOf(task: any): number {
  return Number(task.artifacts?.[0]?.parts.length ?? 0);
}

describe('A process that is killed while tasks run has stored every update that a client was told of (LIFE-01b)', () => {
  it('on SQLite', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-a2a-crash-'));
    await crashWhileTasksRun(`sqlite:${join(folder, 'tasks.sqlite')}`);
    rmSync(folder, { recursive: true });
  }, 60_000);

  it('on PostgreSQL', async () => {
    const admin = await new DataSource({ type: 'postgres', url: postgresUrl() }).initialize();
    const database = `crash_${process.pid}`;
    await admin.query(`CREATE DATABASE ${database}`);
    await crashWhileTasksRun(postgresUrl().replace(/[^/]+$/u, database));
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.destroy();
  }, 60_000);
});
