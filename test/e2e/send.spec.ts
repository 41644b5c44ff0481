import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { message as directMessage, Skill, type TaskContext } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { fieldsOf, newcomer, textOf } from '../support/caller.js';
import { callAndLeave, Departures } from '../support/departing-client.js';
import { FixtureSkills, SECRET } from '../support/fixture-skills.js';
import { userMessage } from '../support/rpc.js';
import { until } from '../support/until.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe.each(ADAPTERS)('SendMessage on %s', (adapter) => {
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

  it('answers {task} when the task is COMPLETED, with artifact and history (SEND-08, WIRE-10)', async () => {
    const { status, result } = await newcomer(agent.url).send('echo hello');
    expect(status).toBe(200);
    expect(Object.keys(result)).toEqual(['task']);
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(result.task.artifacts.map(textOf)).toEqual(['hello']);
    expect(result.task.history.map(textOf)).toEqual(['echo hello']);
  });

  it('answers when the task is interrupted (SEND-08)', async () => {
    const alice = newcomer(agent.url);
    expect((await alice.task('input')).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await alice.task('auth')).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  });

  it('waits as long as the task runs (SEND-08)', async () => {
    const alice = newcomer(agent.url);
    let isAnswered = false;
    const answer = alice.task('hold long').then((task) => {
      isAnswered = true;
      return task;
    });
    await skills.gate.whenWaiting();
    // Another call goes all the way there and back meanwhile.
    expect((await alice.list()).tasks[0]?.status.state).toBe('TASK_STATE_WORKING');
    expect(isAnswered).toBe(false);
    skills.gate.letGo();
    expect((await answer).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('answers at once with returnImmediately, and the run goes on (SEND-09)', async () => {
    const alice = newcomer(agent.url);
    const task = await alice.start('wait later');
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    expect(task.history.map(textOf)).toEqual(['wait later']);
    await skills.gate.whenWaiting();
    skills.gate.letGo();
    const done = await alice.taskWhen(task.id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    expect(done.artifacts.map(textOf)).toEqual(['later']);
  });

  it('keeps running when the client leaves a blocking call (SEND-10)', async () => {
    const alice = newcomer(agent.url);
    const departures = new Departures(agent.app.getHttpServer());
    const call = callAndLeave(agent.url, 'SendMessage', { message: userMessage('hold on') }, alice.user);
    await skills.gate.whenWaiting();
    await departures.of(call);
    const { tasks } = await alice.list();
    expect(tasks[0]?.status.state).toBe('TASK_STATE_WORKING');
    expect(skills.callsOf(tasks[0]!.id)[0]?.signal.aborted).toBe(false);
    skills.gate.letGo();
    const done = await alice.taskWhen(tasks[0]!.id, ({ status }) => status.state !== 'TASK_STATE_WORKING');
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.artifacts.map(textOf)).toEqual(['on']);
  });
});

describe('SendMessage', () => {
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

  describe('refuses, before anything is written,', () => {
    const text = [{ text: 'echo' }];
    const long = 'x'.repeat(257);
    const refusals: readonly (readonly [what: string, params: unknown, field: string, cites: string])[] = [
      ['no params', undefined, 'message', 'SEND-01a'],
      ['no message', {}, 'message', 'SEND-01a'],
      ['a null message', { message: null }, 'message', 'SEND-01a, B-21'],
      ['a message that is a string', { message: 'echo' }, 'message', 'SEND-01a'],
      ['no role', { message: { parts: text } }, 'message.role', 'SEND-01b, B-21'],
      ['ROLE_AGENT', { message: { role: 'ROLE_AGENT', parts: text } }, 'message.role', 'SEND-01b'],
      ['ROLE_UNSPECIFIED', { message: { role: 'ROLE_UNSPECIFIED', parts: text } }, 'message.role', 'SEND-01b'],
      ['a role of 0.3', { message: { role: 'user', parts: text } }, 'message.role', 'SEND-01b'],
      ['no parts', { message: { role: 'ROLE_USER' } }, 'message.parts', 'SEND-01c, B-21'],
      ['empty parts', { message: { role: 'ROLE_USER', parts: [] } }, 'message.parts', 'SEND-01c, B-21'],
      ['two contents', { message: userMessage([{ text: 'a', data: 1 }]) }, 'message.parts[0]', 'B-22'],
      ['an empty part', { message: userMessage([{ text: 'a' }, {} as never]) }, 'message.parts[1]', 'B-22'],
      ['empty text with raw', { message: userMessage([{ text: '', raw: 'QQ==' }]) }, 'message.parts[0]', 'B-22'],
      ['a long task id', { message: userMessage('echo', { taskId: long }) }, 'message.taskId', 'R-31, B-26'],
      ['a long context id', { message: userMessage('echo', { contextId: long }) }, 'message.contextId', 'R-31, B-26'],
      ['a long message id', { message: userMessage('echo', { messageId: long }) }, 'message.messageId', 'R-31'],
      ['a NUL in an id', { message: userMessage('echo', { contextId: 'a\0b' }) }, 'message.contextId', 'R-31'],
      ['a line feed in an id', { message: userMessage('echo', { messageId: 'a\nb' }) }, 'message.messageId', 'R-31'],
      ['half a character', { message: userMessage('echo', { taskId: '\ud800' }) }, 'message.taskId', 'R-31'],
      [
        'a long reference',
        { message: userMessage('echo', { referenceTaskIds: [long] }) },
        'message.referenceTaskIds[0]',
        'R-31',
      ],
    ];
    it.each(refusals.map(([what, params, field, cites]) => ({ what, params, field, cites })))(
      '$what, naming $field ($cites)',
      async ({ params, field }) => {
        const alice = newcomer(agent.url);
        const before = skills.calls.length;
        const { status, error } = await alice.invoke('SendMessage', params);
        expect(status).toBe(200);
        expect(error.code).toBe(-32602);
        expect(fieldsOf(error)).toContain(field);
        expect((await alice.list()).totalSize).toBe(0);
        expect(skills.calls).toHaveLength(before);
      },
    );

    it.each([-1, 1.5, '3', 2 ** 31, true])('historyLength %p (B-38, SEND-11)', async (historyLength) => {
      const alice = newcomer(agent.url);
      const { error } = await alice.send('echo', { configuration: { historyLength } });
      expect(error.code).toBe(-32602);
      expect(fieldsOf(error)).toEqual(['configuration.historyLength']);
      expect((await alice.list()).totalSize).toBe(0);
    });

    it('a message to a task that there is not (SEND-04, B-27)', async () => {
      const alice = newcomer(agent.url);
      const { status, error } = await alice.follow(UNKNOWN, 'echo');
      expect(status).toBe(200);
      expect(error.code).toBe(-32001);
      expect(error.data).toEqual([
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'TASK_NOT_FOUND',
          domain: 'a2a-protocol.org',
          metadata: { taskId: UNKNOWN },
        },
      ]);
      expect((await alice.list()).totalSize).toBe(0);
    });

    it.each([
      ['echo done', 'TASK_STATE_COMPLETED'],
      ['fail', 'TASK_STATE_FAILED'],
      ['reject', 'TASK_STATE_REJECTED'],
    ])('a message to a task that has ended: %s (SEND-06a, B-31)', async (text, state) => {
      const alice = newcomer(agent.url);
      const task = await alice.task(text);
      expect(task.status.state).toBe(state);
      const { error } = await alice.follow(task.id, 'echo again');
      expect(error).toMatchObject({ code: -32004, data: [{ reason: 'UNSUPPORTED_OPERATION' }] });
      expect(await alice.get(task.id)).toEqual(task);
      expect(skills.callsOf(task.id)).toHaveLength(1);
    });

    it('a message to a canceled task (SEND-06a, B-31)', async () => {
      const alice = newcomer(agent.url);
      const { id } = await alice.task('input');
      const { result: canceled } = await alice.cancel(id);
      expect((await alice.follow(id, 'echo again')).error.code).toBe(-32004);
      expect(await alice.get(id)).toEqual(canceled);
    });

    it.each([
      ['wait', 'TASK_STATE_SUBMITTED'],
      ['hold', 'TASK_STATE_WORKING'],
    ])('a message to a task that runs: %s (SEND-06b, B-34)', async (text, state) => {
      const alice = newcomer(agent.url);
      const { id } = await alice.start(text);
      await skills.gate.whenWaiting();
      const before = await alice.get(id);
      expect(before.status.state).toBe(state);
      const { error } = await alice.follow(id, 'echo again');
      expect(error).toMatchObject({ code: -32004, message: 'The task is running.' });
      expect(await alice.get(id)).toEqual(before);
      expect(skills.callsOf(id)).toHaveLength(1);
      skills.gate.letGo();
    });
  });

  it('mints a message id when there is none (SEND-02)', async () => {
    const alice = newcomer(agent.url);
    const { result } = await alice.invoke('SendMessage', { message: { role: 'ROLE_USER', parts: [{ text: 'echo' }] } });
    expect(result.task.history[0]?.messageId).toMatch(UUID);
  });

  it('takes one messageId twice as two messages, one after the other and at once (SEND-02, R-09, B-35)', async () => {
    const alice = newcomer(agent.url);
    const message = { messageId: 'once' };
    const first = await alice.task('echo', { message });
    const more = await Promise.all([alice.task('echo', { message }), alice.task('echo', { message })]);
    expect(new Set([first, ...more].map(({ id }) => id)).size).toBe(3);
    expect((await alice.list()).totalSize).toBe(3);
    expect(first.history[0]?.messageId).toBe('once');
  });

  it('mints ids that nobody can guess, and puts them on the message (SEND-03a, SEND-03b, S-14)', async () => {
    const { id, contextId, history } = await newcomer(agent.url).task('echo');
    expect(id).toMatch(UUID);
    expect(contextId).toMatch(UUID);
    expect(contextId).not.toBe(id);
    expect(history[0]).toMatchObject({ taskId: id, contextId, role: 'ROLE_USER' });
  });

  it('keeps the context of a new task that the client chose, whatever it looks like (SEND-03b, B-30)', async () => {
    const alice = newcomer(agent.url);
    for (const contextId of ['hh', 'c'.repeat(256), '../a b', '😀']) {
      const task = await alice.task('echo', { message: { contextId } });
      expect(task.contextId).toBe(contextId);
      expect(task.history[0]).toMatchObject({ contextId, taskId: task.id });
      expect(await alice.get(task.id)).toEqual(task);
    }
  });

  it('starts several tasks in one context (SEND-03b)', async () => {
    const alice = newcomer(agent.url);
    const first = await alice.task('echo');
    const second = await alice.task('echo', { message: { contextId: first.contextId } });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
  });

  it('trims the history of the answer alone (SEND-11, B-37, B-39)', async () => {
    const alice = newcomer(agent.url);
    const lengths: (number | undefined)[] = [];
    for (const historyLength of [0, 1, 2, 999]) {
      const task = await alice.task('progress 2', { configuration: { historyLength } });
      expect(task).toHaveProperty('status.state', 'TASK_STATE_COMPLETED');
      lengths.push('history' in task ? task.history.length : undefined);
      const stored = await alice.get(task.id);
      expect(stored.history.map(textOf)).toEqual(['progress 2', 'Step 0.', 'Step 1.']);
      if (historyLength > 0) expect(task.history).toEqual(stored.history.slice(-historyLength));
    }
    expect(lengths).toEqual([undefined, 1, 2, 3]);
    expect((await alice.task('progress 2')).history).toHaveLength(3);
  });

  it('trims the history of an answer that is given at once (SEND-11, B-37)', async () => {
    const task = await newcomer(agent.url).start('echo', { configuration: { historyLength: 0 } });
    expect(task).not.toHaveProperty('history');
  });

  it('names the skill in the metadata of the task (SEND-16, R-14)', async () => {
    const alice = newcomer(agent.url);
    const task = await alice.task('echo');
    expect(task.metadata).toEqual({ 'a2a.skill': 'fixture' });
    expect((await alice.get(task.id)).metadata).toEqual({ 'a2a.skill': 'fixture' });
  });

  it('gives the skill what the request says beside the message (SEND-17a, SEND-17b)', async () => {
    const configuration = { acceptedOutputModes: ['text/plain', 'image/png'], historyLength: 1 };
    const metadata = { trace: 't-1', deep: { list: [1, null, false] } };
    const { id } = await newcomer(agent.url).task('echo', { configuration, metadata });
    expect(skills.callsOf(id)[0]).toMatchObject({ configuration, metadata });
    expect(skills.callsOf(id)[0]?.task.metadata).toEqual({ 'a2a.skill': 'fixture' });
  });

  it('refuses a part of a media type that the skill does not take (SEND-18, B-25)', async () => {
    const alice = newcomer(agent.url);
    const parts = [{ text: 'echo' }, { raw: 'AAAA', mediaType: 'video/mp4' }];
    const { status, error } = await alice.send(parts);
    expect(status).toBe(200);
    expect(error).toMatchObject({ code: -32005, data: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] });
    expect(error.message).toContain('message.parts[1]');
    expect((await alice.list()).totalSize).toBe(0);
  });

  it('takes parts of the media types of the skill, and parts that name none (SEND-18, B-25)', async () => {
    const parts = [
      { text: 'echo yes', mediaType: 'Text/Plain; charset=utf-8' },
      { data: { a: 1 }, mediaType: 'application/json' },
      { raw: 'AAAA' },
    ];
    expect((await newcomer(agent.url).task(parts)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('keeps data of any JSON value, and metadata, as it was sent (B-23)', async () => {
    const alice = newcomer(agent.url);
    const values = [false, 0, '', null, [1], {}, { 'a.b': { c: null } }, 1e21, 'ü😀'];
    const parts = [{ text: 'echo' }, ...values.map((data) => ({ data }))];
    const metadata = { zero: 0, no: false, nothing: null, empty: '', list: [], map: {} };
    const { id } = await alice.task(parts, { message: { metadata } });
    const { history } = await alice.get(id);
    expect(history[0]?.parts).toEqual(parts);
    expect(history[0]?.metadata).toEqual(metadata);
    expect(skills.callsOf(id)[0]?.message).toMatchObject({ parts, metadata });
  });

  it('answers a direct Message and keeps no task (SEND-19, R-15)', async () => {
    const alice = newcomer(agent.url);
    const { result } = await alice.send('message good day', { message: { contextId: 'small-talk' } });
    expect(Object.keys(result)).toEqual(['message']);
    expect(result.message).toEqual({
      messageId: expect.stringMatching(UUID),
      contextId: 'small-talk',
      role: 'ROLE_AGENT',
      parts: [{ text: 'good day' }],
    });
    expect((await alice.list()).totalSize).toBe(0);
  });

  it('makes a Message the last word of a task that the client knows of (SEND-19, R-21)', async () => {
    const alice = newcomer(agent.url);
    const { id } = await alice.start('message good day');
    const done = await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    expect(textOf(done.status.message)).toBe('good day');
    expect(done).not.toHaveProperty('artifacts');
  });

  describe('with references to other tasks', () => {
    it('names no more tasks than can be looked up in one go (R-17, S-13)', async () => {
      const alice = newcomer(agent.url);
      const { id } = await alice.task('echo');
      const referring = (count: number) =>
        alice.send('echo', { message: { referenceTaskIds: Array.from({ length: count }, () => id) } });
      expect((await referring(64)).result.task.status.state).toBe('TASK_STATE_COMPLETED');
      const { error } = await referring(65);
      expect(error.code).toBe(-32602);
      expect(JSON.stringify(error.data)).toContain('message.referenceTaskIds');
    });

    it('gives the skill those that the caller can see (R-17)', async () => {
      const alice = newcomer(agent.url);
      const [first, second] = [await alice.task('echo'), await alice.task('input')];
      const referenceTaskIds = [first.id, second.id];
      const { id, history } = await alice.task('echo', { message: { referenceTaskIds } });
      expect(skills.callsOf(id)[0]?.message.referenceTaskIds).toEqual(referenceTaskIds);
      expect(history[0]).toMatchObject({ referenceTaskIds });
    });

    it('is refused when one of them is foreign or unknown, alike and before anything is written (R-17, B-83)', async () => {
      const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
      const [mine, foreign] = [await bob.task('echo'), await alice.task('echo')];
      const before = skills.calls.length;
      const answers = [];
      for (const id of [foreign.id, UNKNOWN]) {
        const { error, text } = await bob.send('echo', { message: { referenceTaskIds: [mine.id, id] } });
        expect(error.code).toBe(-32001);
        answers.push(text.replaceAll(id, 'ID'));
      }
      expect(answers[0]).toBe(answers[1]);
      expect((await bob.list()).totalSize).toBe(1);
      expect(skills.calls).toHaveLength(before);
    });

    it('is refused on a resume as well, and the task stays parked (R-17)', async () => {
      const [alice, bob] = [newcomer(agent.url), newcomer(agent.url)];
      const [foreign, parked] = [await alice.task('echo'), await bob.task('input')];
      const { error } = await bob.follow(parked.id, 'echo', { message: { referenceTaskIds: [foreign.id] } });
      expect(error.code).toBe(-32001);
      expect(await bob.get(parked.id)).toEqual(parked);
    });
  });

  it('tells nothing of what a skill threw, before and after its first update (B-51, S-06)', async () => {
    const alice = newcomer(agent.url);
    for (const text of ['throwfirst', 'throw']) {
      const { text: body, result } = await alice.send(text);
      expect(result.task.status.state).toBe('TASK_STATE_FAILED');
      expect(textOf(result.task.status.message)).toBe('skill handler failed');
      expect(body).not.toContain(SECRET);
      expect(await alice.get(result.task.id)).toEqual(result.task);
    }
  });

  it('completes a task whose skill returned while it was WORKING (LIFE-02)', async () => {
    expect((await newcomer(agent.url).task('noterm')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('merges metadata of status updates into that of the task (B-42)', async () => {
    const alice = newcomer(agent.url);
    const { id, metadata } = await alice.task('metadata');
    expect(metadata).toEqual({ 'a2a.skill': 'fixture', a: 1, b: 2, both: 'second' });
    expect((await alice.get(id)).metadata).toEqual(metadata);
  });

  it('creates the artifact that a chunk is for, when there is none (B-43)', async () => {
    const { artifacts } = await newcomer(agent.url).task('orphan');
    expect(artifacts).toEqual([{ artifactId: 'orphan', parts: [{ text: 'kept' }] }]);
  });

  it('gathers chunks in one artifact, in order', async () => {
    const { artifacts } = await newcomer(agent.url).task('chunks');
    expect(artifacts.map(textOf)).toEqual(['c0c1c2c3c4']);
  });

  it('does not let later changes into an answer that was given at once (B-70)', async () => {
    const alice = newcomer(agent.url);
    const tasks = await Promise.all(Array.from({ length: 12 }, () => alice.start('fail')));
    for (const task of tasks) {
      // Later than the answer there was a FAILED with a message; the answer shows all of it or nothing.
      const isEarly = task.status.state === 'TASK_STATE_SUBMITTED';
      expect(task.history).toHaveLength(isEarly ? 1 : 2);
      const done = await alice.taskWhen(task.id, ({ status }) => status.state === 'TASK_STATE_FAILED');
      expect(done.history.map(textOf)).toEqual(['fail', 'It cannot be done.']);
    }
    // Nor into what the skill was shown.
    expect(skills.callsOf(tasks[0]!.id)[0]?.task).toMatchObject({
      status: { state: 'TASK_STATE_SUBMITTED' },
      history: [{ parts: [{ text: 'fail' }] }],
    });
  });

  it('has run nothing of what was refused, and nothing is left running', async () => {
    await until(() => agent.service.statistics().liveRuns === 0, 'The end of all runs');
    expect(agent.service.statistics().subscribers).toBe(0);
  });
});

class MessageSkills {
  entered = 0;

  @Skill('greet', { answers: 'message' })
  greet(): unknown {
    this.entered++;
    return directMessage('Good morning.');
  }

  @Skill('late')
  async late(task: TaskContext): Promise<unknown> {
    await task.working();
    return directMessage('Here I am.');
  }
}

describe('SendMessage to skills that answer with Messages', () => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await startAgent({
      skills: [MessageSkills],
      options: { skillMetadataKey: 'x.skill', enforceInputModes: false },
    });
  });
  afterAll(() => agent.close());

  const asking = (skill: string) => ({ message: { metadata: { skill } } });

  it('never makes a task for a skill that promises Messages, not even at once (SEND-19, R-21)', async () => {
    const alice = newcomer(agent.url);
    for (const returnImmediately of [false, true]) {
      const { result } = await alice.send('hi', { ...asking('greet'), configuration: { returnImmediately } });
      expect(Object.keys(result)).toEqual(['message']);
      expect(textOf(result.message)).toBe('Good morning.');
    }
    expect((await alice.list()).totalSize).toBe(0);
  });

  it('answers the task when the skill had told of it before its Message (SEND-19, R-21)', async () => {
    const task = await newcomer(agent.url).task('hi', asking('late'));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task.status.message)).toBe('Here I am.');
  });

  it('names the skill under the key of the options (SEND-16, R-14)', async () => {
    expect((await newcomer(agent.url).task('hi', asking('late'))).metadata).toEqual({ 'x.skill': 'late' });
  });

  it('takes parts of any media type when the option says so (SEND-18)', async () => {
    const parts = [{ raw: 'AAAA', mediaType: 'video/mp4' }];
    expect((await newcomer(agent.url).send(parts, asking('greet'))).result).toHaveProperty('message');
  });
});
