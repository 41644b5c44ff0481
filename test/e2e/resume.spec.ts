import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryTaskStore, type SkillDefinition, type TaskContext } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { fieldsOf, newcomer, textOf, type Answer, type WireTask } from '../support/caller.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { GatedStore } from '../support/gated-store.js';

const inputRequired = ({ status }: { readonly status: { readonly state: string } }): boolean =>
  status.state === 'TASK_STATE_INPUT_REQUIRED';

describe.each(ADAPTERS)('A message to a parked task, on %s,', (adapter) => {
  let agent: Agent;
  let skills: FixtureSkills;

  beforeAll(async () => {
    agent = await startAgent({ adapter, skills: [FixtureSkills] });
    skills = agent.app.get(FixtureSkills);
  });
  afterAll(async () => {
    skills.gate.open();
    await agent.close();
  });

  it.each(['input', 'auth'])(
    'runs the skill again, with the message and all history: %s (SEND-07, LIFE-09)',
    async (how) => {
      const alice = newcomer(agent.url);
      const parked = await alice.task(how);
      const { result } = await alice.follow(parked.id, 'echo done');
      const [, resumed] = skills.callsOf(parked.id);
      // The message is on the task, and the task WORKING, before the skill is called.
      expect(resumed?.task.status.state).toBe('TASK_STATE_WORKING');
      expect(resumed?.task.history?.slice(0, -1)).toEqual(parked.history);
      expect(resumed?.message).toEqual(resumed?.task.history?.at(-1));
      expect(resumed?.message).toMatchObject({ taskId: parked.id, contextId: parked.contextId, role: 'ROLE_USER' });
      expect(result.task).toMatchObject({ id: parked.id, contextId: parked.contextId });
      expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(result.task.history.map(textOf)).toEqual([how, textOf(parked.status.message), 'echo done']);
      expect(await alice.get(parked.id)).toEqual(result.task);
    },
  );
});

