import { describe, expect, it } from '@jest/globals';
import type { A2AOptions, TaskContext } from 'nestjs-a2a';
import { ADAPTERS } from '../support/agent.js';
import { Gate } from '../support/gate.js';
import { GatedStore } from '../support/gated-store.js';
import { Streamer, type StreamReader } from '../support/stream-reader.js';
import { startStreamStage, type StreamStage } from '../support/stream-stage.js';
import { until } from '../support/until.js';

const ask = (task: TaskContext) => task.requireInput('What else?');

describe.each(ADAPTERS)('the seats of an owner on %s', (adapter) => {
  const start = (options: Partial<A2AOptions> = {}) => startStreamStage(options, { adapter });
  const seats = ({ agent }: StreamStage) => agent.service.statistics().seats;

  /** Streams on one paused task, so many that a user has no seat left. */
  async function filled(stage: StreamStage, count: number) {
    const { alice, streams } = stage.stream(ask);
    const { id } = await alice.task('go');
    const open: StreamReader[] = [];
    for (let index = 0; index < count; index++) {
      const stream = await streams.subscribe(id);
      await stream.whenFrames(1);
      open.push(stream);
    }
    return { alice, streams, id, open };
  }

  async function refusal(opening: Promise<StreamReader>): Promise<void> {
    const stream = await opening;
    await stream.whenEnded();
    expect(stream.status).toBe(429);
    expect(stream.header('content-type')).toBe('application/json');
    const error = { code: -32600, message: 'maximum concurrent streams reached' };
    expect(stream.body).toEqual({ jsonrpc: '2.0', id: 'q', error: expect.objectContaining(error) });
    expect(stream.text).toContain('"id":"\\u0071"');
  }
  const call = { id: '"\\u0071"' };

  it('are 16, of both methods together; the next stream is refused before anything is made (CAP-04, CAP-05a, SSM-03)', async () => {
    const stage = await start();
    const { alice, streams, id, open } = await filled(stage, 15);
    const gate = new Gate();
    stage.puppet.work = () => gate.pass();
    const sent = await streams.send('go');
    await sent.whenFrames(1);
    expect(seats(stage)).toBe(16);
    const { executions } = stage.agent.service.statistics();
    const { totalSize } = await alice.list();
    const parked = await alice.get(id);
    await refusal(streams.subscribe(id, call));
    await refusal(streams.send('go', {}, call));
    await refusal(streams.send('go on', { taskId: id }, call));
    await refusal(streams.send('go', { metadata: { skill: 'there is none' } }, call));
    expect(stage.agent.service.statistics()).toMatchObject({ executions, seats: 16 });
    expect((await alice.list()).totalSize).toBe(totalSize);
    expect(await alice.get(id)).toEqual(parked);
    for (const stream of [...open, sent]) expect(stream.end).toBeUndefined();
    gate.open();
    await sent.whenEnded();
    await until(() => seats(stage) === 15);
    const next = await streams.subscribe(id);
    expect((await next.whenFrames(1))[0]!.result.task.id).toBe(id);
    await alice.cancel(id);
    for (const stream of [...open, next]) expect(await stream.whenEnded()).toBe('clean');
    await stage.quiet();
    await stage.agent.close();
  });

  it('are its own: another owner streams, and the owner still makes all other calls (CAP-04)', async () => {
    const stage = await start({ maxStreamSeatsPerOwner: 1 });
    const { alice, streams, id } = await filled(stage, 1);
    await refusal(streams.subscribe(id, call));
    const other = await filled(stage, 1);
    expect(seats(stage)).toBe(2);
    expect((await alice.follow(id, 'this')).result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await other.alice.cancel(other.id);
    await alice.cancel(id);
    await stage.quiet();
    await stage.agent.close();
  });

  it('count over the tenants and scopes of an owner (CAP-04)', async () => {
    const stage = await start({ maxStreamSeatsPerOwner: 1 });
    const { alice, id } = await filled(stage, 1);
    const elsewhere = new Streamer(stage.agent.url, {
      user: alice.user,
      headers: { 'x-tenant': 't', 'x-scopes': 'a' },
    });
    await refusal(elsewhere.send('go', {}, call));
    await alice.cancel(id);
    await stage.agent.close();
  });

  it('are as many as one likes when the bound is lifted (CAP-04)', async () => {
    const stage = await start({ maxStreamSeatsPerOwner: -1 });
    const { alice, id, open } = await filled(stage, 20);
    expect(seats(stage)).toBe(20);
    await alice.cancel(id);
    for (const stream of open) await stream.whenEnded();
    await stage.quiet();
    await stage.agent.close();
  });

  it('go from the oldest stream to the newest when the options say so; the oldest ends cleanly (CAP-05b, CAP-05c)', async () => {
    const store = new GatedStore();
    const stage = await start({ store, maxStreamSeatsPerOwner: 2, streamSeatOverflow: 'evict-oldest' });
    const { alice, streams, id, open } = await filled(stage, 2);
    const other = await filled(stage, 1);
    const third = await streams.subscribe(id);
    await third.whenFrames(1);
    expect(await open[0]!.whenEnded()).toBe('clean');
    expect(open[0]!.states).toEqual(['INPUT_REQUIRED']);
    expect(seats(stage)).toBe(3);
    const sent = await streams.send('go');
    await sent.whenEnded();
    expect(sent.states).toEqual(['SUBMITTED', 'INPUT_REQUIRED']);
    expect(await open[1]!.whenEnded()).toBe('clean');
    await until(() => seats(stage) === 2);
    expect(third.end).toBeUndefined();
    expect(other.open[0]!.end).toBeUndefined();
    const readsOfCancel = async (taskId: string) => {
      const before = store.count('read');
      await alice.cancel(taskId);
      return store.count('read') - before;
    };
    const reads = await readsOfCancel((await alice.task('go')).id);
    expect(await readsOfCancel(id)).toBe(reads);
    expect(await third.whenEnded()).toBe('clean');
    expect(third.states).toEqual(['INPUT_REQUIRED', 'CANCELED']);
    expect(open[0]!.frames).toHaveLength(1);
    await other.alice.cancel(other.id);
    await stage.quiet();
    await stage.agent.close();
  });

  it('leave the run alone whose stream was sent away (CAP-05b, STRM-10)', async () => {
    const stage = await start({ maxStreamSeatsPerOwner: 1, streamSeatOverflow: 'evict-oldest' });
    const gate = new Gate();
    const { alice, streams } = stage.stream(async (task) => {
      await task.working();
      await gate.pass();
      return 'done';
    });
    const first = await streams.send('go');
    const { id } = (await first.whenFrames(2))[0]!.result.task;
    const second = await streams.subscribe(id);
    await second.whenFrames(1);
    expect(await first.whenEnded()).toBe('clean');
    gate.open();
    expect(await second.whenEnded()).toBe('clean');
    expect(second.states).toEqual(['WORKING', 'COMPLETED']);
    expect((await alice.get(id)).status.state).toBe('TASK_STATE_COMPLETED');
    await stage.quiet();
    await stage.agent.close();
  });

  it('are given back on every departure: an end, a client that goes, a refusal after it was taken (CAP-06)', async () => {
    const stage = await start({ maxStreamSeatsPerOwner: 1 });
    const { alice, streams } = stage.stream(ask);
    const { id } = await alice.task('go');
    for (let round = 0; round < 5; round++) {
      const gone = await streams.subscribe(id);
      await gone.whenFrames(1);
      gone.destroy();
      await stage.quiet();
      const ended = await streams.send('go');
      expect(await ended.whenEnded()).toBe('clean');
      await stage.quiet();
      for (const refused of [
        await streams.send('go', { taskId: 'no-such-task' }),
        await streams.send('', { parts: [] }),
        await streams.subscribe('no-such-task'),
      ]) {
        await refused.whenEnded();
        expect(refused.body.error.code).not.toBe(-32600);
        await stage.quiet();
      }
    }
    await stage.agent.close();
  });

  it('are refused at the run cap without a seat kept (CAP-06, CAP-01)', async () => {
    const stage = await start({ maxConcurrentRunsPerOwner: 1 });
    const gate = new Gate();
    const { alice, streams } = stage.stream(() => gate.pass());
    await alice.start('go');
    const refused = await streams.send('go');
    await refused.whenEnded();
    expect(refused.body.error.code).toBe(-32004);
    await stage.quiet();
    expect((await alice.list()).totalSize).toBe(1);
    gate.open();
    await stage.agent.close();
  });
});
