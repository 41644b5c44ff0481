import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemoryTaskStore, type A2AOptions, type TaskStore } from 'nestjs-a2a';
import { startAgent, type Agent } from '../support/agent.js';
import { fieldsOf, newcomer, textOf, type Caller, type WireResult, type WireTask } from '../support/caller.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { ManualClock } from '../support/manual-clock.js';
import { OwnerOnlyStore } from '../support/owner-only-store.js';

const STORES: readonly (readonly [name: string, create: () => TaskStore])[] = [
  ['the store in memory', () => new MemoryTaskStore()],
  ['a store that knows nothing of tiers', () => new OwnerOnlyStore()],
];

const ids = ({ tasks }: Pick<WireResult, 'tasks'>): string[] => tasks.map(({ id }) => id);

/** Follows the page tokens to the end. */
async function pagesOf(caller: Caller, params: { readonly pageSize: number }): Promise<WireResult[]> {
  const pages = [await caller.list(params)];
  for (let token = pages[0]!.nextPageToken; token !== ''; token = pages.at(-1)!.nextPageToken) {
    pages.push(await caller.list({ ...params, pageToken: token }));
    if (pages.length > 100) throw new Error('The pages have no end.');
  }
  return pages;
}

describe.each(STORES)('ListTasks, with %s,', (_name, createStore) => {
  let agent: Agent;
  const clock = new ManualClock();

  beforeAll(async () => {
    const options: Partial<A2AOptions> = {
      store: createStore(),
      clock,
      maxConcurrentRunsPerOwner: -1,
      terminalTaskRetention: -1,
    };
    agent = await startAgent({ skills: [FixtureSkills], options });
  });
  afterAll(() => agent.close());

  /** Makes tasks one after the other, a second apart. */
  async function tasksOf(caller: Caller, texts: readonly string[]): Promise<WireTask[]> {
    const tasks: WireTask[] = [];
    for (const text of texts) {
      clock.advance(1_000);
      tasks.push(await caller.task(text));
    }
    return tasks;
  }

  it('always answers all four fields (LIST-01, B-78)', async () => {
    const alice = newcomer(agent.url);
    expect(await alice.list()).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
    const task = await alice.task('input');
    for (const params of [undefined, {}, { contextId: '', pageToken: '', status: 'TASK_STATE_UNSPECIFIED' }]) {
      const { result } = await alice.invoke('ListTasks', params);
      expect(result).toEqual({ tasks: [task], nextPageToken: '', pageSize: 50, totalSize: 1 });
    }
  });

  it('shows 50 tasks when no size is asked for, and no more than asked for (LIST-02a, LIST-02b, LIST-02c)', async () => {
    const alice = newcomer(agent.url);
    await Promise.all(Array.from({ length: 60 }, () => alice.task('echo')));
    for (const [pageSize, shown] of [
      [undefined, 50],
      [1, 1],
      [59, 59],
      [60, 60],
      [100, 60],
    ] as const) {
      const page = await alice.list(pageSize === undefined ? {} : { pageSize });
      expect(page.tasks).toHaveLength(shown);
      expect(page).toMatchObject({ pageSize: pageSize ?? 50, totalSize: 60 });
      expect(page.nextPageToken === '').toBe(shown === 60);
    }
  });

  it('filters by context, status and time, by all that are given (LIST-03a, LIST-08)', async () => {
    const alice = newcomer(agent.url);
    const made: WireTask[] = [];
    for (const [text, contextId] of [
      ['echo', 'c1'],
      ['input', 'c1'],
      ['echo', 'c2'],
      ['input', 'c2'],
      ['echo', 'c1'],
    ] as const) {
      clock.advance(1_000);
      made.push(await alice.task(text, { message: { contextId } }));
    }
    const [, , third] = made;
    const status = 'TASK_STATE_COMPLETED';
    const statusTimestampAfter = third!.status.timestamp;
    const expectIds = async (params: Parameters<Caller['list']>[0], places: readonly number[]) => {
      const page = await alice.list(params);
      expect(ids(page)).toEqual(places.map((place) => made[place]!.id));
      expect(page.totalSize).toBe(places.length);
    };
    await expectIds({ contextId: 'c1' }, [4, 1, 0]);
    await expectIds({ status }, [4, 2, 0]);
    await expectIds({ statusTimestampAfter }, [4, 3, 2]);
    await expectIds({ contextId: 'c1', status }, [4, 0]);
    await expectIds({ contextId: 'c1', status, statusTimestampAfter }, [4]);
    await expectIds({ contextId: 'c3' }, []);
    await expectIds({ status: 'TASK_STATE_WORKING' }, []);
    expect(await alice.list({ contextId: 'c1', pageSize: 1 })).toMatchObject({ totalSize: 3, pageSize: 1 });
  });

  it('counts the instant itself as after, however it is written (LIST-04, DM-11b)', async () => {
    const alice = newcomer(agent.url);
    clock.time = Date.UTC(2026, 5, 1, 12, 0, 0, 500);
    const { id } = await alice.task('echo');
    for (const [statusTimestampAfter, found] of [
      ['2026-06-01T12:00:00.500Z', true],
      ['2026-06-01T14:00:00.5+02:00', true],
      ['2026-06-01T12:00:00.499999999Z', true],
      ['2026-06-01T12:00:00Z', true],
      ['2026-06-01T12:00:00.501Z', false],
      ['2026-06-01T12:00:01-00:00', false],
    ] as const) {
      expect([statusTimestampAfter, ids(await alice.list({ statusTimestampAfter }))]).toEqual([
        statusTimestampAfter,
        found ? [id] : [],
      ]);
    }
  });

  it('shows the newest status first, not the newest task (LIST-05, R-30)', async () => {
    const alice = newcomer(agent.url);
    const [first, second, third] = await tasksOf(alice, ['input', 'echo', 'input']);
    expect(ids(await alice.list())).toEqual([third!.id, second!.id, first!.id]);
    clock.advance(1_000);
    await alice.follow(first!.id, 'input again');
    expect(ids(await alice.list())).toEqual([first!.id, third!.id, second!.id]);
    clock.advance(1_000);
    await alice.cancel(third!.id);
    expect(ids(await alice.list())).toEqual([third!.id, first!.id, second!.id]);
  });

  it('never lets the status of a task grow older, even when the clock does (R-30)', async () => {
    const alice = newcomer(agent.url);
    const [resumed, canceled] = await tasksOf(alice, ['input', 'input']);
    clock.advance(-60_000);
    const { result } = await alice.follow(resumed!.id, 'progress 1');
    expect(result.task.status.timestamp).toBe(resumed!.status.timestamp);
    expect((await alice.cancel(canceled!.id)).result.status.timestamp).toBe(canceled!.status.timestamp);
    expect(ids(await alice.list())).toEqual([canceled!.id, resumed!.id]);
    clock.advance(120_000);
  });

  it('pages through 60 tasks of one millisecond, each once, in one order (LIST-05, LIST-06, B-75)', async () => {
    const alice = newcomer(agent.url);
    const made = await Promise.all(Array.from({ length: 60 }, () => alice.task('echo')));
    expect(new Set(made.map(({ status }) => status.timestamp)).size).toBe(1);
    const sorted = made.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1));
    for (let pass = 0; pass < 2; pass++) {
      const pages = await pagesOf(alice, { pageSize: 7 });
      expect(pages.map(({ tasks }) => tasks.length)).toEqual([7, 7, 7, 7, 7, 7, 7, 7, 4]);
      expect(pages.flatMap(ids)).toEqual(sorted);
      expect(new Set(pages.map(({ totalSize }) => totalSize))).toEqual(new Set([60]));
    }
  });

  it('has no page behind the last, however its size divides the tasks (LIST-01)', async () => {
    const alice = newcomer(agent.url);
    const made = await tasksOf(alice, ['echo', 'echo', 'echo', 'echo']);
    for (const pageSize of [1, 2, 3, 4, 5]) {
      const pages = await pagesOf(alice, { pageSize });
      expect(pages).toHaveLength(Math.ceil(4 / pageSize));
      expect(pages.flatMap(ids)).toEqual(made.map(({ id }) => id).reverse());
    }
  });

  it('neither repeats nor skips tasks when others come, go or change between two pages (LIST-06)', async () => {
    const alice = newcomer(agent.url);
    const made = (await tasksOf(alice, ['input', 'echo', 'echo', 'echo', 'echo', 'echo']))
      .map(({ id }) => id)
      .reverse();
    const first = await alice.list({ pageSize: 2 });
    expect(first.nextPageToken).toMatch(/^[\w-]+$/u);
    await tasksOf(alice, ['echo', 'echo']);
    const second = await alice.list({ pageSize: 2, pageToken: first.nextPageToken });
    expect([...ids(first), ...ids(second)]).toEqual(made.slice(0, 4));
    // The oldest becomes the newest: it stands before the pages that are still to come.
    clock.advance(1_000);
    await alice.follow(made.at(-1)!, 'echo');
    const third = await alice.list({ pageSize: 2, pageToken: second.nextPageToken });
    expect(ids(third)).toEqual([made[4]]);
    expect(third).toMatchObject({ nextPageToken: '', totalSize: 8 });
  });

  it('pages with the filters of each request (LIST-03a, LIST-06)', async () => {
    const alice = newcomer(agent.url);
    const made = await tasksOf(alice, ['echo', 'input', 'echo', 'input', 'echo']);
    const params = { status: 'TASK_STATE_COMPLETED', pageSize: 2 };
    const first = await alice.list(params);
    const second = await alice.list({ ...params, pageToken: first.nextPageToken });
    expect([first, second].flatMap(ids)).toEqual([made[4]!.id, made[2]!.id, made[0]!.id]);
    expect([first.totalSize, second.totalSize, second.nextPageToken]).toEqual([3, 3, '']);
  });

  it("shows a caller with another's token its own tasks, and nothing else (LIST-07b, S-14)", async () => {
    const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
    const own = (await tasksOf(bob, ['echo', 'echo'])).map(({ id }) => id);
    await tasksOf(alice, ['echo', 'echo']);
    const newer = (await tasksOf(bob, ['echo'])).map(({ id }) => id);
    const { nextPageToken } = await alice.list({ pageSize: 1 });
    const page = await bob.list({ pageToken: nextPageToken });
    expect(ids(page)).toEqual([...own].reverse());
    expect(page).toMatchObject({ totalSize: 3, nextPageToken: '' });
    expect(ids(page)).not.toContain(newer[0]);
    const narrowed = alice.with({ scopes: 'read' });
    expect(await narrowed.list({ pageToken: nextPageToken })).toMatchObject({ tasks: [], totalSize: 0 });
  });

  it('shows artifacts when they are asked for, and only then (LIST-09a, B-78)', async () => {
    const alice = newcomer(agent.url);
    await tasksOf(alice, ['input', 'echo hello']);
    for (const params of [{}, { includeArtifacts: false }, { includeArtifacts: null }]) {
      for (const task of (await alice.list(params)).tasks) expect(task).not.toHaveProperty('artifacts');
    }
    const [done, parked] = (await alice.list({ includeArtifacts: true })).tasks;
    expect(done!.artifacts.map(textOf)).toEqual(['hello']);
    expect([undefined, []]).toContainEqual(parked!.artifacts);
  });

  it('shows as much history of each task as is asked for (LIST-09b, B-37, B-39)', async () => {
    const alice = newcomer(agent.url);
    await tasksOf(alice, ['progress 2', 'echo']);
    const lengths = async (params: Parameters<Caller['list']>[0]): Promise<(number | undefined)[]> =>
      (await alice.list(params)).tasks.map((task) => ('history' in task ? task.history.length : undefined));
    expect(await lengths({})).toEqual([1, 3]);
    expect(await lengths({ historyLength: 2 })).toEqual([1, 2]);
    expect(await lengths({ historyLength: 999 })).toEqual([1, 3]);
    expect(await lengths({ historyLength: 0 })).toEqual([undefined, undefined]);
    expect(await lengths({})).toEqual([1, 3]);
    const [, oldest] = (await alice.list({ historyLength: 1 })).tasks;
    expect(oldest!.history.map(textOf)).toEqual(['Step 1.']);
  });

  it('counts nothing of other users, tenants and scope sets (LIST-08)', async () => {
    const alice = newcomer(agent.url);
    const read = alice.with({ scopes: 'read' });
    const acme = alice.with({ tenant: 'acme' });
    await tasksOf(newcomer(agent.url), ['echo', 'echo']);
    await tasksOf(alice, ['echo', 'echo', 'echo']);
    await tasksOf(read, ['echo', 'echo']);
    await tasksOf(acme, ['echo']);
    const sizes = [alice, read, acme, alice.with({ scopes: '' })].map(async (who) => (await who.list()).totalSize);
    expect(await Promise.all(sizes)).toEqual([5, 2, 1, 0]);
    expect(await read.list({ pageSize: 1 })).toMatchObject({ totalSize: 2 });
    expect((await pagesOf(read, { pageSize: 1 })).flatMap(ids)).toHaveLength(2);
  });
});

