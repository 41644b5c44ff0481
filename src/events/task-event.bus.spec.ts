import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TaskState } from '#protocol';
import type { TaskEvent } from './task-event.js';
import { TaskEventBus } from './task-event.bus.js';

const key = { id: 'task', owner: 'alice' };

describe('The task event bus', () => {
  it('carries the events of a task to each of its followers, in order (B-62)', () => {
    const bus = new TaskEventBus();
    const seen: number[][] = [[], []];
    const following = seen.map((versions) => bus.follow(key, ({ version }) => versions.push(version)));
    for (const version of [1, 2, 3]) bus.publish(event(version));
    expect(seen).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    following.forEach((subscription) => {
      subscription.unsubscribe();
    });
  });

  it('hands on the very event, which nobody may change', () => {
    const bus = new TaskEventBus();
    const seen: TaskEvent[] = [];
    bus.follow(key, (told) => seen.push(told));
    const told = event(1);
    bus.publish(told);
    expect(seen[0]).toBe(told);
  });

  it('tells nothing to those who follow another task, or the id as another owner (ISO-03, ISO-13)', () => {
    const bus = new TaskEventBus();
    const strangers = [
      { id: 'other', owner: 'alice' },
      { id: 'task', owner: 'bob' },
      { id: 'alice', owner: 'task' },
      { id: 'task","alice', owner: '' },
    ];
    let told = 0;
    strangers.forEach((stranger) => bus.follow(stranger, () => told++));
    bus.publish(event(1));
    expect(told).toBe(0);
  });

  it('tells a follower nothing that came before it, and nothing after it has left', () => {
    const bus = new TaskEventBus();
    const seen: number[] = [];
    bus.publish(event(1));
    const following = bus.follow(key, ({ version }) => seen.push(version));
    bus.publish(event(2));
    following.unsubscribe();
    bus.publish(event(3));
    expect(seen).toEqual([2]);
  });

  it('lets a follower that throws disturb neither the publisher nor the others (FAULT-01, STRM-12)', () => {
    const bus = new TaskEventBus();
    const seen: number[] = [];
    Logger.overrideLogger(false);
    bus.follow(key, () => {
      throw new Error('A follower failed.');
    });
    bus.follow(key, ({ version }) => seen.push(version));
    bus.publish(event(1));
    bus.publish(event(2));
    expect(seen).toEqual([1, 2]);
  });

  it('goes on telling a follower that has thrown', () => {
    const bus = new TaskEventBus();
    Logger.overrideLogger(false);
    const seen: number[] = [];
    bus.follow(key, ({ version }) => {
      seen.push(version);
      throw new Error('A follower failed.');
    });
    bus.publish(event(1));
    bus.publish(event(2));
    expect(seen).toEqual([1, 2]);
  });

  it('keeps nothing of tasks that nobody follows any more (B-55)', () => {
    const bus = new TaskEventBus();
    const topics = (bus as unknown as { topics: Map<string, unknown> }).topics;
    for (let round = 0; round < 100; round++) {
      const id = `task ${round}`;
      const following = [
        bus.follow({ id, owner: 'a' }, () => undefined),
        bus.follow({ id, owner: 'a' }, () => undefined),
      ];
      expect(bus.subscriberCount).toBe(2);
      following.forEach((subscription) => {
        subscription.unsubscribe();
        subscription.unsubscribe();
      });
    }
    expect(bus.subscriberCount).toBe(0);
    expect(topics.size).toBe(0);
  });

  it('keeps nothing of an event that nobody follows', () => {
    const bus = new TaskEventBus();
    bus.publish(event(1));
    expect((bus as unknown as { topics: Map<string, unknown> }).topics.size).toBe(0);
  });

  it('bears a follower that leaves, and one that comes, while it is told', () => {
    const bus = new TaskEventBus();
    const seen: string[] = [];
    const leaving = bus.follow(key, () => {
      seen.push('leaving');
      leaving.unsubscribe();
      bus.follow(key, ({ version }) => seen.push(`late ${version}`));
    });
    bus.follow(key, ({ version }) => seen.push(`staying ${version}`));
    bus.publish(event(1));
    bus.publish(event(2));
    expect(seen).toEqual(['leaving', 'staying 1', 'staying 2', 'late 2']);
    expect(bus.subscriberCount).toBe(2);
  });
});

function event(version: number): TaskEvent {
  return { key, version, update: { kind: 'status', status: { state: TaskState.Working } }, runId: 'run' };
}
