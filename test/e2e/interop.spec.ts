import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskState,
  type Message,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  JsonRpcTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { A2AService, type JsonObject } from 'nestjs-a2a';
import { AppModule as DemoModule } from '../../apps/demo/src/app.module.js';
import { DevelopmentTokens } from '../../apps/demo/src/auth/development-tokens.js';
import { createSut } from '../../apps/sut/src/sut.js';
import { ADAPTERS } from '../support/agent.js';
import { until } from '../support/until.js';

/** A client of the official SDK that has discovered the agent by its card. */
function discover(url: string, headers: Record<string, string>): Promise<Client> {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: () => Promise.resolve(headers),
    shouldRetryWithHeaders: () => Promise.resolve(undefined),
  });
  return new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] }).createFromUrl(url);
}

function textMessage(text: string, message: JsonObject = {}, configuration: JsonObject = {}): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
    configuration,
  });
}

async function sendForTask(client: Client, request: SendMessageRequest): Promise<Task> {
  const result = await client.sendMessage(request);
  if (!('status' in result)) throw new Error('No task came of it.');
  return result;
}

/** What a stream carried, to its end. */
async function payloadsOf(stream: AsyncGenerator<StreamResponse>): Promise<StreamResponse['payload'][]> {
  const payloads = [];
  for await (const { payload } of stream) payloads.push(payload);
  return payloads;
}

function getTask(client: Client, id: string): Promise<Task> {
  return client.getTask(GetTaskRequest.fromJSON({ id }));
}

