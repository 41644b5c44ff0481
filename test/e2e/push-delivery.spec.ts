import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MemoryTaskStore, type A2AOptions, type JsonObject, type PushOptions, type TaskContext } from 'nestjs-a2a';
import { encode, isStreamResponse, type StreamResponse } from 'nestjs-a2a/protocol';
import { ADAPTERS } from '../support/agent.js';
import { newcomer, textOf } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { SPEAKER, startStage, type Stage } from '../support/puppet.js';
import { notifying, register, startPushStage } from '../support/push-stage.js';
import { rpc, userMessage } from '../support/rpc.js';
import { Streamer } from '../support/stream-reader.js';
import { until } from '../support/until.js';
import { WebhookReceiver, type Answering } from '../support/webhook-receiver.js';

/** Four updates, of both kinds. */
async function fourUpdates(task: TaskContext): Promise<void> {
  await task.working('on it');
  await task.artifact({ parts: [{ text: 'half' }] });
  await task.progress('nearly', { percent: 90 });
  await task.complete('done');
}
/** Room for a burst of updates to several configs, none of which is to collapse. */
const ROOMY: PushOptions = { maxWaiting: 64, maxWaitingPerOwner: 64 };
const FOUR = ['WORKING', 'artifact', 'WORKING', 'COMPLETED'];

describe.each(ADAPTERS)('Notifications on %s', (adapter) => {
  let stage: Stage;
  let receiver: WebhookReceiver;

  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
  });

  afterEach(async () => {
    await stage.agent.close();
    await receiver.close();
  });

  it('are bare StreamResponses, posted to the URL as it was given (PUSH-01a, PUSH-01b, PUSH-02b, B-91)', async () => {
    stage = await startPushStage({}, {}, { adapter });
    const hook = { url: `${receiver.url}/deep%20er?a=1&b=%2F` };
    const task = await stage.play(fourUpdates).task('go', notifying(hook));
    const received = await receiver.count(4);
    expect(receiver.story).toEqual(FOUR);
    for (const { method, url, headers, body, text } of received) {
      expect([method, url]).toEqual(['POST', '/hook/deep%20er?a=1&b=%2F']);
      expect(headers).toMatchObject({
        'content-type': 'application/a2a+json',
        'content-length': String(Buffer.byteLength(text)),
        host: new URL(receiver.url).host,
      });
      expect(headers).not.toHaveProperty('a2a-notification-token');
      expect(headers).not.toHaveProperty('authorization');
      expect(Object.keys(body as object)).toHaveLength(1);
      expect(isStreamResponse(body)).toBe(true);
      expect(encode('StreamResponse', body as StreamResponse)).toEqual(body);
      const { taskId, contextId } = body.statusUpdate ?? body.artifactUpdate;
      expect({ taskId, contextId }).toEqual({ taskId: task.id, contextId: task.contextId });
    }
    expect(received[2]!.body.statusUpdate.metadata).toEqual({ percent: 90 });
    expect(received[1]!.body.artifactUpdate.artifact).toEqual(task.artifacts[0]);
    expect(received[3]!.body.statusUpdate.status).toEqual(task.status);
  });

  it('tell of every update of a blocking, a non-blocking and a streaming send, in order (B-94, SEND-12)', async () => {
    stage = await startPushStage({}, {}, { adapter });
    const alice = stage.play(fourUpdates);
    await alice.task('blocking', notifying(receiver));
    await receiver.count(4);
    await alice.start('non-blocking', notifying(receiver));
    await receiver.count(8);
    const stream = await new Streamer(stage.agent.url, { user: alice.user }).send('streaming', {}, notifying(receiver));
    await stream.whenEnded();
    await receiver.count(12);
    expect(receiver.story).toEqual([...FOUR, ...FOUR, ...FOUR]);
    const streamed = stream.frames.slice(1).map(({ result }) => result);
    expect(receiver.received.slice(8).map(({ body }) => body as unknown)).toEqual(streamed);
  });

  it('wait for a receiver that is slow with the first one, and keep their order (B-94, PUSH-06a)', async () => {
    await receiver.close();
    const gate = new Gate();
    receiver = await WebhookReceiver.start(async (_received, response, index) => {
      if (index === 0) await gate.pass();
      response.end();
    });
    stage = await startPushStage({}, {}, { adapter });
    const alice = stage.play(fourUpdates);
    const { id } = await alice.start('go', notifying(receiver));
    await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    await gate.whenWaiting();
    expect(receiver.story).toEqual(['WORKING']);
    gate.open();
    await receiver.count(4);
    expect(receiver.story).toEqual(FOUR);
  });

  it('bear the token and the credentials of their config (PUSH-02a, PUSH-03a, B-91)', async () => {
    stage = await startPushStage({}, {}, { adapter });
    const authentication = { scheme: 'Bearer', credentials: 'a.b-c~d+e/f==' };
    await stage.play(() => 'x').task('go', notifying(receiver, { token: 'the token', authentication }));
    for (const { headers } of await receiver.count(2)) {
      expect(headers).toMatchObject({ 'a2a-notification-token': 'the token', authorization: 'Bearer a.b-c~d+e/f==' });
      expect(headers).not.toHaveProperty('x-a2a-notification-token');
    }
  });

  it('reach a receiver in the name of whoever is logged in, narrowed or not (B-82)', async () => {
    stage = await startPushStage({}, {}, { adapter });
    const alice = stage.play(fourUpdates).with({ tenant: 'acme', scopes: 'read write' });
    await alice.task('go', notifying(receiver));
    await receiver.count(4);
    const parked = await stage
      .play((task) => task.requireInput())
      .with({ tenant: 'acme', scopes: '' })
      .task('go', notifying(receiver));
    await receiver.count(5);
    expect(receiver.story).toEqual([...FOUR, 'INPUT_REQUIRED']);
    expect(receiver.received[4]!.body.statusUpdate.taskId).toBe(parked.id);
  });
});

