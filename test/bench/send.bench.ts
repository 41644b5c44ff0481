import { Load, median, report } from './load.js';
import { startOurs, type Subject } from './ours.js';
import { startPeer } from './peer.js';

const CONNECTIONS = 16;
const MESSAGES = 3_000;
const ROUNDS = 5;

/** Tasks per second: an echo skill, SendMessage over 16 connections, tasks in memory, client in the same process. */
async function rate({ url }: Subject): Promise<number> {
  const load = new Load(url, CONNECTIONS);
  const began = performance.now();
  let sent = 0;
  const connection = async (): Promise<void> => {
    while (sent++ < MESSAGES) await load.send('echo', { text: 'hello' });
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  load.close();
  return (MESSAGES / (performance.now() - began)) * 1_000;
}

const subjects = [await startOurs(), await startPeer()];
const rates = subjects.map((): number[] => []);
for (const subject of subjects) await rate(subject);
for (let round = 0; round < ROUNDS; round++) {
  // By turns, so that a slow moment of the machine hits both.
  for (const [index, subject] of subjects.entries()) rates[index]?.push(await rate(subject));
}
report(`SendMessage, echo, ${CONNECTIONS} connections, in memory (median of ${ROUNDS} rounds of ${MESSAGES})`);
subjects.forEach(({ name }, index) => {
  report(
    `  ${name.padEnd(12)} ${median(rates[index] ?? [])
      .toFixed(0)
      .padStart(7)} tasks/s`,
  );
});
const [ours = NaN, peer = NaN] = rates.map(median);
report(`  ratio ${(ours / peer).toFixed(2)}`);
for (const subject of subjects) await subject.close();
