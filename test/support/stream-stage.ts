import { expect } from '@jest/globals';
import type { A2AOptions, TaskContext } from 'nestjs-a2a';
import { TaskFeeds } from '../../src/events/task-feeds.js';
import type { AgentSetup } from './agent.js';
import type { Caller } from './caller.js';
import { startStage, type Stage } from './puppet.js';
import { Streamer } from './stream-reader.js';
import { until } from './until.js';

/** An agent whose skill a test moves, and whose tasks it streams. */
export interface StreamStage extends Stage {
  /** Makes the skill do something, for a user that no other test has heard of. */
  readonly stream: (work: (task: TaskContext) => unknown) => { readonly alice: Caller; readonly streams: Streamer };
  /** Waits until nothing is left of any stream: no seat, no subscription, no feed (CAP-06, STRM-11a). */
  readonly quiet: () => Promise<void>;
}

/** Boots an agent for streams. */
export async function startStreamStage(
  options: Partial<A2AOptions> = {},
  setup: Omit<AgentSetup, 'options'> = {},
): Promise<StreamStage> {
  const stage = await startStage(options, setup);
  const { service, app, url } = stage.agent;
  const feeds = (): number => app.get<{ feeds: Map<string, unknown> }>(TaskFeeds, { strict: false }).feeds.size;
  return {
    ...stage,
    stream: (work) => {
      const alice = stage.play(work);
      return { alice, streams: new Streamer(url, { user: alice.user }) };
    },
    quiet: async () => {
      await until(() => service.statistics().seats === 0, 'The end of all streams');
      const { liveRuns, subscribers } = service.statistics();
      // Each live run follows its own task.
      expect({ subscribers: subscribers - liveRuns, feeds: feeds() }).toEqual({ subscribers: 0, feeds: 0 });
    },
  };
}