describe('A message to a parked task', () => {
  let agent: Agent;
  let skills: FixtureSkills;

  beforeAll(async () => {
    agent = await startAgent({ skills: [FixtureSkills] });
    skills = agent.app.get(FixtureSkills);
  });
  afterAll(async () => {
    skills.gate.open();
    await agent.close();
  });

  it('belongs to the context of its task when it names none (B-29)', async () => {
    const alice = newcomer(agent.url);
    const parked = await alice.task('input', { message: { contextId: 'mine' } });
    const { result } = await alice.follow(parked.id, 'echo');
    expect(result.task.contextId).toBe('mine');
    expect(result.task.history.map(({ contextId }) => contextId)).toEqual(['mine', 'mine', 'mine']);
  });

  it('may name the context of its task, and no other (SEND-05)', async () => {
    const alice = newcomer(agent.url);
    const parked = await alice.task('input');
    const { error } = await alice.follow(parked.id, 'echo', { message: { contextId: 'another' } });
    expect(error.code).toBe(-32602);
    expect(fieldsOf(error)).toEqual(['message.contextId']);
    expect(await alice.get(parked.id)).toEqual(parked);
    expect(skills.callsOf(parked.id)).toHaveLength(1);
    const { result } = await alice.follow(parked.id, 'echo', { message: { contextId: parked.contextId } });
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('is answered at once with returnImmediately (SEND-09)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('input');
    const { result } = await alice.follow(id, 'wait on', { configuration: { returnImmediately: true } });
    expect(result.task.status.state).toBe('TASK_STATE_WORKING');
    expect(result.task.history.map(textOf)).toEqual(['input', 'More, please.', 'wait on']);
    await skills.gate.whenWaiting();
    skills.gate.letGo();
    await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
  });

  it('is answered with as much history as it asks for (SEND-11, B-37)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('input');
    const { result } = await alice.follow(id, 'input again', { configuration: { historyLength: 2 } });
    expect(result.task.history.map(textOf)).toEqual(['input again', 'More, please.']);
    expect((await alice.get(id)).history).toHaveLength(4);
  });

  it('that the skill does not take leaves it parked (SEND-18)', async () => {
    const alice = newcomer(agent.url);
    const parked = await alice.task('input');
    const { error } = await alice.follow(parked.id, [{ raw: 'AAAA', mediaType: 'video/mp4' }]);
    expect(error.code).toBe(-32005);
    expect(await alice.get(parked.id)).toEqual(parked);
  });

  it('enters the history once, as do the messages of the agent (B-41, LIFE-13b)', async () => {
    const alice = newcomer(agent.url);
    const { id, contextId } = await alice.task('input');
    await alice.follow(id, 'input again');
    const { result } = await alice.cancel(id);
    expect(result.history.map(textOf)).toEqual(['input', 'More, please.', 'input again', 'More, please.']);
    expect(result.history.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER', 'ROLE_AGENT']);
    expect(new Set(result.history.map(({ messageId }) => messageId)).size).toBe(4);
    expect(result.history.every((message) => message.taskId === id && message.contextId === contextId)).toBe(true);
    expect((await alice.get(id)).history).toEqual(result.history);
  });

  it('is the only one of ten that comes through (LIFE-10)', async () => {
    for (let round = 0; round < 5; round++) {
      const alice = newcomer(agent.url);
      const { id } = await alice.task('input');
      const words = Array.from({ length: 10 }, (_, index) => `echo reply ${index}`);
      const answers = await Promise.all(words.map((text) => alice.follow(id, text)));
      assertOneWon(answers, await alice.get(id));
      expect(skills.callsOf(id)).toHaveLength(2);
    }
  });
});

/** Ten sent `echo reply N` to one parked task: one won, the others were refused and left nothing behind. */
function assertOneWon(answers: readonly Answer[], task: WireTask): void {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- an answer without an error has none
  const won = answers.filter(({ error }) => !error);
  expect(won).toHaveLength(1);
  expect(won[0]?.result.task.status.state).toBe('TASK_STATE_COMPLETED');
  for (const { status, error } of answers.filter((answer) => answer !== won[0])) {
    expect(status).toBe(200);
    expect(error.code).toBe(-32004);
  }
  const winner = answers.indexOf(won[0]!);
  expect(task.history.map(textOf)).toEqual(['input', 'More, please.', `echo reply ${winner}`]);
}

describe('A message to a parked task, when the store is slow,', () => {
  let agent: Agent;
  let skills: FixtureSkills;
  let store: GatedStore;

  beforeEach(async () => {
    store = new GatedStore();
    agent = await startAgent({ skills: [FixtureSkills], options: { store, maxConcurrentRunsPerOwner: 10 } });
    skills = agent.app.get(FixtureSkills);
  });
  afterEach(async () => {
    skills.gate.open();
    await agent.close();
  });

  it('is the only one of ten that comes through, though all had seen the task parked (LIFE-10, ERR-03)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('input');
    const gate = store.hold('read', 'after');
    const answers = Array.from({ length: 10 }, (_, index) => alice.follow(id, `echo reply ${index}`));
    await gate.whenWaiting(10);
    gate.open();
    assertOneWon(await Promise.all(answers), await alice.get(id));
    expect(skills.callsOf(id)).toHaveLength(2);
    expect(agent.service.statistics()).toMatchObject({ liveRuns: 0, subscribers: 0, seats: 0 });
  });

  it('is refused when a cancel was faster, and leaves nothing behind (LIFE-10, ERR-03)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.task('input');
    const gate = store.hold('append', 'before');
    const answer = alice.follow(id, 'echo late');
    await gate.whenWaiting();
    const { result: canceled } = await alice.cancel(id);
    gate.open();
    expect((await answer).error.code).toBe(-32004);
    expect(await alice.get(id)).toEqual(canceled);
    expect(skills.callsOf(id)).toHaveLength(1);
  });

  it('is not taken, and its run slot given back, when the store fails (CAP-03, STORE-13)', async () => {
    const alice = newcomer(agent.url);
    const parked = await alice.task('input');
    store.fail('append', new Error('connect ECONNREFUSED db.internal:5432'));
    const answers = await Promise.all(Array.from({ length: 10 }, () => alice.follow(parked.id, 'echo')));
    for (const { text, error } of answers) {
      expect(error).toEqual({ code: -32603, message: 'Internal error' });
      expect(text).not.toContain('db.internal');
    }
    store.fail('append', undefined);
    expect(await alice.get(parked.id)).toEqual(parked);
    expect((await alice.follow(parked.id, 'echo')).result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('As soon as INPUT_REQUIRED is seen', () => {
  it.each([
    ['any number of runs', -1],
    ['one run at a time', 1],
  ])('the next message is taken, 60 times over, with %s (B-33, R-29)', async (_what, maxConcurrentRunsPerOwner) => {
    const agent = await startAgent({ skills: [FixtureSkills], options: { maxConcurrentRunsPerOwner } });
    try {
      const alice = newcomer(agent.url);
      for (let round = 0; round < 60; round++) {
        const { id } = await alice.start('input');
        await alice.taskWhen(id, inputRequired);
        const { result, text } = await alice.follow(id, 'echo done');
        expect(text).not.toContain('"error"');
        expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
      }
    } finally {
      await agent.close();
    }
  });

  it('the next message is taken, even before the store has told the run so (B-33, R-29)', async () => {
    const store = new GatedStore();
    const agent = await startAgent({ skills: [FixtureSkills], options: { store, maxConcurrentRunsPerOwner: 1 } });
    try {
      const alice = newcomer(agent.url);
      const gate = store.hold('append', 'after');
      const { id } = await alice.start('input');
      await gate.whenWaiting();
      expect(inputRequired(await alice.get(id))).toBe(true);
      const answer = alice.follow(id, 'echo done');
      await Promise.race([gate.whenWaiting(2), answer]);
      gate.open();
      expect((await answer).result.task.status.state).toBe('TASK_STATE_COMPLETED');
      expect((await alice.get(id)).history.map(textOf)).toEqual(['input', 'More, please.', 'echo done']);
    } finally {
      await agent.close();
    }
  });
});

describe('The skill of a parked task', () => {
  const store = new MemoryTaskStore();
  const asking: SkillDefinition = { id: 'asking', handler: (task) => task.requireInput('What?') };
  const answering = (answer: string) => (task: TaskContext) =>
    'text' in task.message.parts[0]! && task.message.parts[0].text === 'first' ? task.requireInput('What?') : answer;
  const agents: Agent[] = [];

  /** Starts a process of its own, as after a deployment: the store is the same. */
  async function deploy(...skills: readonly SkillDefinition[]): Promise<Agent> {
    const agent = await startAgent({ options: { store, skills } });
    agents.push(agent);
    return agent;
  }
  afterAll(async () => {
    for (const agent of agents) await agent.close();
  });

  it('runs it again, whatever skill the next message asks for (LIFE-11b)', async () => {
    const { url } = await deploy(
      { id: 'first', handler: answering('of the first') },
      { id: 'second', handler: answering('of the second') },
    );
    const alice = newcomer(url);
    const { id } = await alice.task('first', { message: { metadata: { skill: 'first' } } });
    const { result } = await alice.follow(id, 'go on', { message: { metadata: { skill: 'second' } } });
    expect(result.task.artifacts.map(textOf)).toEqual(['of the first']);
    expect(result.task.metadata).toEqual({ 'a2a.skill': 'first' });
  });

  it('is gone: the task is REJECTED, with the message, and no run slot taken (LIFE-11a)', async () => {
    const before = await deploy(asking);
    const after = await deploy({ id: 'other', handler: () => 'other' });
    const alice = newcomer(before.url);
    const { id } = await alice.task('first');
    const { result } = await alice.at(after.url).follow(id, 'go on');
    expect(result.task).toMatchObject({ id, status: { state: 'TASK_STATE_REJECTED' } });
    const why = 'There is no skill called "asking".';
    expect(result.task.history.map(textOf)).toEqual(['first', 'What?', 'go on', why]);
    expect(await alice.get(id)).toEqual(result.task);
    expect(after.service.statistics()).toEqual({ executions: 0, liveRuns: 0, subscribers: 0, seats: 0 });
  });

  it('demands a scope that the caller lacks: 403, and the task stays parked (R-32)', async () => {
    const before = await deploy(asking);
    const after = await deploy({ ...asking, scopes: ['ask'] });
    const narrowed = newcomer(before.url, { scopes: 'read' });
    const parked = await narrowed.task('first');
    const { status, error } = await narrowed.at(after.url).follow(parked.id, 'go on');
    expect(status).toBe(403);
    expect(error.code).toBe(-31403);
    expect(await narrowed.get(parked.id)).toEqual(parked);
  });
});
