import { randomUUID } from 'node:crypto';
import {
  SendMessageRequest,
  StreamResponse,
  TaskPushNotificationConfig,
  TaskState,
  type Message,
  type Task,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  JsonRpcTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';
import {
  DefaultPushNotificationSender,
  InMemoryPushNotificationStore,
  ServerCallContext,
  V1PushNotificationSerializer,
} from '@a2a-js/sdk/server';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ADAPTERS } from '../support/agent.js';
import { Gate } from '../support/gate.js';
import type { Stage } from '../support/puppet.js';
import { startPushStage } from '../support/push-stage.js';
import { WebhookReceiver, type Received } from '../support/webhook-receiver.js';

/** What receivers of the official SDK look into: it sends the token under this name. */
const SDK_TOKEN_HEADER = 'X-A2A-Notification-Token';

describe.each(ADAPTERS)('Notifications on %s, for receivers that know the official SDK (OPS-05)', (adapter) => {
  let stage: Stage;
  let client: Client;
  let receiver: WebhookReceiver;

  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
    stage = await startPushStage({ tokenHeaders: ['A2A-Notification-Token', SDK_TOKEN_HEADER] }, {}, { adapter });
    const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
      headers: () => Promise.resolve({ 'x-user': 'interop' }),
      shouldRetryWithHeaders: () => Promise.resolve(undefined),
    });
    const transports = [new JsonRpcTransportFactory({ fetchImpl })];
    client = await new ClientFactory({ transports }).createFromUrl(stage.agent.url);
  });

  afterEach(async () => {
    await stage.agent.close();
    await receiver.close();
  });

  /** Sends a message whose config stands in it, and gives the task. */
  async function send(config: object, returnImmediately = false): Promise<Task> {
    const taskPushNotificationConfig = { url: receiver.url, ...config };
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const request = { message, configuration: { taskPushNotificationConfig, returnImmediately } };
    const result: Message | Task = await client.sendMessage(SendMessageRequest.fromJSON(request));
    if (!('status' in result)) throw new Error('No task came of it.');
    return result;
  }

  it('are read by its decoder, and written by it as they came (PUSH-01b, B-91)', async () => {
    stage.play(async (task) => {
      await task.progress('on it', { percent: 50, nested: { list: [null, true] } });
      await task.artifact({ name: 'numbers', parts: [{ data: { one: 1 } }, { raw: 'AAEC', filename: 'x.bin' }] });
      await task.complete('done');
    });
    const task = await send({});
    const received = await receiver.count(3);
    const payloads = received.map(({ body }) => StreamResponse.fromJSON(body).payload);
    expect(payloads.map((payload) => payload?.$case)).toEqual(['statusUpdate', 'artifactUpdate', 'statusUpdate']);
    expect(payloads.map((payload) => (payload?.value as { taskId: string }).taskId)).toEqual(Array(3).fill(task.id));
    expect(payloads[2]).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_COMPLETED } } });
    for (const { body, headers } of received) {
      const written = new V1PushNotificationSerializer().serialize(StreamResponse.fromJSON(body));
      expect(written.contentType).toBe(headers['content-type']);
      expect(StreamResponse.fromJSON(JSON.parse(written.body))).toEqual(StreamResponse.fromJSON(body));
    }
  });

  it.each([
    ['a token', { token: 'the token' }],
    ['credentials', { authentication: { scheme: 'Bearer', credentials: 'secret' } }],
    ['neither', {}],
  ])('come as its own sender would send them, with %s (R-18, B-91)', async (_title, secrets) => {
    stage.play(() => undefined);
    const task = await send(secrets);
    const [ours] = await receiver.count(1);
    const context = new ServerCallContext({ requestedVersion: '1.0' });
    const store = new InMemoryPushNotificationStore();
    const config = TaskPushNotificationConfig.fromJSON({ id: 'c', taskId: task.id, url: receiver.url, ...secrets });
    await store.save(task.id, context, config);
    const info = jest.spyOn(console, 'info').mockReturnValue();
    await new DefaultPushNotificationSender(store).send(StreamResponse.fromJSON(ours!.body), context);
    info.mockRestore();
    const [, theirs] = await receiver.count(2);
    const shown = ({ method, url, headers, body }: Received) => ({
      ...{ method, url, payload: StreamResponse.fromJSON(body) },
      type: headers['content-type'],
      token: headers[SDK_TOKEN_HEADER.toLowerCase()],
      authorization: headers.authorization,
    });
    expect(shown(ours!)).toEqual(shown(theirs!));
  });

  it('reach a webhook that its client registered while the task ran', async () => {
    const gate = new Gate();
    stage.play(async (task) => {
      await task.working();
      await gate.pass();
    });
    const { id } = await send({ id: 'first' }, true);
    const config = { taskId: id, id: 'second', url: `${receiver.url}/2` };
    await client.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON(config));
    gate.open();
    await receiver.count(3);
    expect(receiver.received.map(({ url }) => url).sort()).toEqual(['/hook', '/hook', '/hook/2']);
  });
});