describe('ListTasks', () => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startAgent({ skills: [FixtureSkills] });
  });
  afterAll(() => agent.close());

  it.each(
    [
      ...[0, -1, 101, 1.5, '10', 2 ** 31, true].map((value) => ['pageSize', value] as const),
      ...[-1, 1.5, '3', 2 ** 31].map((value) => ['historyLength', value] as const),
      ...['working', 'TASK_STATE_NOPE', 'task_state_working', 3].map((value) => ['status', value] as const),
      ...['yesterday', '2026-01-01', '2026-13-01T00:00:00Z', '2026-01-01T00:00:00', 5].map(
        (value) => ['statusTimestampAfter', value] as const,
      ),
      ...['garbage', '!', '0', 'MQ', 'eyJvZmZzZXQiOjUwfQ', Buffer.from('1:1:a').toString('base64url'), 5].map(
        (value) => ['pageToken', value] as const,
      ),
      ...['x'.repeat(257), 'a\0', 5].map((value) => ['contextId', value] as const),
      ...['yes', 1].map((value) => ['includeArtifacts', value] as const),
    ].map(([field, value]) => ({ field, value, shown: JSON.stringify(value).slice(0, 40) })),
  )('refuses $field $shown (LIST-02b, LIST-03b, LIST-07a, R-31, B-38, B-77)', async ({ field, value }) => {
    const { status, error } = await newcomer(agent.url).invoke('ListTasks', { [field]: value });
    expect(status).toBe(200);
    expect(error.code).toBe(-32602);
    expect(fieldsOf(error)).toEqual([field]);
  });

  it('takes TASK_STATE_UNSPECIFIED for no filter (LIST-03b)', async () => {
    const alice = newcomer(agent.url);
    await alice.task('echo');
    expect((await alice.list({ status: 'TASK_STATE_UNSPECIFIED' })).totalSize).toBe(1);
  });

  it('refuses a token that has been changed or cut off, wherever (LIST-07a)', async () => {
    const alice = newcomer(agent.url);
    await alice.task('echo');
    await alice.task('echo');
    const { nextPageToken: token } = await alice.list({ pageSize: 1 });
    expect((await alice.list({ pageToken: token })).tasks).toHaveLength(1);
    const changed = new Set<string>();
    for (let place = 0; place < token.length; place++) {
      if (place > 0) changed.add(token.slice(0, place));
      changed.add(token.slice(place + 1));
      changed.add(token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1));
    }
    for (const suffix of ['=', 'A', ' ', '\n', '.', token]) changed.add(token + suffix);
    changed.delete('');
    for (const pageToken of changed) {
      const { error, text } = await alice.invoke('ListTasks', { pageToken });
      expect([pageToken, text]).toEqual([pageToken, expect.stringContaining('-32602')]);
      expect(fieldsOf(error)).toEqual(['pageToken']);
    }
  });

  it('names every wrong field at once (LIST-02b, LIST-07a)', async () => {
    const { error } = await newcomer(agent.url).invoke('ListTasks', { pageSize: 101, pageToken: 'garbage' });
    expect(fieldsOf(error).sort()).toEqual(['pageSize', 'pageToken']);
  });

  it('has the page sizes of the options (LIST-02a, LIST-02b)', async () => {
    const other = await startAgent({ skills: [FixtureSkills], options: { defaultPageSize: 2, maxPageSize: 200 } });
    try {
      const alice = newcomer(other.url);
      await Promise.all([alice.task('echo'), alice.task('echo'), alice.task('echo')]);
      expect(await alice.list()).toMatchObject({ pageSize: 2, totalSize: 3 });
      expect((await alice.list()).tasks).toHaveLength(2);
      expect(await alice.list({ pageSize: 200 })).toMatchObject({ pageSize: 200, totalSize: 3 });
      expect((await alice.invoke('ListTasks', { pageSize: 201 })).error.code).toBe(-32602);
    } finally {
      await other.close();
    }
  });

  it('shows tasks as they run (LIST-03a)', async () => {
    const alice = newcomer(agent.url);
    const { gate } = agent.app.get(FixtureSkills);
    const { id } = await alice.start('hold');
    await gate.whenWaiting();
    expect(ids(await alice.list({ status: 'TASK_STATE_WORKING' }))).toEqual([id]);
    gate.open();
    await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    expect(ids(await alice.list({ status: 'TASK_STATE_WORKING' }))).toEqual([]);
  });
});

describe('ListTasks, with a store that knows nothing of tiers,', () => {
  it('finds the tasks of the caller among many, page by page (ISO-10a, LIST-06)', async () => {
    const store = new OwnerOnlyStore();
    const options: Partial<A2AOptions> = { store, maxConcurrentRunsPerOwner: -1 };
    const agent = await startAgent({ skills: [FixtureSkills], options });
    try {
      const session = newcomer(agent.url);
      const narrowed = session.with({ scopes: 'read' });
      const own: string[] = [];
      for (let round = 0; round < 5; round++) {
        await Promise.all(Array.from({ length: 50 }, () => session.task('echo')));
        own.push((await narrowed.task('echo')).id);
      }
      const pages = await pagesOf(narrowed, { pageSize: 2 });
      expect(pages.flatMap(ids).sort()).toEqual(own.sort());
      expect(pages.map(({ totalSize, tasks }) => [totalSize, tasks.length])).toEqual([
        [5, 2],
        [5, 2],
        [5, 1],
      ]);
      expect((await session.list({ pageSize: 100 })).totalSize).toBe(255);
      expect(store.listed).toBeGreaterThan(pages.length);
    } finally {
      await agent.close();
    }
  });
});
