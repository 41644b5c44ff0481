import { randomUUID } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';
import { median, report } from './load.js';
import { startOurs } from './ours.js';
import { startPeer } from './peer.js';

const connections = new Agent({ keepAlive: false, maxSockets: Infinity });
const RUNS: Readonly<Record<number, number>> = { 10: 15, 100: 15, 1_000: 5, 10_000: 3 };
const memory = globalThis as { gc?: () => void };

/** Posts a streaming call and gives the answer once its head is there. */
function open(url: string, method: string, params: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method: 'POST',
      agent: connections,
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', accept: 'text/event-stream' },
    });
    call.once('response', resolve).once('error', reject);
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  });
}

/** Counts the events of a stream to its end. */
async function count(stream: IncomingMessage): Promise<number> {
  let events = 0;
  for await (const chunk of stream) events += (chunk as Buffer).toString('latin1').split('data: ').length - 1;
  return events;
}

function sending(skill: string, data: object): object {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data }], metadata: { skill } };
  return { message };
}

/** Events per second of one stream of chunks, from the call to its end. */
async function eventRate(url: string, chunks: number): Promise<number> {
  const params = sending('chunks', { skill: 'chunks', arguments: { count: chunks, size: 64 } });
  const began = performance.now();
  const events = await count(await open(url, 'SendStreamingMessage', params));
  if (events < chunks) throw new Error(`${events} events of ${chunks} chunks`);
  return (events / (performance.now() - began)) * 1_000;
}

function usedHeap(): number {
  memory.gc?.();
  memory.gc?.();
  return process.memoryUsage().heapUsed;
}

const ours = await startOurs();
const peer = await startPeer();

for (let run = 0; run < 50; run++) await Promise.all([eventRate(ours.url, 20), eventRate(peer.url, 20)]);
report('Events per second of one stream, in memory, reader in the same process (median of 15, 15, 5, 3)');
for (const chunks of [10, 100, 1_000, 10_000]) {
  const rates = { ours: [] as number[], peer: [] as number[] };
  for (let run = 0; run < (RUNS[chunks] ?? 3); run++) {
    rates.ours.push(await eventRate(ours.url, chunks));
    // The peer's cost grows with the square of the length: minutes at 10,000.
    if (chunks <= 1_000) rates.peer.push(await eventRate(peer.url, chunks));
  }
  const [mine, theirs] = [median(rates.ours), median(rates.peer)];
  const comparison =
    chunks <= 1_000 ? `  peer ${theirs.toFixed(0).padStart(6)}  ratio ${(mine / theirs).toFixed(2)}` : '';
  report(`  ${String(chunks).padStart(6)} chunks: ${mine.toFixed(0).padStart(7)}${comparison}`);
}

/** Starts a task that waits for a word, and gives its id. */
async function startPaused(): Promise<string> {
  const stream = await open(ours.url, 'SendStreamingMessage', sending('pause', {}));
  let text = '';
  for await (const chunk of stream) text += (chunk as Buffer).toString();
  return /"task":\{"id":"([^"]+)"/u.exec(text)?.[1] ?? '';
}

const id = await startPaused();
const before = usedHeap();
const readers = [];
for (let reader = 0; reader < 1_000; reader++) readers.push(await open(ours.url, 'SubscribeToTask', { id }));
// Both ends of the connections are in this process.
report(`Heap per idle subscriber, its reader's included: ${((usedHeap() - before) / 1_000 / 1_024).toFixed(1)} KiB`);
readers.slice(100).forEach((reader) => reader.destroy());

const fanOut = readers.slice(0, 100).map(count);
const began = performance.now();
const resumed = {
  messageId: randomUUID(),
  role: 'ROLE_USER',
  taskId: id,
  parts: [{ data: { count: 1_000, size: 64 } }],
};
await count(await open(ours.url, 'SendStreamingMessage', { message: resumed }));
const seen = await Promise.all(fanOut);
const total = seen.reduce((sum, events) => sum + events, 0);
const rate = (total / (performance.now() - began)) * 1_000;
report(`Fan-out of 1,000 chunks to 100 subscribers: ${total} events, ${rate.toFixed(0)} events/s`);
await ours.close();
await peer.close();
