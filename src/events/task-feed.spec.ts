import { beforeEach, describe, expect, it } from '@jest/globals';
import { TaskState, textPart } from '#protocol';
import type { TaskUpdate } from '../store/task-update.js';
import { TaskEventBus } from './task-event.bus.js';
import { TaskFeed } from './task-feed.js';
import { TaskFeeds } from './task-feeds.js';

const key = { owner: 'alice', id: 't' };
const status: TaskUpdate = { kind: 'status', status: { state: TaskState.Working } };
const chunk = (text: string): TaskUpdate => ({
  kind: 'artifact',
  artifact: { artifactId: 'a', parts: [textPart(text)] },
  append: true,
  lastChunk: false,
});
/** More than a quarter of what a feed keeps. */
const LARGE = 'x'.repeat(70_000);

describe('A feed', () => {
  let bus: TaskEventBus;
  let feed: TaskFeed;

  beforeEach(() => {
    bus = new TaskEventBus();
    feed = new TaskFeed(bus, key, 'c');
  });

  const publish = (version: number, update: TaskUpdate = status, of = key) => {
    bus.publish({ key: of, version, update, runId: 'r' });
  };
  const versionsAfter = (version: number): unknown[] => {
    const seen: unknown[] = [];
    for (let at = version; ;) {
      const entry = feed.after(at);
      if (typeof entry === 'string') return entry === 'nothing yet' ? seen : [...seen, entry];
      seen.push((at = entry.version));
    }
  };

  it('has nothing before something happens, wherever one stands', () => {
    expect(feed.newest).toBe(0);
    for (const version of [0, 1, 100]) expect(feed.after(version)).toBe('nothing yet');
  });

  it('gives each update once and in order, from where a reader stands (SUB-05, STRM-07)', () => {
    for (const version of [3, 4, 5]) publish(version);
    expect(versionsAfter(2)).toEqual([3, 4, 5]);
    expect(versionsAfter(4)).toEqual([5]);
    expect(versionsAfter(5)).toEqual([]);
    expect(versionsAfter(9)).toEqual([]);
    expect(versionsAfter(2)).toEqual([3, 4, 5]);
    expect(feed.newest).toBe(5);
  });

  it('shows updates as streams do, and their states (§3.2.3)', () => {
    publish(1);
    publish(2, chunk('x'));
    publish(3, { kind: 'message', message: { messageId: 'm', role: 'ROLE_USER', parts: [textPart('hi')] } });
    const at = (version: number) => feed.after(version) as { json: string | null; state: unknown };
    const ids = { taskId: 't', contextId: 'c' };
    expect(JSON.parse(at(0).json!)).toEqual({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' } } });
    expect(at(0).state).toBe(TaskState.Working);
    expect(JSON.parse(at(1).json!)).toMatchObject({ artifactUpdate: { ...ids, append: true } });
    expect(at(1).state).toBeUndefined();
    expect(at(2)).toEqual({ version: 3, json: null, state: undefined });
  });

  it('does not have what came before it (R-26)', () => {
    publish(3);
    expect(feed.after(1)).toBe('gone');
    expect(feed.after(0)).toBe('gone');
  });

  it('does not take an update that it has, or one before (SUB-05)', () => {
    for (const version of [3, 4, 4, 3, 5]) publish(version);
    expect(versionsAfter(2)).toEqual([3, 4, 5]);
  });

  it('forgets what was before a version that it was never told of (R-26)', () => {
    for (const version of [1, 2, 5, 6]) publish(version);
    expect(versionsAfter(1)).toEqual(['gone']);
    expect(versionsAfter(2)).toEqual(['gone']);
    expect(versionsAfter(4)).toEqual([5, 6]);
  });

  it('keeps the newest updates up to its size, and the newest one whatever its size (R-26)', () => {
    for (let version = 1; version <= 10; version++) publish(version, chunk(LARGE));
    expect(versionsAfter(6)).toEqual(['gone']);
    expect(versionsAfter(7)).toEqual([8, 9, 10]);
    publish(11, chunk('x'.repeat(1_000_000)));
    expect(versionsAfter(9)).toEqual(['gone']);
    expect(versionsAfter(10)).toEqual([11]);
    publish(12);
    expect(versionsAfter(10)).toEqual(['gone']);
    expect(versionsAfter(11)).toEqual([12]);
    for (const version of [13, 14, 15]) publish(version, chunk(LARGE));
    expect(versionsAfter(11)).toEqual([12, 13, 14, 15]);
  });

  it('takes no update of another task, or of the same id of another owner (STRM-11b)', () => {
    publish(1, status, { owner: 'alice', id: 'u' });
    publish(1, status, { owner: 'bob', id: 't' });
    expect(feed.newest).toBe(0);
  });

  it('wakes all who wait when something happens, and one who leaves', async () => {
    const leaving = new AbortController();
    const { signal } = new AbortController();
    const waiting = [feed.changed(signal), feed.changed(signal)];
    const left = feed.changed(leaving.signal);
    leaving.abort();
    await left;
    await feed.changed(leaving.signal);
    publish(1);
    await Promise.all(waiting);
  });

  it('takes nothing more once it is closed (STRM-11a)', () => {
    feed.close();
    publish(1);
    expect(feed.newest).toBe(0);
    expect(bus.subscriberCount).toBe(0);
  });
});

describe('The feeds', () => {
  it('are one for each task, as long as somebody reads it (STRM-07, STRM-11a)', () => {
    const bus = new TaskEventBus();
    const feeds = new TaskFeeds(bus);
    const [one, two] = [feeds.open(key, 'c'), feeds.open(key, 'c')];
    const other = feeds.open({ owner: 'bob', id: 't' }, 'c');
    expect(two.feed).toBe(one.feed);
    expect(other.feed).not.toBe(one.feed);
    expect(bus.subscriberCount).toBe(2);
    one.release();
    one.release();
    expect(bus.subscriberCount).toBe(2);
    bus.publish({ key, version: 1, update: status, runId: null });
    expect(two.feed.newest).toBe(1);
    expect(other.feed.newest).toBe(0);
    two.release();
    expect(bus.subscriberCount).toBe(1);
    const again = feeds.open(key, 'c');
    expect(again.feed).not.toBe(one.feed);
    // Given back long ago: it is not this one that it gives back.
    two.release();
    expect(bus.subscriberCount).toBe(2);
    again.release();
    other.release();
    expect(bus.subscriberCount).toBe(0);
  });

  it('tell owners and ids apart, whatever is in them (STRM-11b)', () => {
    const feeds = new TaskFeeds(new TaskEventBus());
    const opened = [
      ['a', 'b","c'],
      ['a","b', 'c'],
      ['a', 'b'],
    ].map(([owner, id]) => feeds.open({ owner: owner!, id: id! }, 'c').feed);
    expect(new Set(opened).size).toBe(3);
  });
});
