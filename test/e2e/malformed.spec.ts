import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TaskState } from 'nestjs-a2a';
import { ERROR_TABLE } from 'nestjs-a2a/protocol';
import { ADAPTERS, startAgent, type Adapter, type Agent } from '../support/agent.js';
import { keepAlive, postBytes, type HttpAnswer } from '../support/http-client.js';
import { malformedBody, type KnownTasks } from '../support/malformed.js';
import { rpc, send } from '../support/rpc.js';
import { WireSkills } from '../support/wire-skills.js';

const IN_FLIGHT = 32;
const CODES = Object.keys(ERROR_TABLE).map(Number);

interface Counts {
  results: number;
  errors: number;
}

/** An answer whose body is what a stream began with, when it is one. */
function firstOf(answer: HttpAnswer): HttpAnswer {
  if (answer.headers['content-type'] !== 'text/event-stream') return answer;
  const data = /^data: (.*)$/mu.exec(answer.text)?.[1] ?? '';
  return { ...answer, headers: { 'content-type': 'application/json' }, body: JSON.parse(data) };
}

/** What is wrong with an answer, whatever the request was. */
function flawOf({ status, headers, text, body }: HttpAnswer): string | undefined {
  const answer = body as { jsonrpc?: unknown; id?: unknown; result?: unknown; error?: { code: number } } | undefined;
  if (status !== 200 && status !== 400) return `status ${status}`;
  if (headers['content-type'] !== 'application/json') return `content type ${headers['content-type'] ?? ''}`;
  if (answer?.jsonrpc !== '2.0') return `no answer: ${text}`;
  const kind = answer.error ? 'error' : 'result';
  if (Object.keys(answer).join() !== `jsonrpc,id,${kind}`) return `members: ${text}`;
  if (answer.id !== null && typeof answer.id !== 'string' && typeof answer.id !== 'number') return `id: ${text}`;
  if (answer.error && (!CODES.includes(answer.error.code) || answer.error.code === -32603)) return `code: ${text}`;
  if (answer.result && (status !== 200 || answer.id === null)) return `result: ${text}`;
  return undefined;
}

/** The way of a body is the same on both adapters behind the entry, so that one of them gets fewer. */
const BODIES: Readonly<Record<Adapter, number>> = { express: 10_000, fastify: 3_000 };

describe.each(ADAPTERS)('malformed bodies on %s', (adapter) => {
  const total = BODIES[adapter];
  let agent: Agent;
  let known: KnownTasks;
  const pool = keepAlive(IN_FLIGHT);

  beforeAll(async () => {
    const options = {
      terminalTaskRetention: -1,
      maxConcurrentRunsPerOwner: -1,
      maxStreamSeatsPerOwner: -1,
      streaming: { closeOnInterrupted: 'always' },
    } as const;
    agent = await startAgent({ adapter, skills: [WireSkills], options });
    const made = async (skill: string) => {
      const { body } = await send(agent.url, 'hi', { message: { metadata: { skill } } });
      return body.result.task.id as string;
    };
    known = { ended: await made('echo'), paused: await made('ask') };
  });
  afterAll(async () => {
    pool.destroy();
    await agent.close();
  });

  // Jest fails a test while which a rejection goes unhandled or an exception uncaught.
  it('get a JSON-RPC answer, break nothing and leave nothing behind, by the thousands (GATE-07, GATE-10, ERR-01, FAULT-01, S-17)', async () => {
    const counts: Counts = { results: 0, errors: 0 };
    const tasks = new Set(Object.values(known));
    const batch = fc.array(malformedBody(known), { minLength: IN_FLIGHT, maxLength: IN_FLIGHT, size: 'max' });
    await fc.assert(
      fc.asyncProperty(batch, async (bodies) => {
        const answers = await Promise.all(
          bodies.map(async (body) => firstOf(await postBytes(agent.url, body, { agent: pool }))),
        );
        answers.forEach((answer, index) => {
          const flaw = flawOf(answer);
          if (flaw !== undefined) throw new Error(`${flaw} for ${Buffer.from(bodies[index]!).toString('latin1')}`);
          counts[answer.body.error ? 'errors' : 'results'] += 1;
          if (answer.body.result?.task) tasks.add(answer.body.result.task.id);
        });
      }),
      { numRuns: Math.ceil(total / IN_FLIGHT), endOnFailure: true },
    );
    expect(counts.results + counts.errors).toBeGreaterThanOrEqual(total);
    // Both kinds came often enough to say something.
    expect(counts.results).toBeGreaterThan(total / 50);
    expect(counts.errors).toBeGreaterThan(total / 2);
    const { totalSize } = (await rpc(agent.url, 'ListTasks', { pageSize: 1 })).body.result;
    expect(totalSize).toBe(tasks.size);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(agent.service.statistics()).toMatchObject({ liveRuns: 0, seats: 0, subscribers: 0 });
    const after = await send(agent.url, 'still here', { message: { metadata: { skill: 'echo' } } });
    expect(after.body.result.task.status.state).toBe(TaskState.Completed);
  }, 120_000);
});
