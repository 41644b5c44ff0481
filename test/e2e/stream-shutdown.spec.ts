import { afterEach, describe, expect, it } from '@jest/globals';
import { MemoryTaskStore, textPart, type A2AOptions, type TaskContext } from 'nestjs-a2a';
import { ADAPTERS } from '../support/agent.js';
import { textOf } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { startStreamStage, type StreamStage } from '../support/stream-stage.js';
import { until } from '../support/until.js';

describe.each(ADAPTERS)('open streams on %s', (adapter) => {
  let stage: StreamStage;

  afterEach(() => stage.agent.close());

  /** The connections are not cut: a stream that stays open would keep the server from stopping. */
  const start = async (options: Partial<A2AOptions> = {}, forceCloseConnections = false) => {
    stage = await startStreamStage(options, { adapter, appOptions: { forceCloseConnections } });
    return stage;
  };

  async function untilAborted(task: TaskContext): Promise<void> {
    await task.working();
    await new Promise((resolve) => {
      task.signal.addEventListener('abort', resolve);
    });
  }

  it.each([false, true])(
    'end with the application, whether it cuts connections (%s) or not: a run’s with its final state, a paused task’s cleanly, in time (SHUT-01, SHUT-03, CTX-03, B-105)',
    async (forceCloseConnections) => {
      const store = new MemoryTaskStore();
      await start({ store, shutdown: { drainMs: 30, timeoutMs: 2_000 } }, forceCloseConnections);
      const { alice, streams } = stage.stream((task) => task.requireInput('What?'));
      const parked = await alice.task('go');
      const waiting = await streams.subscribe(parked.id);
      await waiting.whenFrames(1);
      stage.puppet.work = untilAborted;
      const sent = await streams.send('go');
      const { id } = (await sent.whenFrames(2))[0]!.result.task;
      const following = await streams.subscribe(id);
      await following.whenFrames(1);
      expect(stage.agent.service.statistics()).toMatchObject({ seats: 3, liveRuns: 1 });
      const began = performance.now();
      await stage.agent.close();
      expect(performance.now() - began).toBeLessThan(2_000);
      for (const stream of [waiting, sent, following]) expect(await stream.whenEnded()).toBe('clean');
      expect(waiting.states).toEqual(['INPUT_REQUIRED']);
      expect(sent.states).toEqual(['SUBMITTED', 'WORKING', 'CANCELED']);
      expect(following.states).toEqual(['WORKING', 'CANCELED']);
      expect(textOf(sent.frames[2]!.result.statusUpdate.status.message)).toBe('the agent was shut down');
      expect((await store.read({ id, owner: alice.user })).task.status.state).toBe('TASK_STATE_CANCELED');
      expect((await store.read({ id: parked.id, owner: alice.user })).task.status.state).toBe(
        'TASK_STATE_INPUT_REQUIRED',
      );
      await stage.quiet();
    },
  );

  it('of a run that finishes while the application closes show how it did (SHUT-01a, SHUT-03, R-40)', async () => {
    await start();
    const gate = new Gate();
    const { streams } = stage.stream(async (task) => {
      await task.working();
      await gate.pass();
      return 'made it';
    });
    const stream = await streams.send('go');
    await stream.whenFrames(2);
    const closed = stage.agent.close();
    gate.open();
    await closed;
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED']);
    expect(textOf(stream.frames[2]!.result.artifactUpdate.artifact)).toBe('made it');
  });

  it.each([false, true])(
    'whose reader is behind get all that happened, also when connections are cut then (%s) (SHUT-03, STRM-08)',
    async (forceCloseConnections) => {
      await start({ shutdown: { drainMs: 5_000, timeoutMs: 8_000 } }, forceCloseConnections);
      const gate = new Gate();
      const { streams } = stage.stream(async (task) => {
        await task.working();
        await gate.pass();
        const parts = [textPart('x'.repeat(3_000_000))];
        for (let index = 0; index < 4; index++) await task.artifact({ artifactId: `${index}`, parts });
      });
      const stream = await streams.send('go');
      await stream.whenFrames(2);
      stream.pause();
      const closed = stage.agent.close();
      gate.open();
      // The run ends by itself; what it left is more than the socket takes.
      await until(() => stage.agent.service.statistics().liveRuns === 0);
      await new Promise(setImmediate);
      stream.resume();
      await closed;
      expect(await stream.whenEnded()).toBe('clean');
      expect(stream.states.at(-1)).toBe('COMPLETED');
    },
  );

  it('whose reader takes nothing do not keep the application from closing (SHUT-03, STRM-05, B-105)', async () => {
    await start({ streaming: { writeDeadlineMs: 100 } });
    const { streams } = stage.stream(async (task) => {
      const parts = [textPart('x'.repeat(3_000_000))];
      for (let index = 0; index < 4; index++) await task.artifact({ artifactId: `${index}`, parts });
    });
    const stream = await streams.send('go');
    stream.pause();
    const began = performance.now();
    await stage.agent.close();
    expect(performance.now() - began).toBeLessThan(3_000);
    stream.destroy();
  });

  it('that are opened afterwards end as soon as they have begun; a message is refused (SHUT-02, SHUT-03)', async () => {
    await start();
    const { alice, streams } = stage.stream((task) => task.requireInput('What?'));
    const { id } = await alice.task('go');
    await stage.agent.service.shutdown();
    const stream = await streams.subscribe(id);
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['INPUT_REQUIRED']);
    for (const refused of [await streams.send('go'), await streams.send('go on', { taskId: id })]) {
      await refused.whenEnded();
      expect(refused.header('content-type')).toBe('application/json');
      expect(refused.body.error).toMatchObject({ code: -32004, message: 'the agent is shutting down' });
    }
    await stage.quiet();
  });

  it('of a run that will not end do not outlast the time for it (SHUT-01a, B-105)', async () => {
    await start({ shutdown: { drainMs: 10, timeoutMs: 200 } });
    const { streams } = stage.stream(async (task) => {
      await task.working();
      await new Promise(() => undefined);
    });
    const stream = await streams.send('go');
    await stream.whenFrames(2);
    const began = performance.now();
    await stage.agent.close();
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(await stream.whenEnded()).toBe('clean');
    expect(stream.states).toEqual(['SUBMITTED', 'WORKING', 'CANCELED']);
  });
});
