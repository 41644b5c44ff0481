import { Inject, Injectable } from '@nestjs/common';
import {
  isInterrupted,
  isTerminal,
  UnsupportedOperationError,
  type SendMessageRequest,
  type SubscribeToTaskRequest,
} from '#protocol';
import type { CallContext } from '../context/call-context.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { streamEntry, type StreamEntry } from '../events/stream-entry.js';
import { TaskFeeds, type FeedLease } from '../events/task-feeds.js';
import type { TaskRun } from '../execution/task-run.js';
import type { TaskRecord } from '../store/task-record.js';
import { TaskStore } from '../store/task.store.js';
import { withHistory } from './history.policy.js';
import { MessageIntake } from './message.intake.js';
import { SeatRegistry } from './seat.registry.js';
import { followTask, messageFrame, taskFrame, type StreamFrame } from './task-stream.js';
import { TaskReader } from './task.reader.js';

/** How many updates are read at once for a reader that has fallen behind. */
const CATCH_UP = 256;

/**
 * Streams tasks: from a message that is sent, or from where a task stands.
 *
 * - Everything that can be refused is refused before the first frame.
 * - A seat is taken before anything is written, and given back whatever way the stream ends.
 * - A reader that leaves ends its stream, and nothing else.
 *
 * @see A2A v1.0 §3.1.2 Send Streaming Message
 */
@Injectable()
export class StreamService {
  constructor(
    private readonly intake: MessageIntake,
    private readonly reader: TaskReader,
    private readonly feeds: TaskFeeds,
    private readonly seats: SeatRegistry,
    private readonly store: TaskStore,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** @throws {A2AError} from the first step, when the message is refused */
  async *send(request: SendMessageRequest, call: CallContext): AsyncGenerator<StreamFrame> {
    const seat = this.seats.claim(call.tier.owner);
    let lease: FeedLease | undefined;
    try {
      const admission = await this.intake.admit(request, call, {
        prepared: (run) => {
          run.watch();
          const { key, current, currentVersion } = run.recorder;
          lease = this.feeds.open(key, current.contextId, currentVersion);
        },
      });
      const { historyLength } = request.configuration ?? {};
      if ('response' in admission) {
        const { response, version } = admission;
        if ('task' in response) yield taskFrame(withHistory(response.task, historyLength), version);
        return;
      }
      const signal = AbortSignal.any([call.signal, seat.signal]);
      if (lease) yield* this.follow(admission.run, lease, call, signal, historyLength);
    } finally {
      lease?.release();
      seat.release();
    }
  }

  /**
   * @throws {A2AError} from the first step, when the task cannot be subscribed to
   * @see A2A v1.0 §3.1.6 Subscribe to Task
   */
  async *subscribe({ id }: SubscribeToTaskRequest, call: CallContext): AsyncGenerator<StreamFrame> {
    const { contextId } = (await this.reader.read(id, call)).task;
    const seat = this.seats.claim(call.tier.owner);
    // Before the snapshot, so that nothing falls between the two.
    const lease = this.feeds.open({ id, owner: call.tier.owner }, contextId);
    try {
      const { task, version } = await this.reader.read(id, call);
      if (isTerminal(task.status.state)) throw new UnsupportedOperationError('The task has ended.');
      lease.feed.seen(version);
      yield taskFrame(task, version);
      const endsOnPause = this.settings.closeOnInterrupted === 'always';
      if (endsOnPause && isInterrupted(task.status.state)) return;
      yield* followTask({
        feed: lease.feed,
        version,
        endsOnPause,
        signal: AbortSignal.any([call.signal, seat.signal]),
        catchUp: (seen) => this.catchUp(id, contextId, seen, call),
      });
    } finally {
      lease.release();
      seat.release();
    }
  }

  private async *follow(
    run: TaskRun,
    { feed }: FeedLease,
    call: CallContext,
    signal: AbortSignal,
    historyLength: number | undefined,
  ): AsyncGenerator<StreamFrame> {
    const first = await Promise.race([run.beginning, run.outcome, aborted(signal)]);
    if (!first) return;
    const { key, current } = run.recorder;
    if (!('kind' in first)) {
      yield taskFrame(withHistory(first.task, historyLength), first.version);
      const lost = lossOf(run);
      const isOver = yield* followTask({
        feed,
        version: first.version,
        endsOnPause: this.settings.closeOnInterrupted !== 'never',
        signal: AbortSignal.any([signal, lost]),
        catchUp: (seen) => this.catchUp(key.id, current.contextId, seen, call),
      });
      if (isOver || signal.aborted) return;
    }
    const outcome = 'kind' in first ? first : await run.outcome;
    if (outcome.kind === 'message') {
      yield messageFrame(outcome.message);
    } else if (outcome.kind === 'error') {
      throw outcome.error;
    } else {
      const { task, version } = await this.reader.read(key.id, call);
      yield taskFrame(withHistory(task, historyLength), version);
    }
  }

  private async catchUp(
    id: string,
    contextId: string,
    version: number,
    call: CallContext,
  ): Promise<readonly StreamEntry[] | TaskRecord> {
    const key = { id, owner: call.tier.owner };
    const updates = this.store.eventsAfter?.(key, version, CATCH_UP) ?? Promise.resolve([]);
    const entries = (await this.reader.ask(updates, call, id)).map((row) =>
      streamEntry(id, contextId, row.version, row.update),
    );
    return continues(entries, version) ? entries : this.reader.read(id, call);
  }
}

/** Whether entries go on from a version without a gap. */
function continues(entries: readonly StreamEntry[], version: number): boolean {
  return entries.length > 0 && entries.every((entry, index) => entry.version === version + 1 + index);
}

/** Aborts when the run ends without having recorded an end: there will be no event of it. */
function lossOf(run: TaskRun): AbortSignal {
  const controller = new AbortController();
  void run.outcome.then(({ kind }) => {
    if (kind !== 'task') controller.abort();
  });
  return controller.signal;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const stop = (): void => {
      resolve(undefined);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