describe('Notifications', () => {
  const receivers: WebhookReceiver[] = [];
  let stage: Stage;

  const started = async (push: PushOptions = {}, options: Partial<A2AOptions> = {}) => {
    stage = await startPushStage(push, options);
    return stage;
  };
  const receiving = async (answering?: Answering): Promise<WebhookReceiver> => {
    const receiver = await WebhookReceiver.start(answering);
    receivers.push(receiver);
    return receiver;
  };

  afterEach(async () => {
    await stage.agent.close();
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  });

  it.each([
    ['Bearer', 'secret', 'Bearer secret'],
    ['bEARER', 'secret', 'bEARER secret'],
    ['basic', 'dXNlcjpwYXNz', 'basic dXNlcjpwYXNz'],
    ['Digest', 'secret', undefined],
    ['ApiKey', 'secret', undefined],
    ['Bearer', '', undefined],
    ['Bearer', undefined, undefined],
  ])('send for the scheme %s with the credentials %j the header %j (PUSH-03a)', async (scheme, credentials, header) => {
    await started();
    const receiver = await receiving();
    const authentication = { scheme, ...(credentials !== undefined && { credentials }) } as JsonObject;
    await stage.play(() => undefined).task('go', notifying(receiver, { authentication }));
    const [received] = await receiver.count(1);
    expect(received!.headers.authorization).toBe(header);
    expect(JSON.stringify(received!.headers)).not.toContain(header === undefined ? 'secret' : 'A2A-Notification-Token');
  });

  it.each([
    [['X-Hook-Token'], ['x-hook-token']],
    [
      ['A2A-Notification-Token', 'X-A2A-Notification-Token'],
      ['a2a-notification-token', 'x-a2a-notification-token'],
    ],
    [[], []],
  ])('carry the token in the headers %j (R-18, PUSH-02a)', async (tokenHeaders, names) => {
    await started({ tokenHeaders });
    const receiver = await receiving();
    await stage.play(() => undefined).task('go', notifying(receiver, { token: 'the token' }));
    const [{ headers }] = (await receiver.count(1)) as [(typeof receiver.received)[0]];
    expect(Object.keys(headers).filter((name) => headers[name] === 'the token')).toEqual(names);
  });

  it('begin with the first update of a task, and with the next one for a config that comes later (PUSH-11)', async () => {
    await started();
    const [first, second] = [await receiving(), await receiving()];
    const gate = new Gate();
    const alice = stage.play(async (task) => {
      await task.working('one');
      await gate.pass();
      await task.progress('two');
      await task.complete();
    });
    const { id } = await alice.start('go', notifying(first));
    await first.count(1);
    await register(alice, id, second);
    gate.open();
    for (const receiver of [first, second]) await receiver.state('COMPLETED');
    expect(first.story).toEqual(['WORKING', 'WORKING', 'COMPLETED']);
    expect(second.story).toEqual(['WORKING', 'COMPLETED']);
    expect(textOf(second.received[0]!.body.statusUpdate.status.message)).toBe('two');
  });

  it("go on in a resumed run, for configs of an earlier one; the client's message is not told (PUSH-11)", async () => {
    await started(ROOMY);
    const [first, second] = [await receiving(), await receiving()];
    const alice = stage.play((task) => task.requireInput('More?'));
    const { id } = await alice.task('go', notifying(first));
    stage.play(fourUpdates);
    await alice.follow(id, 'here is a secret', notifying(second));
    await first.state('COMPLETED');
    await second.state('COMPLETED');
    expect(first.story).toEqual(['INPUT_REQUIRED', ...FOUR]);
    expect(second.story).toEqual(FOUR);
    expect(JSON.stringify([first.received, second.received])).not.toContain('here is a secret');
  });

  it.each<[string, string, (task: TaskContext) => unknown, Partial<A2AOptions>]>([
    ['fails', 'FAILED', () => Promise.reject(new Error('MARKER of the skill')), {}],
    ['is refused by its skill', 'REJECTED', (task) => task.reject('no'), {}],
    ['has no more time', 'FAILED', () => new Promise(() => undefined), { taskTimeout: 50 }],
    ['cannot be routed', 'REJECTED', () => undefined, { router: () => 'MARKER of the router' }],
  ])('tell of a task that %s, and not of what was thrown (S-06)', async (_title, state, work, options) => {
    await started({}, options);
    const receiver = await receiving();
    const alice = stage.play(work);
    const { id } = await alice.start('go', notifying(receiver));
    await receiver.state(state);
    const { status } = await alice.get(id);
    expect(receiver.story).toEqual([state]);
    expect(receiver.received[0]!.body.statusUpdate.status).toEqual(status);
    if (state === 'FAILED') expect(receiver.received[0]!.text).not.toContain('MARKER');
  });

  it('tell of a cancel, once, as the last thing (PUSH-06b)', async () => {
    await started();
    const receiver = await receiving();
    const alice = stage.play(async (task) => {
      await task.working();
      await new Promise((resolve) => {
        task.signal.addEventListener('abort', resolve);
      });
      await task.complete('late');
    });
    const { id } = await alice.start('go', notifying(receiver));
    await receiver.count(1);
    await alice.cancel(id);
    await receiver.count(2);
    const parked = await stage.play((task) => task.requireInput()).task('go', notifying(receiver));
    await receiver.count(3);
    await alice.cancel(id);
    await newcomer(stage.agent.url).cancel(parked.id);
    expect(receiver.story).toEqual(['WORKING', 'CANCELED', 'INPUT_REQUIRED']);
  });

  it('are not sent for a direct Message (R-21)', async () => {
    await started();
    const receiver = await receiving();
    const alice = stage.play(() => 'hello');
    const { result } = await alice.send('go', { ...SPEAKER, ...notifying(receiver) });
    expect(result.message).toBeDefined();
    await alice.task('go', notifying(receiver));
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(['artifact', 'COMPLETED']);
  });

  it('go to every config of a task, each in its own time (PUSH-01a, PUSH-07d)', async () => {
    await started(ROOMY);
    const gate = new Gate();
    const slow = await receiving(async (_received, response) => {
      await gate.pass();
      response.end();
    });
    const [one, two] = [await receiving(), await receiving()];
    const start = new Gate();
    const alice = stage.play(async (task) => {
      await start.pass();
      await fourUpdates(task);
    });
    const { id } = await alice.start('go', notifying(slow, { id: 's' }));
    await register(alice, id, one, { id: '1', token: 'one' });
    await register(alice, id, two, { id: '2', token: 'two' });
    start.open();
    await one.state('COMPLETED');
    await two.state('COMPLETED');
    expect(slow.story).toEqual(['WORKING']);
    gate.open();
    await slow.state('COMPLETED');
    expect([one.story, two.story, slow.story]).toEqual([FOUR, FOUR, FOUR]);
    const tokens = [one, two, slow].map(({ received }) =>
      received.map(({ headers }) => headers['a2a-notification-token']),
    );
    expect(tokens.map((all) => [...new Set(all)])).toEqual([['one'], ['two'], [undefined]]);
  });

  it("never tell one owner of another's tasks, also when their configs are alike (S-05)", async () => {
    await started();
    const [ofAlice, ofBob] = [await receiving(), await receiving()];
    const alice = stage.play((task) => task.requireInput(`for ${task.owner}`));
    const bob = newcomer(stage.agent.url);
    const [first, second] = [
      await alice.task('go', notifying(ofAlice, { id: 'same' })),
      await bob.task('go', notifying(ofBob, { id: 'same' })),
    ];
    const refused = await bob.invoke('CreateTaskPushNotificationConfig', { taskId: first.id, url: ofBob.url });
    expect(refused.error.code).toBe(-32001);
    await alice.follow(first.id, 'more');
    await bob.follow(second.id, 'more');
    await bob.cancel(second.id);
    await ofBob.state('CANCELED');
    await alice.cancel(first.id);
    await ofAlice.state('CANCELED');
    const idsOf = ({ received }: WebhookReceiver) =>
      new Set(received.map(({ body }) => body.statusUpdate.taskId as string));
    expect([idsOf(ofAlice), idsOf(ofBob)]).toEqual([new Set([first.id]), new Set([second.id])]);
    expect(JSON.stringify(ofBob.received)).not.toContain(alice.user);
  });

  it('stop with the config: what waits is dropped, what is under way is ended (PUSH-14)', async () => {
    await started({ timeoutMs: 60_000 });
    const gate = new Gate();
    let closed = 0;
    const receiver = await receiving(async (_received, response) => {
      response.once('close', () => closed++);
      await gate.pass();
      response.end();
    });
    const other = await receiving();
    const alice = stage.play(fourUpdates);
    const { id } = await alice.start('go', notifying(receiver, { id: 'mine' }));
    await receiver.count(1);
    await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    await alice.invoke('DeleteTaskPushNotificationConfig', { taskId: id, id: 'mine' });
    await until(() => closed === 1);
    // The same owner's next deliveries come behind everything that waited.
    await alice.task('go', notifying(other));
    await other.state('COMPLETED');
    gate.open();
    expect(receiver.story).toEqual(['WORKING']);
  });

  it('stop with the task that is trimmed, whatever waits (PUSH-14)', async () => {
    const store = new MemoryTaskStore();
    await started({}, { store });
    const gate = new Gate();
    const receiver = await receiving(async (_received, response, index) => {
      if (index === 0) await gate.pass();
      response.end();
    });
    const alice = stage.play(fourUpdates);
    const { id } = await alice.start('go', notifying(receiver));
    await alice.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    await gate.whenWaiting();
    await store.trim(await store.read({ id, owner: alice.user }), 0);
    gate.open();
    await alice.task('go', notifying(receiver));
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(['WORKING', ...FOUR]);
  });

  it('are neither promised nor taken on where they are turned off (PUSH-12)', async () => {
    stage = await startStage({ push: false });
    const receiver = await receiving();
    const alice = stage.play((task) => task.requireInput());
    expect(stage.agent.service.capabilities().pushNotifications).toBe(false);
    expect((await alice.send('go', notifying(receiver))).error.code).toBe(-32003);
    const { id } = await alice.task('go');
    const refused = await alice.invoke('CreateTaskPushNotificationConfig', { taskId: id, url: receiver.url });
    expect(refused.error.code).toBe(-32003);
    await alice.cancel(id);
    expect(receiver.connections).toBe(0);
  });

  it('cost nothing for tasks without configs (PUSH-11)', async () => {
    const store = new MemoryTaskStore();
    const asked = [jest.spyOn(store.pushConfigs, 'list'), jest.spyOn(store.pushConfigs, 'read')];
    await started({}, { store });
    const alice = stage.play(fourUpdates);
    for (let index = 0; index < 5; index++) await alice.task('go');
    const { id } = await stage.play((task) => task.requireInput()).task('go');
    await rpc(stage.agent.url, 'SendMessage', { message: userMessage('more', { taskId: id }) });
    for (const method of asked) expect(method).not.toHaveBeenCalled();
    const receiver = await receiving();
    stage.play(fourUpdates);
    await alice.task('go', notifying(receiver));
    await receiver.state('COMPLETED');
    // Read once for the task, and looked up once a delivery, so that one that was removed elsewhere gets nothing.
    expect(asked.map(({ mock }) => mock.calls.length)).toEqual([5, 4]);
  });
});
