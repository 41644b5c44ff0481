import 'reflect-metadata';
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard } from '@a2a-js/sdk';
import { agentCardHandler } from '@a2a-js/sdk/server/express';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import { A2AModule, AGENT_CARD_PATH, type SkillDefinition } from 'nestjs-a2a';
import { median, report } from './load.js';

const SKILLS = 500;
const CONNECTIONS = 16;
const REQUESTS = 1_500;
const ROUNDS = 5;
const connections = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

const skills = Array.from({ length: SKILLS }, (_, index): SkillDefinition => ({
  id: `skill-${index}`,
  name: `Skill ${index}`,
  description: 'Answers questions about invoices, and drafts reminders to customers who are late.',
  tags: ['invoices', 'letters'],
  examples: ['What is open?', 'Remind Globex.'],
  handler: () => 'done',
}));

@Module({
  imports: [
    A2AModule.forRoot({
      card: { name: 'Bench', description: 'An agent to be measured.', url: 'http://127.0.0.1' },
      principal: () => ({ owner: 'bench' }),
      skills,
    }),
  ],
})
class CardModule {}

/** A server that answers with a card of many skills. */
interface CardServer {
  /** Where its card is. */
  readonly url: string;
  readonly close: () => Promise<unknown>;
}

async function startOurs(): Promise<CardServer> {
  const app = await NestFactory.create(CardModule, { logger: ['error'], forceCloseConnections: true });
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as ReturnType<typeof createServer>).address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${AGENT_CARD_PATH}`, close: () => app.close() };
}

/** The official SDK's server, with the very card that ours serves. */
async function startPeer(json: string): Promise<CardServer> {
  const card = AgentCard.fromJSON(JSON.parse(json));
  const app = express();
  app.use(AGENT_CARD_PATH, agentCardHandler({ agentCardProvider: () => Promise.resolve(card) }));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
    return once(server, 'close');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${AGENT_CARD_PATH}`, close };
}

async function get(url: string, etag?: string): Promise<IncomingMessage> {
  const call = request(url, { agent: connections, headers: etag === undefined ? {} : { 'if-none-match': etag } });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return response;
}

/** Answers per second, whole ones or, to a client that has the card, 304s. */
async function rate({ url }: CardServer, etag?: string): Promise<number> {
  const began = performance.now();
  let asked = 0;
  const connection = async (): Promise<void> => {
    while (asked++ < REQUESTS) {
      const response = await get(url, etag);
      if (response.statusCode !== (etag === undefined ? 200 : 304))
        throw new Error(`Status ${response.statusCode ?? 0}`);
      response.resume();
      await once(response, 'end');
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return (REQUESTS / (performance.now() - began)) * 1_000;
}

const ours = await startOurs();
const first = await get(ours.url);
let json = '';
for await (const chunk of first.setEncoding('utf8')) json += chunk as string;
const peer = await startPeer(json);
const known = await get(peer.url);
known.resume();

const kinds = [
  { name: 'whole card', tags: [undefined, undefined] },
  { name: '304', tags: [first.headers.etag, known.headers.etag] },
] as const;
report(
  `The card of ${SKILLS} skills (${Math.round(Buffer.byteLength(json) / 1024)} KiB), ${CONNECTIONS} connections, answers per second (median of ${ROUNDS} rounds of ${REQUESTS})`,
);
const medians = new Map<string, number>();
for (const { name, tags } of kinds) {
  const rates: { readonly ours: number[]; readonly peer: number[] } = { ours: [], peer: [] };
  await rate(ours, tags[0]);
  await rate(peer, tags[1]);
  for (let round = 0; round < ROUNDS; round++) {
    // By turns, so that a slow moment of the machine hits both.
    rates.ours.push(await rate(ours, tags[0]));
    rates.peer.push(await rate(peer, tags[1]));
  }
  const [mine, theirs] = [median(rates.ours), median(rates.peer)];
  medians.set(name, mine);
  report(
    `  ${name.padEnd(11)} nestjs-a2a ${mine.toFixed(0).padStart(6)}  @a2a-js/sdk ${theirs.toFixed(0).padStart(6)}  ratio ${(mine / theirs).toFixed(2)}`,
  );
}
report(`  a 304 to a whole card: ${((medians.get('304') ?? NaN) / (medians.get('whole card') ?? NaN)).toFixed(2)}`);
connections.destroy();
await ours.close();
await peer.close();
