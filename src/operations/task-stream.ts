import { encode, isInterrupted, isTerminal, type Message, type Task, type TaskState } from '#protocol';
import type { StreamEntry } from '../events/stream-entry.js';
import type { TaskFeed } from '../events/task-feed.js';
import type { TaskRecord } from '../store/task-record.js';

/** One event of a stream. */
export interface StreamFrame {
  /** The version of the task that the event shows; `undefined` for a direct Message. */
  readonly version?: number;
  /** The JSON text of the StreamResponse. */
  readonly json: string;
}

/** A frame that shows a whole task. */
export function taskFrame(task: Task, version: number): StreamFrame {
  return { version, json: JSON.stringify(encode('StreamResponse', { task })) };
}

/** The only frame of a stream that answers with a Message. */
export function messageFrame(message: Message): StreamFrame {
  return { json: JSON.stringify(encode('StreamResponse', { message })) };
}

/** Where and how a task is followed. */
export interface FollowOptions {
  readonly feed: TaskFeed;
  /** The version that has been seen. */
  readonly version: number;
  /** Whether the stream ends when the task is paused, too. */
  readonly endsOnPause: boolean;
  /** Ends the stream, after what has been published by then. */
  readonly signal: AbortSignal;
  /** Finds what has gone by since a version: the updates, or the whole task when they are not there any more. */
  readonly catchUp: (version: number) => Promise<readonly StreamEntry[] | TaskRecord>;
}

/**
 * Follows a task: each update once, in order, until the task has ended.
 *
 * A reader that has fallen behind what is kept is brought up by the store: update by update, or with the whole task as it
 * is then.
 *
 * @returns whether the task has been shown to end or pause
 * @see A2A v1.0 §3.5.2 Streaming Event Delivery
 */
export async function* followTask(options: FollowOptions): AsyncGenerator<StreamFrame, boolean> {
  const { feed, endsOnPause, signal, catchUp } = options;
  let { version } = options;
  const isLast = (state: TaskState | undefined): boolean =>
    state !== undefined && (isTerminal(state) || (endsOnPause && isInterrupted(state)));
  let last: number | undefined;
  for (;;) {
    if (signal.aborted) last ??= feed.newest;
    if (last !== undefined && version >= last) return false;
    const answer = feed.after(version);
    if (answer === 'ended') return false;
    if (answer === 'nothing yet') {
      await feed.changed(signal);
      continue;
    }
    const found = answer === 'gone' ? await catchUp(version) : [answer];
    if ('task' in found) {
      version = found.version;
      yield taskFrame(found.task, version);
      if (isLast(found.task.status.state)) return true;
      continue;
    }
    for (const entry of found) {
      version = entry.version;
      if (entry.json !== null) yield { version, json: entry.json };
      if (isLast(entry.state)) return true;
    }
  }
}
