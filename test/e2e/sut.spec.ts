import { randomUUID } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import type { JsonObject } from 'nestjs-a2a';
import { readSettings } from '../../apps/sut/src/settings.js';
import { createSut } from '../../apps/sut/src/sut.js';
import { ADAPTERS } from '../support/agent.js';
import { newcomer, textOf, type Answer, type WireTask } from '../support/caller.js';
import { notifying } from '../support/push-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const SECRET = 'SECRET-STACK';

describe.each(ADAPTERS)('the fixture host on %s', (adapter) => {
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    app = await createSut({ adapter, limits: true, database: undefined });
    // What a skill throws on purpose is logged on purpose.
    app.useLogger(false);
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(() => app.close());

  function say(text: string): Promise<WireTask> {
    return newcomer(url).task(text);
  }

  /** Sends a message whose id asks for a scenario of the kit. */
  function act(prefix: string, message: JsonObject = {}): Promise<Answer> {
    return newcomer(url).send('anything', { message: { messageId: `${prefix}-${randomUUID()}`, ...message } });
  }

  describe('by the first word of the text', () => {
    it.each([
      ['echo hello world', ['hello world']],
      ['anything else', ['anything else']],
      ['constructor', ['constructor']],
      ['slow 5', ['slow']],
      ['stubborn 5', ['stubborn']],
      ['silent 5', ['silent']],
      ['noterm', []],
      ['orphan', ['orphan']],
      ['chunks 3 4', ['xxxxxxxxxxxx']],
    ])('%s: COMPLETED', async (text, artifacts) => {
      const task = await say(text);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect((task.artifacts as WireTask['artifacts'] | undefined)?.map(textOf) ?? []).toEqual(artifacts);
    });

    it('message: a direct Message', async () => {
      const { result } = await newcomer(url).send('message hello');
      expect(textOf(result.message)).toBe('hello');
    });

    it.each([
      ['input', 'TASK_STATE_INPUT_REQUIRED'],
      ['auth', 'TASK_STATE_AUTH_REQUIRED'],
    ])('%s: pauses, and completes when resumed', async (word, state) => {
      const caller = newcomer(url);
      const paused = await caller.task(word);
      expect(paused.status.state).toBe(state);
      const { result } = await caller.follow(paused.id, 'here');
      expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(result.task.artifacts.map(textOf)).toEqual(['resumed: here']);
    });

    it.each(['throwfirst', 'throw'])('%s: FAILED, without a word of the error', async (word) => {
      const { text, result } = await newcomer(url).send(word);
      expect(result.task.status.state).toBe('TASK_STATE_FAILED');
      expect(text).not.toContain(SECRET);
    });

    it.each(['slow 60000', 'stubborn 100', 'silent 60000'])('%s: can be cancelled', async (text) => {
      const caller = newcomer(url);
      const { id } = await caller.start(text);
      expect((await caller.cancel(id)).result.status.state).toBe('TASK_STATE_CANCELED');
    });

    it('chunks: also by the metadata of the message', async () => {
      const task = await newcomer(url).task('anything', { message: { metadata: { chunks: 5, size: 2 } } });
      expect(task.artifacts[0]?.parts).toHaveLength(5);
      expect(task.artifacts.map(textOf)).toEqual(['xxxxxxxxxx']);
    });

    it('meta: what the skill sees', async () => {
      const caller = newcomer(url, { tenant: 'acme', scopes: 'a b' });
      const { id } = await caller.task('echo');
      const options = { message: { referenceTaskIds: [id] }, metadata: { key: 'value' } };
      const task = await caller.task('meta', options);
      expect(task.artifacts[0]?.parts[0]?.['data']).toEqual({
        owner: caller.user,
        tenant: 'acme',
        scopes: ['a', 'b'],
        metadata: { key: 'value' },
        referenceTaskIds: [id],
      });
    });
  });

  describe('by the prefix of the message id', () => {
    it.each([
      ['tck-complete-task', 'TASK_STATE_COMPLETED', 'Hello from TCK'],
      ['tck-input-required', 'TASK_STATE_INPUT_REQUIRED', 'What else?'],
      ['tck-auth-required', 'TASK_STATE_AUTH_REQUIRED', 'Sign in first.'],
      ['tck-reject-task', 'TASK_STATE_REJECTED', 'rejected'],
    ])('%s: %s, saying "%s"', async (prefix, state, text) => {
      const { status } = (await act(prefix)).result.task;
      expect(status.state).toBe(state);
      expect(textOf(status.message)).toBe(text);
    });

    const file = { raw: 'dGNr', filename: 'output.txt', mediaType: 'text/plain' };
    it.each([
      ['tck-artifact-text', [{ text: 'Generated text content' }]],
      ['tck-artifact-file', [file]],
      [
        'tck-artifact-file-url',
        [{ url: 'https://example.com/output.txt', filename: 'output.txt', mediaType: 'text/plain' }],
      ],
      ['tck-artifact-data', [{ data: { key: 'value', count: 42 } }]],
      ['tck-stream-001', [{ text: 'Stream hello from TCK' }]],
      ['tck-stream-003', [{ text: 'Stream task lifecycle' }]],
      ['tck-stream-ordering-001', [{ text: 'Ordered output' }]],
      ['tck-stream-artifact-text', [{ text: 'Streamed text content' }]],
      ['tck-stream-artifact-file', [file]],
      ['tck-stream-artifact-chunked', [{ text: 'chunk-1 ' }, { text: 'chunk-2' }]],
    ])('%s: COMPLETED with an artifact', async (prefix, parts) => {
      const { task } = (await act(prefix)).result;
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task.artifacts.map((artifact) => artifact.parts)).toEqual([parts]);
    });

    it('tck-stream-002: COMPLETED, and nothing else', async () => {
      const { task } = (await act('tck-stream-002')).result;
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task).not.toHaveProperty('artifacts');
    });

    it('tck-message-response: a direct Message', async () => {
      expect(textOf((await act('tck-message-response')).result.message)).toBe('Direct message response');
    });

    it.each(['tck-delayed-complete', 'test-resubscribe-message-id'])('%s: WORKING for a while', async (messageId) => {
      const caller = newcomer(url);
      const { id } = await caller.start('anything', { message: { messageId } });
      await caller.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_WORKING');
      expect((await caller.cancel(id)).result.status.state).toBe('TASK_STATE_CANCELED');
    });

    it('pauses a task again when the next message asks for it', async () => {
      const caller = newcomer(url);
      const message = { messageId: 'tck-input-required-1' };
      const { id } = await caller.task('one', { message });
      expect((await caller.follow(id, 'two', { message })).result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const last = await caller.follow(id, 'three', { message: { messageId: 'tck-complete-task-1' } });
      expect(last.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    });
  });

  it('shows at /stat what goes on', async () => {
    const stat = async () => (await (await fetch(`${url}/stat`)).json()) as Record<string, number>;
    await until(async () => (await stat())['liveRuns'] === 0, 'The end of the other runs');
    const before = await stat();
    const caller = newcomer(url);
    const { id } = await caller.start('slow 60000');
    const during = await stat();
    expect(during).toEqual({
      executions: before['executions']! + 1,
      liveRuns: 1,
      subscribers: expect.any(Number),
      seats: 0,
    });
    await caller.cancel(id);
  });

  it('calls everyone without x-user anonymous', async () => {
    const response = await fetch(`${url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'meta' }] } },
      }),
    });
    const { result } = (await response.json()) as { result: { task: WireTask } };
    expect(result.task.artifacts[0]?.parts[0]?.['data']).toMatchObject({
      owner: 'anonymous',
      tenant: '',
      scopes: null,
    });
  });
});

describe('the settings of the fixture host', () => {
  it('have defaults', () => {
    expect(readSettings({})).toEqual({ port: 9999, adapter: 'express', limits: true });
  });

  it('are read from the environment', () => {
    const settings = readSettings({
      PORT: '0',
      ADAPTER: 'fastify',
      LIMITS: 'off',
      PUSH: '{"allowPrivate":true}',
      DATABASE_URL: 'sqlite:tasks',
      LEASE_MS: '2000',
    });
    expect(settings).toEqual({
      port: 0,
      adapter: 'fastify',
      limits: false,
      push: { allowPrivate: true },
      database: 'sqlite:tasks',
      lease: 2_000,
    });
  });

  it.each([
    { DATABASE_URL: 'mysql://localhost' },
    { ADAPTER: 'koa' },
    { PORT: 'http' },
    { LEASE_MS: '2s' },
    { PUSH: '{' },
  ])('refuse %j', (env) => {
    const [name] = Object.keys(env);
    expect(() => readSettings(env as NodeJS.ProcessEnv)).toThrow(name);
  });

  it.each([
    ['on', true],
    ['off', false],
  ])('let webhooks be on this machine by the push options: %s (SSRF-08)', async (_title, allowPrivate) => {
    const receiver = await WebhookReceiver.start();
    const app = await createSut({ adapter: 'express', limits: true, database: undefined, push: { allowPrivate } });
    try {
      await app.listen(0, '127.0.0.1');
      const { result, error } = await newcomer(await app.getUrl()).send('hi', notifying(receiver));
      if (!allowPrivate) {
        expect(error.code).toBe(-32602);
        return;
      }
      await receiver.state('COMPLETED');
      expect(receiver.received.at(-1)!.body.statusUpdate.taskId).toBe(result.task.id);
    } finally {
      await app.close();
      await receiver.close();
    }
  });

  it('lift every bound with LIMITS=off', async () => {
    const app = await createSut({ adapter: 'express', limits: false, database: undefined });
    try {
      await app.listen(0, '127.0.0.1');
      const caller = newcomer(await app.getUrl());
      // More than the bodies, runs and tasks that an owner may have otherwise.
      expect((await caller.task('x'.repeat(2 * 1024 * 1024))).status.state).toBe('TASK_STATE_COMPLETED');
      const runs = await Promise.all(Array.from({ length: 70 }, () => caller.start('slow 60000')));
      for (const { id } of runs) await caller.cancel(id);
      expect((await caller.list()).totalSize).toBe(71);
    } finally {
      await app.close();
    }
  });
});

describe('the process of the fixture host', () => {
  const main = fileURLToPath(new URL('../../dist/apps/sut/src/main.js', import.meta.url));
  const started: ChildProcess[] = [];

  function start(env: Record<string, string>): ChildProcess {
    const child = spawn(process.execPath, [main], { env: { PATH: process.env['PATH'], ...env }, stdio: 'pipe' });
    started.push(child);
    return child;
  }

  afterAll(() => {
    for (const child of started) child.kill('SIGKILL');
  });

  it('is built', () => {
    expect(existsSync(main)).toBe(true);
  });

  it.each(ADAPTERS)('says where it listens, and ends on SIGTERM (%s)', async (adapter) => {
    const child = start({ PORT: '0', ADAPTER: adapter });
    const ended = once(child, 'exit');
    const line = await output(child, 'stdout');
    const [, url = ''] = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/u.exec(line) ?? [];
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as JsonObject;
    expect(card['supportedInterfaces']).toEqual([
      { url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ]);
    const task = await newcomer(url).task('echo hello');
    expect(task.artifacts.map(textOf)).toEqual(['hello']);
    child.kill('SIGTERM');
    const [code, signal] = (await ended) as [number | null, string | null];
    // Nest ends the process with the signal that it was sent, once everything is closed.
    expect([code, signal]).toEqual([null, 'SIGTERM']);
  });

  it('refuses to start with a database that it does not know, and says why', async () => {
    const child = start({ PORT: '0', DATABASE_URL: 'mysql://localhost' });
    const ended = once(child, 'exit');
    expect(await output(child, 'stderr')).toMatch(/^DATABASE_URL must begin/u);
    expect(await ended).toEqual([1, null]);
  });
});

/** The first thing that a process says. */
async function output(child: ChildProcess, stream: 'stdout' | 'stderr'): Promise<string> {
  const [chunk] = (await once(child[stream]!, 'data')) as [Buffer];
  return chunk.toString();
}
