import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { A2AOptions, SkillDefinition } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { newcomer, textOf, type Answer, type Caller } from '../support/caller.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { GatedStore } from '../support/gated-store.js';
import { userMessage } from '../support/rpc.js';
import { until } from '../support/until.js';

const REFUSAL = { code: -32004, message: 'maximum concurrent task runs reached' };

let agent: Agent;
let skills: FixtureSkills;

async function start(options: Partial<A2AOptions> = {}): Promise<void> {
  agent = await startAgent({ skills: [FixtureSkills], options });
  skills = agent.app.get(FixtureSkills);
}

async function stop(): Promise<void> {
  skills.gate.open();
  await agent.close();
}

/** Takes run slots and holds them. */
async function occupy(caller: Caller, slots: number): Promise<string[]> {
  const before = skills.gate.waiting;
  const tasks = await Promise.all(Array.from({ length: slots }, () => caller.start('hold')));
  await skills.gate.whenWaiting(before + slots);
  return tasks.map(({ id }) => id);
}

/** Waits until no run is under way. Whether its slot is free then shows when the next run takes it. */
async function allFree(): Promise<void> {
  await until(() => agent.service.statistics().liveRuns === 0, 'The end of all runs');
}

describe('One owner', () => {
  afterEach(stop);

  it('has 16 runs at once, whatever way they were started (CAP-01a, CAP-02)', async () => {
    await start();
    const alice = newcomer(agent.url);
    const parked = await alice.task('input');
    const blocking = alice.task('hold');
    const resumed = alice.follow(parked.id, 'hold');
    await skills.gate.whenWaiting(2);
    await occupy(alice, 14);
    expect((await alice.send('echo')).error).toMatchObject(REFUSAL);
    expect((await alice.send('echo', { configuration: { returnImmediately: true } })).error).toMatchObject(REFUSAL);
    skills.gate.open();
    await Promise.all([blocking, resumed]);
    await allFree();
    expect((await alice.task('echo')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it.each([
    [0, 16],
    [undefined, 16],
    [3, 3],
  ])('has its number of runs from the option: %p is %i (CAP-01b)', async (option, cap) => {
    await start(option === undefined ? {} : { maxConcurrentRunsPerOwner: option });
    const alice = newcomer(agent.url);
    await occupy(alice, cap);
    expect((await alice.send('echo')).error).toMatchObject(REFUSAL);
  });

  it('has any number of runs when the option is negative (CAP-01b)', async () => {
    await start({ maxConcurrentRunsPerOwner: -1 });
    const alice = newcomer(agent.url);
    await occupy(alice, 40);
    expect((await alice.task('echo')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('shares its runs between its tenants and credentials (CAP-01a)', async () => {
    await start({ maxConcurrentRunsPerOwner: 2 });
    const alice = newcomer(agent.url);
    await occupy(alice.with({ tenant: 'a' }), 1);
    await occupy(alice.with({ scopes: 'read' }), 1);
    expect((await alice.with({ tenant: 'b' }).send('echo')).error).toMatchObject(REFUSAL);
  });

  it('at its cap does not affect another (CAP-07a)', async () => {
    await start({ maxConcurrentRunsPerOwner: 2 });
    const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
    await occupy(alice, 2);
    expect((await alice.send('echo')).error).toMatchObject(REFUSAL);
    await occupy(bob, 1);
    expect((await bob.task('echo')).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('A message past the cap', () => {
  let alice: Caller;

  beforeEach(async () => {
    await start({ maxConcurrentRunsPerOwner: 1 });
    alice = newcomer(agent.url);
  });
  afterEach(stop);

  it('is refused before anything is written (CAP-02)', async () => {
    const [held] = await occupy(alice, 1);
    const { status, error } = await alice.send('echo');
    expect(status).toBe(200);
    expect(error).toMatchObject({ ...REFUSAL, data: [{ reason: 'UNSUPPORTED_OPERATION' }] });
    expect((await alice.list()).tasks.map(({ id }) => id)).toEqual([held]);
    expect(skills.calls).toHaveLength(1);
  });

  it('leaves the paused task that it was for as it was (CAP-02)', async () => {
    const parked = await alice.task('input');
    await occupy(alice, 1);
    expect((await alice.follow(parked.id, 'echo')).error).toMatchObject(REFUSAL);
    expect(await alice.get(parked.id)).toEqual(parked);
    skills.gate.letGo();
    await allFree();
    const { result } = await alice.follow(parked.id, 'echo');
    expect(result.task.history.map(textOf)).toEqual(['input', 'More, please.', 'echo']);
  });

  it('is told what is wrong with it first, when something is (CAP-02)', async () => {
    await occupy(alice, 1);
    expect((await alice.invoke('SendMessage', { message: userMessage([]) })).error.code).toBe(-32602);
    expect((await alice.send([{ raw: 'AAAA', mediaType: 'video/mp4' }])).error.code).toBe(-32005);
  });

  it('hinders neither reading nor canceling (CAP-02)', async () => {
    const [held] = await occupy(alice, 1);
    expect((await alice.list()).totalSize).toBe(1);
    expect((await alice.cancel(held!)).result.status.state).toBe('TASK_STATE_CANCELED');
    expect((await alice.task('echo')).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('A run slot', () => {
  afterEach(stop);

  it.each([
    ['echo', 'TASK_STATE_COMPLETED'],
    ['chunks', 'TASK_STATE_COMPLETED'],
    ['noterm', 'TASK_STATE_COMPLETED'],
    ['fail', 'TASK_STATE_FAILED'],
    ['reject', 'TASK_STATE_REJECTED'],
    ['throw', 'TASK_STATE_FAILED'],
    ['throwfirst', 'TASK_STATE_FAILED'],
    ['input', 'TASK_STATE_INPUT_REQUIRED'],
    ['auth', 'TASK_STATE_AUTH_REQUIRED'],
  ])('is free again when the answer is there: %s (CAP-03, R-29)', async (text, state) => {
    await start({ maxConcurrentRunsPerOwner: 1 });
    const alice = newcomer(agent.url);
    for (let round = 0; round < 5; round++) expect((await alice.task(text)).status.state).toBe(state);
    await allFree();
  });

  it('is free again after a direct Message (CAP-03)', async () => {
    await start({ maxConcurrentRunsPerOwner: 1 });
    const alice = newcomer(agent.url);
    for (let round = 0; round < 5; round++) expect((await alice.send('message hi')).result).toHaveProperty('message');
    await allFree();
  });

  it.each(['hold', 'deaf'])(
    'is free again when the run timed out, though the skill may go on: %s (CAP-03)',
    async (text) => {
      await start({ maxConcurrentRunsPerOwner: 1, taskTimeout: 30 });
      const alice = newcomer(agent.url);
      for (let round = 0; round < 3; round++) {
        const { status } = await alice.task(text);
        expect(status.state).toBe('TASK_STATE_FAILED');
        expect(textOf(status.message)).toBe('task timed out');
      }
      await allFree();
    },
  );

  it.each(['hold', 'deaf', 'wait'])('is free again when the task was canceled: %s (CAP-03)', async (text) => {
    await start({ maxConcurrentRunsPerOwner: 1 });
    const alice = newcomer(agent.url);
    for (let round = 0; round < 3; round++) {
      const { id } = await alice.start(text);
      await alice.cancel(id);
    }
    expect((await alice.task('echo')).status.state).toBe('TASK_STATE_COMPLETED');
    await allFree();
  });

  it.each([
    ['create', false],
    ['create', true],
    ['append', true],
  ] as const)(
    'is free again when the store fails to %s, at once %p (CAP-03, STORE-13b)',
    async (operation, returnImmediately) => {
      const store = new GatedStore();
      await start({ store, maxConcurrentRunsPerOwner: 1 });
      const alice = newcomer(agent.url);
      store.fail(operation, new Error('connect ECONNREFUSED db://user:pw@host'));
      for (let round = 0; round < 3; round++) {
        const { text } = await alice.send('echo', { configuration: { returnImmediately } });
        expect(text).not.toContain('ECONNREFUSED');
        expect(text).not.toContain('maximum concurrent');
        await allFree();
      }
      store.fail(operation, undefined);
      expect((await alice.task('echo')).status.state).toBe('TASK_STATE_COMPLETED');
    },
  );

  it('is taken by a skill that only answers with Messages, too (CAP-01a)', async () => {
    const definition: SkillDefinition = {
      id: 'greet',
      answers: 'message',
      handler: async () => {
        await skills.gate.pass();
        return 'Good morning.';
      },
    };
    await start({ maxConcurrentRunsPerOwner: 1, skills: [definition] });
    const alice = newcomer(agent.url);
    const message = { metadata: { skill: 'greet' } };
    const answer = alice.send('hi', { message });
    await skills.gate.whenWaiting();
    expect((await alice.send('hi', { message })).error).toMatchObject(REFUSAL);
    skills.gate.letGo();
    expect((await answer).result).toHaveProperty('message');
    await allFree();
  });
});

describe.each(ADAPTERS)('Many owners, on %s,', (adapter) => {
  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [FixtureSkills] });
    skills = agent.app.get(FixtureSkills);
  });
  afterAll(stop);

  it('have 200 messages at once all COMPLETED, each its own (CAP-07a, ISO-03)', async () => {
    const owners = Array.from({ length: 20 }, () => newcomer(agent.url));
    const sent = await Promise.all(
      owners.flatMap((owner, place) =>
        Array.from({ length: 10 }, async (_, index) => {
          const text = `of ${place}, number ${index}`;
          return { owner, text, answer: await owner.send(`echo ${text}`) };
        }),
      ),
    );
    for (const { answer, text } of sent) assertCompleted(answer, text);
    expect(new Set(sent.map(({ answer }) => answer.result.task.id)).size).toBe(200);
    for (const owner of owners) {
      const own = sent.filter((message) => message.owner === owner).map(({ answer }) => answer.result.task.id);
      const { tasks, totalSize } = await owner.list();
      expect(totalSize).toBe(10);
      expect(tasks.map(({ id }) => id).sort()).toEqual(own.sort());
    }
    await allFree();
    expect(agent.service.statistics()).toMatchObject({ executions: 200, liveRuns: 0, subscribers: 0 });
  });
});

function assertCompleted({ status, result }: Answer, text: string): void {
  expect(status).toBe(200);
  expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(result.task.artifacts.map(textOf)).toEqual([text]);
}
