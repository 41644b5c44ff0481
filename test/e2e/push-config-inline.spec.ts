import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { message, type JsonObject, type SkillDefinition } from 'nestjs-a2a';
import { ADAPTERS, startAgent, type Agent } from '../support/agent.js';
import { fieldsOf, newcomer } from '../support/caller.js';
import { FixtureSkills } from '../support/fixture-skills.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { NotingStore } from '../support/noted-configs.js';
import { configsOf, createConfig, getConfig, HOOK, inline, OfflinePolicy } from '../support/push-caller.js';
import { openStream, Streamer } from '../support/stream-reader.js';
import { userMessage } from '../support/rpc.js';
import { until } from '../support/until.js';
import { HOSTILE_URLS } from '../support/url-corpus.js';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u;
const FIELD = 'configuration.taskPushNotificationConfig';
const push = { policy: new OfflinePolicy() };
const fixture: JsonObject = { metadata: { skill: 'fixture' } };

describe.each(ADAPTERS)('A push config that comes with a message, on %s,', (adapter) => {
  const greeting = new Gate();
  const greet: SkillDefinition = { id: 'greet', answers: 'message', handler: () => 'Good morning.' };
  /** Answers with a Message when a task has been made already. */
  const hesitate: SkillDefinition = {
    id: 'hesitate',
    handler: async () => {
      await greeting.pass();
      return message('Good morning.');
    },
  };
  let agent: Agent;
  let skills: FixtureSkills;
  let store: NotingStore;

  beforeAll(async () => {
    store = new NotingStore();
    const options = { store, push, skills: [greet, hesitate], maxConcurrentRunsPerOwner: 2 };
    agent = await startAgent({ adapter, skills: [FixtureSkills], options });
    skills = agent.app.get(FixtureSkills);
  });
  afterAll(async () => {
    skills.gate.open();
    await agent.close();
  });

  it('is stored for the new task, whatever task it names (SEND-13, B-93)', async () => {
    const alice = newcomer(agent.url);
    const config = { id: 'c', token: 't', authentication: { scheme: 'Bearer', credentials: 'secret' } };
    for (const named of [{}, { taskId: 'another' }]) {
      const { id: taskId } = await alice.task('echo', { message: fixture, ...inline({ ...config, ...named }) });
      const shown = { id: 'c', taskId, url: HOOK, token: 't', authentication: { scheme: 'Bearer' } };
      expect(await configsOf(alice, taskId)).toEqual([shown]);
    }
  });

  it('is stored in the very write that makes the task, under an id of its own (SEND-14, PCFG-04a)', async () => {
    const alice = newcomer(agent.url);
    const before = store.noted.length;
    const { result } = await alice.send('echo', {
      message: fixture,
      configuration: { ...inline().configuration, returnImmediately: true },
    });
    expect(store.noted.slice(before)).toMatchObject([
      { owner: alice.user, config: { id: expect.stringMatching(UUID), taskId: result.task.id, url: HOOK } },
    ]);
    expect(await configsOf(alice, result.task.id)).toHaveLength(1);
  });

  it('is stored when the message is streamed (SEND-13, B-93)', async () => {
    const alice = newcomer(agent.url);
    const stream = await new Streamer(agent.url, { user: alice.user }).send('echo', fixture, inline({ id: 'c' }));
    await stream.whenEnded();
    const { id: taskId } = stream.frames[0]!.result.task;
    expect(await configsOf(alice, taskId)).toEqual([{ id: 'c', taskId, url: HOOK }]);
  });

  it('is stored with a task that no skill takes (SEND-13, SEND-15)', async () => {
    const alice = newcomer(agent.url);
    const { id: taskId, status } = await alice.task('echo', {
      message: { metadata: { skill: 'nobody' } },
      ...inline({ id: 'c' }),
    });
    expect(status.state).toBe('TASK_STATE_REJECTED');
    expect(await configsOf(alice, taskId)).toEqual([{ id: 'c', taskId, url: HOOK }]);
  });

  it('is not stored when there is none, be it absent or null (B-93)', async () => {
    const alice = newcomer(agent.url);
    const before = store.noted.length;
    for (const configuration of [undefined, {}, { taskPushNotificationConfig: null }]) {
      const options = { message: fixture, ...(configuration && { configuration }) };
      expect(await configsOf(alice, (await alice.task('echo', options)).id)).toEqual([]);
    }
    expect(store.noted).toHaveLength(before);
  });

  it('is stored for nobody when the skill only ever answers with Messages (SEND-19, B-93)', async () => {
    const alice = newcomer(agent.url);
    const before = store.noted.length;
    const { result } = await alice.send('hi', { message: { metadata: { skill: 'greet' } }, ...inline() });
    expect(result).toHaveProperty('message');
    expect(store.noted).toHaveLength(before);
    expect((await alice.list()).totalSize).toBe(0);
  });

  it('goes with a task that was made too early for a Message (R-21, SEND-19)', async () => {
    const alice = newcomer(agent.url);
    const before = store.noted.length;
    const answer = alice.send('hi', { message: { metadata: { skill: 'hesitate' } }, ...inline() });
    await until(() => store.noted.length > before, 'The task');
    const { config, owner } = store.noted[before]!;
    const task = { taskId: config.taskId, owner };
    expect(await store.pushConfigs.list(task)).toHaveLength(1);
    greeting.letGo();
    expect((await answer).result).toHaveProperty('message');
    expect(await store.pushConfigs.list(task)).toEqual([]);
    expect((await alice.list()).totalSize).toBe(0);
  });

  describe('on a task that waits', () => {
    it('is stored with the message that resumes it (SEND-13)', async () => {
      const alice = newcomer(agent.url);
      for (const named of [undefined, '', 'same']) {
        const { id: taskId } = await alice.task('input', { message: fixture });
        const config = { id: 'c', ...(named !== undefined && { taskId: named && taskId }) };
        const { result } = await alice.follow(taskId, 'echo', inline(config));
        expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
        expect(await configsOf(alice, taskId)).toEqual([{ id: 'c', taskId, url: HOOK }]);
      }
    });

    it('takes the place of one of its id, and stands behind the others otherwise (SEND-13, PCFG-04b)', async () => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('input', { message: fixture, ...inline({ id: 'a' }) });
      await createConfig(alice, taskId, { id: 'b' });
      await alice.follow(taskId, 'input', inline({ id: 'a', url: `${HOOK}/2`, token: 'new' }));
      const { result } = await getConfig(alice, taskId, 'a');
      expect(result).toEqual({ id: 'a', taskId, url: `${HOOK}/2`, token: 'new' });
      await alice.follow(taskId, 'echo', inline({ id: 'c' }));
      const ids = (await configsOf(alice, taskId)).map(({ id }) => id);
      expect([...ids].sort()).toEqual(['a', 'b', 'c']);
      expect(ids.at(-1)).toBe('c');
    });

    it('is refused for another task, and leaves this one as it was (SEND-13)', async () => {
      const alice = newcomer(agent.url);
      const parked = await alice.task('input', { message: fixture });
      const other = await alice.task('input', { message: fixture });
      const { error } = await alice.follow(parked.id, 'echo', inline({ taskId: other.id }));
      expect(error.code).toBe(-32602);
      expect(fieldsOf(error)).toEqual([`${FIELD}.taskId`]);
      for (const task of [parked, other]) {
        expect(await alice.get(task.id)).toEqual(task);
        expect(await configsOf(alice, task.id)).toEqual([]);
      }
      expect(skills.callsOf(parked.id)).toHaveLength(1);
    });

    it('is refused for where it leads to, and leaves the task as it was (SEND-12a)', async () => {
      const alice = newcomer(agent.url);
      const parked = await alice.task('input', { message: fixture });
      const { error } = await alice.follow(parked.id, 'echo', inline({ url: 'http://169.254.169.254/' }));
      expect(fieldsOf(error)).toEqual([`${FIELD}.url`]);
      expect(await alice.get(parked.id)).toEqual(parked);
      expect(await configsOf(alice, parked.id)).toEqual([]);
    });

    it('is not stored when the message comes too late (SEND-14)', async () => {
      const alice = newcomer(agent.url);
      const { id: taskId } = await alice.task('echo', { message: fixture });
      expect((await alice.follow(taskId, 'echo', inline())).error.code).toBe(-32004);
      expect(await configsOf(alice, taskId)).toEqual([]);
    });

    it('is not told from one on an unknown task by a stranger (PCFG-01, S-01)', async () => {
      const alice = newcomer(agent.url);
      const { id } = await alice.task('input', { message: fixture });
      const mallory = newcomer(agent.url);
      for (const config of [inline(), inline({ url: 'http://localhost/' }), inline({ taskId: 'another' })]) {
        const { error, text } = await mallory.follow(id, 'echo', config);
        expect(error.code).toBe(-32001);
        const unknown = await mallory.follow('x'.repeat(id.length), 'echo', config);
        expect(text.replaceAll(id, 'x'.repeat(id.length))).toBe(unknown.text);
      }
      expect(await configsOf(alice, id)).toEqual([]);
    });
  });

  describe('that is refused, leaves no task and no config', () => {
    it.each<[string, JsonObject, string]>([
      ['without a URL', { url: '' }, 'url'],
      ['with authentication without a scheme', { authentication: {} }, 'authentication.scheme'],
      ['with a line break in the token', { token: 'a\r\nX-Evil: 1' }, 'token'],
      ['with an id with a control character', { id: 'a\nb' }, 'id'],
      [
        'with credentials over http',
        { url: 'http://hooks.example.com', authentication: { scheme: 'Bearer', credentials: 'c' } },
        'url',
      ],
      ...HOSTILE_URLS.filter((_url, index) => index % 25 === 0).map(({ url, note }): [string, JsonObject, string] => [
        `leading to ${note}`,
        { url },
        'url',
      ]),
    ])('%s (SEND-12a, PCFG-03b, S-02, S-04)', async (_what, config, field) => {
      const alice = newcomer(agent.url);
      const before = { noted: store.noted.length, executions: agent.service.statistics().executions };
      const { error } = await alice.send('echo', { message: fixture, ...inline(config) });
      expect(error.code).toBe(-32602);
      expect(fieldsOf(error)).toEqual([`${FIELD}.${field}`]);
      const params = { message: userMessage('echo', fixture), ...inline(config) };
      const stream = await openStream(agent.url, 'SendStreamingMessage', params, { user: alice.user });
      await stream.whenEnded();
      expect(stream.body.error).toEqual(error);
      expect((await alice.list()).totalSize).toBe(0);
      expect({ noted: store.noted.length, executions: agent.service.statistics().executions }).toEqual(before);
    });

    it('with a message that the owner has no run slot for (SEND-14)', async () => {
      const alice = newcomer(agent.url);
      const held = [await alice.start('hold', { message: fixture }), await alice.start('hold', { message: fixture })];
      const before = store.noted.length;
      expect((await alice.send('echo', { message: fixture, ...inline() })).error.code).toBe(-32004);
      expect(store.noted).toHaveLength(before);
      for (const { id } of held) await alice.cancel(id);
    });

    it('with a message for a skill that does not take its parts (SEND-14)', async () => {
      const alice = newcomer(agent.url);
      const parts = [{ raw: 'AAAA', mediaType: 'image/png' }];
      const before = store.noted.length;
      expect((await alice.send(parts, { message: fixture, ...inline() })).error.code).toBe(-32005);
      expect(store.noted).toHaveLength(before);
    });
  });
});

it('A push config is not left behind by a task that could not be stored (SEND-14)', async () => {
  const store = new GatedStore();
  const agent = await startAgent({ skills: [FixtureSkills], options: { store, push } });
  const alice = newcomer(agent.url);
  const parked = await alice.task('input');
  store.fail('create', new Error('The disk is full.'));
  store.fail('append', new Error('The disk is full.'));
  const configuration = { ...inline({ id: 'c' }).configuration, returnImmediately: true };
  expect((await alice.send('echo', { configuration })).error.code).toBe(-32603);
  expect((await alice.follow(parked.id, 'echo', inline({ id: 'c' }))).error.code).toBe(-32603);
  store.fail('create', undefined);
  store.fail('append', undefined);
  expect((await alice.list()).totalSize).toBe(1);
  expect(await configsOf(alice, parked.id)).toEqual([]);
  await agent.close();
});
