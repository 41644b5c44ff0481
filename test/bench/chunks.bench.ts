import { Load, median, report } from './load.js';
import { startOurs } from './ours.js';
import { startPeer } from './peer.js';

const WINDOW = 100;

const ours = await startOurs();
const peer = await startPeer();

/** Chunks per second of one task that streams them into one artifact. */
async function chunkRate(url: string, count: number): Promise<number> {
  const load = new Load(url, 1);
  const began = performance.now();
  await load.send('chunks', { data: { skill: 'chunks', arguments: { count, size: 64 } } });
  load.close();
  return (count / (performance.now() - began)) * 1_000;
}

/** What the n-th awaited append of a task of 10,100 chunks costs, in ns: the median over a window around it. */
async function appendCosts(): Promise<{ early: number; late: number }> {
  const load = new Load(ours.url, 1);
  const answer = await load.send('paced', { data: { arguments: { count: 10_000 + WINDOW } } });
  load.close();
  const costs = answer.result?.task?.artifacts?.[1]?.parts[0]?.data as number[];
  return {
    early: median(costs.slice(100 - WINDOW / 2, 100 + WINDOW / 2)),
    late: median(costs.slice(10_000 - WINDOW / 2)),
  };
}

await appendCosts();
const runs = [];
for (let run = 0; run < 5; run++) runs.push(await appendCosts());
const ratio = median(runs.map(({ early, late }) => late / early));
report('An awaited append of a 64-byte chunk, in memory (medians)');
report(`  around the 100th     ${(median(runs.map(({ early }) => early)) / 1_000).toFixed(1)} µs`);
report(`  around the 10,000th  ${(median(runs.map(({ late }) => late)) / 1_000).toFixed(1)} µs`);
report(`  ratio ${ratio.toFixed(2)}`);

report('Chunks per second of one task, blocking SendMessage, in memory (median of 3)');
for (const count of [10, 100, 1_000, 10_000]) {
  const rates = { ours: [] as number[], peer: [] as number[] };
  for (let run = 0; run < 3; run++) {
    rates.ours.push(await chunkRate(ours.url, count));
    // The peer's cost grows with the square of the length: a minute and more at 10,000.
    if (count <= 1_000) rates.peer.push(await chunkRate(peer.url, count));
  }
  const [mine, theirs] = [median(rates.ours), median(rates.peer)];
  const comparison = count <= 1_000 ? `${theirs.toFixed(0).padStart(7)}  ratio ${(mine / theirs).toFixed(2)}` : '';
  report(`  ${String(count).padStart(6)} chunks: ${mine.toFixed(0).padStart(7)}  peer ${comparison}`);
}
await ours.close();
await peer.close();