function textOf(content: Pick<Message, 'parts'> | undefined): string {
  return (content?.parts ?? []).map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

describe.each(ADAPTERS)('the official client and the fixture host on %s (OPS-05)', (adapter) => {
  let app: INestApplication;
  let client: Client;

  beforeAll(async () => {
    app = await createSut({ adapter, limits: true, database: undefined });
    await app.listen(0, '127.0.0.1');
    client = await discover(await app.getUrl(), { 'x-user': 'interop' });
  });
  afterAll(() => app.close());

  it('discovers the agent by its card', async () => {
    const card = await client.getAgentCard();
    expect(card.name).toBe('System under test');
    expect(card.supportedInterfaces[0]?.protocolBinding).toBe('JSONRPC');
    expect(card.skills.map(({ id }) => id)).toEqual(['fixture']);
    expect(client.protocolVersion).toBe('1.0');
  });

  it('sends a message and waits for the task', async () => {
    const task = await sendForTask(client, textMessage('echo hello'));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts.map(textOf)).toEqual(['hello']);
    expect(task.history.map(textOf)).toEqual(['echo hello']);
  });

  it('sends a message, returns immediately, and polls', async () => {
    const request = textMessage('slow 20', {}, { returnImmediately: true });
    const { id, status } = await sendForTask(client, request);
    expect(status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    await until(async () => (await getTask(client, id)).status?.state === TaskState.TASK_STATE_COMPLETED);
  });

  it('gets a direct Message', async () => {
    const result = await client.sendMessage(textMessage('message hello'));
    expect('messageId' in result && textOf(result)).toBe('hello');
  });

  it('gets every kind of part', async () => {
    const kinds = [];
    for (const prefix of ['artifact-text', 'artifact-file', 'artifact-file-url', 'artifact-data']) {
      const task = await sendForTask(client, textMessage('', { messageId: `tck-${prefix}-${randomUUID()}` }));
      kinds.push(task.artifacts[0]?.parts[0]?.content);
    }
    expect(kinds).toEqual([
      { $case: 'text', value: 'Generated text content' },
      { $case: 'raw', value: Buffer.from('tck') },
      { $case: 'url', value: 'https://example.com/output.txt' },
      { $case: 'data', value: { key: 'value', count: 42 } },
    ]);
  });

  it('resumes a task that requires input', async () => {
    const paused = await sendForTask(client, textMessage('input'));
    expect(paused.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(textOf(paused.status?.message)).toBe('What else?');
    const { id: taskId, contextId } = paused;
    const resumed = await sendForTask(client, textMessage('this', { taskId, contextId }));
    expect(resumed.id).toBe(taskId);
    expect(resumed.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('lists tasks, page by page', async () => {
    const contextId = randomUUID();
    const sent: string[] = [];
    for (const text of ['one', 'two', 'three']) {
      sent.unshift((await sendForTask(client, textMessage(text, { contextId }))).id);
    }
    const page = (pageToken: string) =>
      client.listTasks(ListTasksRequest.fromJSON({ contextId, pageSize: 2, pageToken, includeArtifacts: true }));
    const first = await page('');
    const second = await page(first.nextPageToken);
    expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(sent);
    expect(first.totalSize).toBe(3);
    expect(textOf(first.tasks[0]?.artifacts[0])).toBe('three');
    expect(second.nextPageToken).toBe('');
  });

  it('cancels a task, once', async () => {
    const { id } = await sendForTask(client, textMessage('slow 60000', {}, { returnImmediately: true }));
    const canceled = await client.cancelTask(CancelTaskRequest.fromJSON({ id }));
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask(CancelTaskRequest.fromJSON({ id }))).rejects.toThrow(TaskNotCancelableError);
  });

  it('streams a message from the task to its end', async () => {
    const events = await payloadsOf(client.sendMessageStream(textMessage('chunks 3 4')));
    const [first] = events;
    expect(first?.$case === 'task' && first.value.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    const chunks = events.flatMap((event) => (event?.$case === 'artifactUpdate' ? [event.value] : []));
    expect(chunks.map(({ artifact }) => textOf(artifact)).join('')).toBe('x'.repeat(12));
    expect(chunks.map(({ append }) => append)).toEqual([false, ...chunks.slice(1).map(() => true)]);
    const last = events.at(-1);
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('streams a direct Message', async () => {
    const [event, ...more] = await payloadsOf(client.sendMessageStream(textMessage('message hello')));
    expect(event?.$case === 'message' && textOf(event.value)).toBe('hello');
    expect(more).toEqual([]);
  });

  it('subscribes to a task again, from where it stands to its end', async () => {
    const { id } = await sendForTask(client, textMessage('input'));
    const subscribed = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }));
    const first = (await subscribed.next()).value?.payload;
    expect(first?.$case === 'task' && first.value.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const rest = payloadsOf(subscribed);
    await client.sendMessage(textMessage('this', { taskId: id }));
    const last = (await rest).at(-1);
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('stops streaming in the middle, and the task goes on', async () => {
    const { seats } = app.get(A2AService).statistics();
    let id = '';
    for await (const { payload } of client.sendMessageStream(textMessage('slow 50'))) {
      if (payload?.$case === 'task') ({ id } = payload.value);
      expect(app.get(A2AService).statistics().seats).toBe(seats + 1);
      break;
    }
    await until(() => app.get(A2AService).statistics().seats === seats, 'The end of the stream');
    await until(async () => (await getTask(client, id)).status?.state === TaskState.TASK_STATE_COMPLETED);
  });

  it('is told of a stream that there is not', async () => {
    const subscribe = (id: string) => payloadsOf(client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id })));
    await expect(subscribe(randomUUID())).rejects.toThrow(TaskNotFoundError);
    const { id } = await sendForTask(client, textMessage('echo'));
    await expect(subscribe(id)).rejects.toThrow(UnsupportedOperationError);
  });

  it('is told of a task that there is not', async () => {
    await expect(getTask(client, randomUUID())).rejects.toThrow(TaskNotFoundError);
    await expect(client.sendMessage(textMessage('hello', { taskId: randomUUID() }))).rejects.toThrow(TaskNotFoundError);
  });

  it('is told that a task has ended', async () => {
    const { id: taskId } = await sendForTask(client, textMessage('echo'));
    await expect(client.sendMessage(textMessage('more', { taskId }))).rejects.toThrow(UnsupportedOperationError);
  });
});

describe('the official client and the demo (OPS-05)', () => {
  let folder: string;
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nestjs-a2a-interop-'));
    process.env['DATA_FILE'] = join(folder, 'invoices.sqlite');
    app = await NestFactory.create(DemoModule, { logger: false, forceCloseConnections: true });
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  it('summarizes invoices with a JWT', async () => {
    const client = await discover(url, { authorization: `Bearer ${app.get(DevelopmentTokens).issue().alice}` });
    const { securitySchemes } = await client.getAgentCard();
    expect(securitySchemes['bearer']?.scheme).toMatchObject({ $case: 'httpAuthSecurityScheme' });
    const data = { skill: 'summarize-invoices', from: '2026-01-01', to: '2026-03-31', customer: 'globex' };
    const task = await sendForTask(client, textMessage('', { parts: [{ data }] }));
    expect(task.artifacts[0]?.parts[0]?.content?.value).toEqual({ count: 3, total: 239_475, open: 109_575 });
  });

  it('is refused without one', async () => {
    const client = await discover(url, {});
    await expect(client.listTasks(ListTasksRequest.fromJSON({}))).rejects.toThrow('Unauthenticated');
  });
});
