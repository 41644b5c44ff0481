import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type * as Postgres from '../support/postgres.mjs';
import { report } from './load.js';

const CHUNKS = 500;

/** A replica of the fixture host in a process of its own. */
async function startReplica(databaseUrl: string): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, ['dist/apps/sut/src/main.js'], {
    env: { ...process.env, PORT: '0', LIMITS: 'off', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (\S+)$/u.exec(line)?.[1];
    if (url !== undefined) return { url: `${url}/a2a`, stop: () => child.kill('SIGKILL') };
  }
  throw new Error('The replica did not start.');
}

function open(url: string, method: string, params: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const call = request(url, { method: 'POST', agent: false, headers });
    call.once('response', resolve).once('error', reject);
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  });
}

/** Notes when each version of a task was seen, in ms. */
async function times(
  stream: IncomingMessage,
  onTask: (id: string) => void = () => undefined,
): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  for await (const line of createInterface({ input: stream })) {
    const version = /^id: (\d+)$/u.exec(line)?.[1];
    if (version !== undefined) seen.set(version, performance.now());
    const id = /"task":\{"id":"([^"]+)"/u.exec(line)?.[1];
    if (id !== undefined) onTask(id);
  }
  return seen;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

// Plain JavaScript, which the build leaves where it is.
const { startPostgres } = (await import(pathToFileURL('test/support/postgres.mjs').href)) as typeof Postgres;
const server = await startPostgres();
const [a, b] = [await startReplica(server.url), await startReplica(server.url)];
const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: `drip ${CHUNKS} 5` }] };
let onB: Promise<Map<string, number>> | undefined;
const onA = await times(await open(a.url, 'SendStreamingMessage', { message }), (id) => {
  onB ??= open(b.url, 'SubscribeToTask', { id }).then((stream) => times(stream));
});
const seenOnB = await (onB ?? Promise.reject(new Error('The task was not seen.')));
const delays = [...seenOnB].flatMap(([version, at]) => {
  const began = onA.get(version);
  return began === undefined ? [] : [at - began];
});
report(`A chunk on replica A, seen on A → seen on B, ${delays.length} chunks, one PostgreSQL`);
report(`  p50 ${percentile(delays, 0.5).toFixed(1)} ms, p99 ${percentile(delays, 0.99).toFixed(1)} ms`);
a.stop();
b.stop();
await server.stop();
