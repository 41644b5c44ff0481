import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Load, median, report } from './load.js';
import { startOurs, type Subject } from './ours.js';
import { startPeer } from './peer.js';

// The peer says a word of each notification.
console.log = () => undefined;
console.info = () => undefined;
console.warn = () => undefined;
console.error = () => undefined;

const SENDS = 120;
const CONNECTIONS = 4;
const RUNS = 5;
const INPUT = { data: { skill: 'chunks', arguments: { count: 10, size: 64 } } };

async function listen(answer: RequestListener): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const taking = await listen((request, response) => {
  request.resume().once('end', () => response.end());
});
const hanging = await listen((request) => request.resume());

/** Tasks per second that are sent, each with a webhook or with none, and waited for. */
async function taskRate({ url }: Subject, webhook?: string): Promise<number> {
  const load = new Load(url, CONNECTIONS);
  const configuration = webhook === undefined ? undefined : { taskPushNotificationConfig: { url: webhook } };
  const began = performance.now();
  await Promise.all(Array.from({ length: SENDS }, () => load.send('chunks', INPUT, configuration)));
  const rate = (SENDS / (performance.now() - began)) * 1_000;
  load.close();
  return rate;
}

report(
  `Tasks of 10 chunks per second, in memory, ${CONNECTIONS} connections (median of ${RUNS}); ratio to tasks without a webhook`,
);
for (const subject of [await startOurs(), await startPeer()]) {
  const rates = { none: [] as number[], taking: [] as number[], hanging: [] as number[] };
  await taskRate(subject);
  for (let run = 0; run < RUNS; run++) {
    rates.none.push(await taskRate(subject));
    rates.taking.push(await taskRate(subject, taking.url));
    rates.hanging.push(await taskRate(subject, hanging.url));
  }
  const base = median(rates.none);
  const shown = (values: readonly number[]) =>
    `${median(values).toFixed(0).padStart(5)} (${(median(values) / base).toFixed(2)})`;
  report(
    `  ${subject.name.padEnd(12)} none ${base.toFixed(0).padStart(5)}  receiver that takes ${shown(rates.taking)}  that hangs ${shown(rates.hanging)}`,
  );
  taking.server.closeAllConnections();
  hanging.server.closeAllConnections();
  await subject.close();
}
taking.server.close();
hanging.server.close();
process.exit();
