import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../../apps/demo/src/app.module.js';
import { DevelopmentTokens, type Tokens } from '../../apps/demo/src/auth/development-tokens.js';
import { playConversation, playReturn } from '../../apps/demo/src/conversation.js';
import { welcome } from '../../apps/demo/src/welcome.js';
import { ADAPTERS, type Adapter } from '../support/agent.js';
import type { WireTask } from '../support/caller.js';

/** Starts the application with data of its own. */
async function startDemo(adapter: Adapter, dataFile: string): Promise<INestApplication> {
  process.env['DATA_FILE'] = dataFile;
  const options = { logger: false, forceCloseConnections: true } as const;
  const app =
    adapter === 'fastify'
      ? await NestFactory.create(AppModule, new FastifyAdapter(), { ...options })
      : await NestFactory.create(AppModule, { ...options });
  return app.listen(0, '127.0.0.1').then(() => app);
}

describe.each(ADAPTERS)('the demo on %s', (adapter) => {
  let folder: string;
  let app: INestApplication;
  let url: string;
  let tokens: Tokens;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nestjs-a2a-demo-'));
    app = await startDemo(adapter, join(folder, 'new', 'invoices.sqlite'));
    url = await app.getUrl();
    tokens = app.get(DevelopmentTokens).issue();
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  it('plays its conversation (OPS-03)', async () => {
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    const taskId = await playConversation(url, tokens, print);
    await playReturn(url, tokens, taskId, print);
    expect(lines.filter((line) => line.startsWith('\n')).length).toBeGreaterThan(8);
  });

  it('does what its welcome says, line by line', async () => {
    const lines = welcome(url, tokens).split('\n');
    const variables = lines.filter((line) => /^[A-Z]+=/u.test(line));
    const curls = lines.filter((line) => line.startsWith('curl '));
    expect(variables).toHaveLength(3);
    const print = async (line: string): Promise<string> => {
      const { stdout } = await promisify(execFile)('bash', ['-c', [...variables, line].join('\n')]);
      return stdout;
    };
    const run = async (line: string): Promise<unknown> => JSON.parse(await print(line));
    expect(curls).toHaveLength(7);
    const [card = '', invoices = '', summarize = '', draft = '', answer = '', watch = '', list = ''] = curls;
    expect(await run(card)).toMatchObject({ supportedInterfaces: [{ url: `${url}/a2a` }] });
    expect(await run(invoices)).toHaveLength(6);
    const summary = { result: { task: { artifacts: [{ parts: [{ data: { count: 5 } }] }] } } };
    expect(await run(summarize)).toMatchObject(summary);
    const paused = (await run(draft)) as { result: { task: WireTask } };
    expect(paused.result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const resumed = await run(answer.replace('TASK_ID', paused.result.task.id));
    expect(resumed).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    const events = (await print(watch)).split('\n\n');
    expect(events.length).toBeGreaterThan(7);
    expect(events.at(-2)).toContain('TASK_STATE_COMPLETED');
    expect(await run(list)).toMatchObject({ result: { totalSize: expect.any(Number) } });
  });

  describe('lets in', () => {
    const claims = { sub: 'alice', scope: 'invoices:read', token_use: 'access' };
    const status = async (authorization?: string): Promise<[rest: number, agent: number]> => {
      const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
      const rest = await fetch(`${url}/invoices`, { headers });
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
      const agent = await fetch(`${url}/a2a`, { method: 'POST', headers, body });
      return [rest.status, agent.status];
    };

    it('who has a token', async () => {
      expect(await status(`Bearer ${tokens.alice}`)).toEqual([200, 200]);
    });

    it.each<[string, () => string | undefined]>([
      ['without a token', () => undefined],
      ['with another scheme', () => `Basic ${tokens.alice}`],
      ['with another signature', () => `Bearer ${tokens.alice.slice(0, -8)}AAAAAAAA`],
      ['with an expired token', () => `Bearer ${app.get(JwtService).sign(claims, { expiresIn: '-1s' })}`],
      ['with a token for another audience', () => `Bearer ${app.get(JwtService).sign(claims, { audience: 'else' })}`],
      ['with a token of another issuer', () => `Bearer ${app.get(JwtService).sign(claims, { issuer: 'else' })}`],
      ['with a token for another use', () => `Bearer ${app.get(JwtService).sign({ ...claims, token_use: 'id' })}`],
    ])('nobody %s', async (_who, authorization) => {
      expect(await status(authorization())).toEqual([401, 401]);
    });
  });
});

describe('the data of the demo', () => {
  it('are made once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nestjs-a2a-demo-'));
    const file = join(folder, 'invoices.sqlite');
    const count = async (): Promise<number> => {
      const app = await startDemo('express', file);
      try {
        const headers = { authorization: `Bearer ${app.get(DevelopmentTokens).issue().bob}` };
        const response = await fetch(`${await app.getUrl()}/invoices`, { headers });
        return ((await response.json()) as unknown[]).length;
      } finally {
        await app.close();
      }
    };
    expect(await count()).toBe(3);
    expect(await count()).toBe(3);
    await rm(folder, { recursive: true });
  });
});
