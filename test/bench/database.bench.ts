import { randomUUID } from 'node:crypto';
import { TaskState, UNNARROWED, type Task, type TaskDraft, type TaskUpdate } from 'nestjs-a2a';
import { postgres, sqlite, type BenchDatabase } from './databases.js';
import { median, report } from './load.js';

const OWNER = 'bench';
const RUN = 'run';

function draft(index: number): TaskDraft {
  const id = randomUUID();
  const timestamp = new Date(1_700_000_000_000 + index).toISOString();
  const task: Task = {
    id,
    contextId: randomUUID(),
    status: { state: TaskState.Submitted, timestamp },
    history: [{ messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'a message of the user' }] }],
  };
  const updates = [{ kind: 'status', status: { state: TaskState.Completed, timestamp } } as const];
  return { task, updates, owner: OWNER, tenant: '', scope: UNNARROWED, skillId: 'echo', runId: null, at: index };
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** A life of a task: created with a run, one append while it works, settled; 16 of them at once. */
async function lives({ store }: BenchDatabase, from: number, count: number): Promise<number> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < from + count) {
      const { updates, ...rest } = draft(next++);
      await store.create({ ...rest, updates: [], runId: RUN });
      const key = { id: rest.task.id, owner: OWNER };
      const working = { kind: 'status', status: { ...rest.task.status, state: TaskState.Working } } as const;
      const task = (): Task => structuredClone(rest.task);
      await store.append({ key, expected: 0, runId: RUN, updates: [working], at: next, task });
      await store.append({ key, expected: 1, runId: null, updates, at: next, task });
    }
  };
  return milliseconds(() => Promise.all(Array.from({ length: 16 }, worker)));
}

async function page({ store }: BenchDatabase, after?: { statusAt: number; id: string }): Promise<number> {
  const costs = [];
  for (let round = 0; round < 20; round++) {
    costs.push(
      await milliseconds(() =>
        store.list({
          tier: { owner: OWNER, tenant: '', scope: UNNARROWED },
          limit: 50,
          artifacts: false,
          ...(after && { after }),
        }),
      ),
    );
  }
  return median(costs);
}

/** What an append of a 64-byte chunk costs around the 100th and the 10,000th, in ms, and the bytes it writes. */
async function chunks(database: BenchDatabase): Promise<{ early: number; late: number; bytes: number }> {
  const { task, ...rest } = draft(0);
  const { store } = database;
  await store.create({ ...rest, task, updates: [], runId: RUN });
  const parts: { text: string }[] = [];
  const artifact = { artifactId: 'a', parts };
  const costs: number[] = [];
  const before = await database.bytesWritten();
  for (let index = 0; index < 10_050; index++) {
    const chunk = { text: 'x'.repeat(64) };
    parts.push(chunk);
    const update = {
      kind: 'artifact',
      artifact: { artifactId: 'a', parts: [chunk] },
      append: index > 0,
      lastChunk: false,
    } satisfies TaskUpdate;
    costs.push(
      await milliseconds(() =>
        store.append({
          key: { id: task.id, owner: OWNER },
          expected: index,
          runId: RUN,
          updates: [update],
          at: index,
          task: () => ({ ...task, artifacts: [structuredClone(artifact)] }),
        }),
      ),
    );
  }
  const bytes = ((await database.bytesWritten()) - before) / costs.length;
  return { early: median(costs.slice(50, 150)), late: median(costs.slice(9_950)), bytes };
}

function line(label: string, values: readonly number[], unit: string, ratio: number): void {
  report(
    `  ${label.padEnd(44)} ${values.map((value) => value.toFixed(2)).join(' → ')} ${unit}  ratio ${ratio.toFixed(2)}`,
  );
}

for (const open of [sqlite, postgres]) {
  const database = await open();
  report(`${database.name}, never analysed`);
  const cost = await chunks(database);
  line('append of a chunk, 100th → 10,000th', [cost.early, cost.late], 'ms', cost.late / cost.early);
  report(`  bytes logged per 64-byte chunk               ${cost.bytes.toFixed(0)}`);

  const first = await lives(database, 1, 1_000);
  await lives(database, 1_001, 8_000);
  const last = await lives(database, 9_001, 1_000);
  line('1,000 task lives of one owner, first → last of 10,000', [first, last], 'ms', last / first);

  const other = await open();
  await Promise.all(Array.from({ length: 1_000 }, (_, index) => other.store.create(draft(index))));
  // What PostgreSQL does by itself within a minute, and what its plans of large tables are made by.
  await other.dataSource.query('ANALYZE');
  const small = { newest: await page(other), oldest: await page(other, { statusAt: 1_700_000_000_060, id: '' }) };
  for (let from = 1_000; from < 100_000; from += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => other.store.create(draft(from + index))));
  }
  await other.dataSource.query('ANALYZE');
  const large = { newest: await page(other), oldest: await page(other, { statusAt: 1_700_000_000_060, id: '' }) };
  line('newest page, 1,000 → 100,000 tasks, analysed', [small.newest, large.newest], 'ms', large.newest / small.newest);
  line('oldest page, 1,000 → 100,000 tasks, analysed', [small.oldest, large.oldest], 'ms', large.oldest / small.oldest);
  await other.close();
  await database.close();
}
