import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ConfigQueue, type Notification } from './config-queue.js';
import { DeliveryScheduler, type DeliveryBounds } from './delivery.scheduler.js';

/** A delivery that a test ends. */
interface Delivery {
  readonly queue: ConfigQueue;
  readonly version: number | undefined;
  readonly end: (version: number) => void;
}

const BOUNDS: DeliveryBounds = { maxInFlight: 3, maxInFlightPerOwner: 2, maxWaiting: 4, maxWaitingPerOwner: 3 };

/** Lets the scheduler see what became of deliveries. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('The scheduler of deliveries', () => {
  let open: Delivery[];
  /** What was begun, as `config:version`; `*` for the task as it is. */
  let begun: string[];
  let overflowed: string[];
  let scheduler: DeliveryScheduler;

  beforeEach(() => {
    schedulerWith(BOUNDS);
  });

  function schedulerWith(bounds: DeliveryBounds): void {
    open = [];
    begun = [];
    overflowed = [];
    const deliver = (queue: ConfigQueue, notification: Notification | undefined) =>
      new Promise<number>((resolve) => {
        const version = notification?.version;
        begun.push(`${queue.key.id}:${version ?? '*'}`);
        const delivery: Delivery = {
          queue,
          version,
          end: (seen) => {
            open.splice(open.indexOf(delivery), 1);
            resolve(seen);
          },
        };
        open.push(delivery);
      });
    scheduler = new DeliveryScheduler(bounds, deliver, ({ key }) => overflowed.push(key.id));
  }

  const queueOf = (id: string, owner = 'alice') => new ConfigQueue({ id, taskId: 't', owner });
  const add = (queue: ConfigQueue, ...versions: number[]) => {
    for (const version of versions) scheduler.add(queue, { version, json: '' });
  };
  /** Ends what is under way to a config. */
  const finish = async (id: string, seen?: number) => {
    const delivery = open.find(({ queue }) => queue.key.id === id);
    delivery?.end(seen ?? delivery.version ?? -1);
    await settle();
  };

  it('makes one delivery of a config at a time, in order (PUSH-06a)', async () => {
    const a = queueOf('a');
    add(a, 1, 2, 3);
    expect(begun).toEqual(['a:1']);
    await finish('a');
    await finish('a');
    await finish('a');
    expect(begun).toEqual(['a:1', 'a:2', 'a:3']);
    expect(scheduler.isIdle).toBe(true);
  });

  it('goes on after a delivery that failed, or that was not even made (PUSH-05)', async () => {
    const failing = new DeliveryScheduler(
      BOUNDS,
      (_queue, notification) => Promise.reject(new Error(`${notification?.version ?? ''} fails`)),
      () => undefined,
    );
    const a = queueOf('a');
    failing.add(a, { version: 1, json: '' });
    failing.add(a, { version: 2, json: '' });
    await failing.idle();
    expect(a).toMatchObject({ isActive: false, hasWork: false });
  });

  it('keeps within the bounds of the process and of each owner (PUSH-07a, PUSH-07b)', async () => {
    for (const id of ['a', 'b', 'c']) add(queueOf(id), 1);
    expect(begun).toEqual(['a:1', 'b:1']);
    add(queueOf('d', 'bob'), 1);
    add(queueOf('e', 'bob'), 1);
    expect(begun).toEqual(['a:1', 'b:1', 'd:1']);
    await finish('a');
    expect(open).toHaveLength(3);
    expect(begun).toHaveLength(4);
  });

  it('lets owners take turns, and the configs of one (PUSH-07d)', async () => {
    schedulerWith({ ...BOUNDS, maxInFlight: 1, maxWaiting: 100, maxWaitingPerOwner: 100 });
    const [a, b] = [queueOf('a'), queueOf('b')];
    const bob = queueOf('x', 'bob');
    add(a, 1, 2, 3);
    add(b, 1, 2);
    add(bob, 1, 2);
    while (open.length > 0) await finish(open[0]!.queue.key.id);
    expect(begun).toEqual(['a:1', 'b:1', 'x:1', 'a:2', 'x:2', 'b:2', 'a:3']);
  });

  it('gives the task, once, in the place of what waits past a bound, and goes on behind it (R-36)', async () => {
    const a = queueOf('a');
    add(a, 1, 2, 3, 4, 5, 6);
    await finish('a');
    expect(begun).toEqual(['a:1', 'a:*']);
    add(a, 7, 8);
    await finish('a', 7);
    await finish('a');
    expect(begun).toEqual(['a:1', 'a:*', 'a:8']);
    expect(scheduler.isIdle).toBe(true);
  });

  it('collapses the config that goes past the bound, and no other (R-36, PUSH-07d)', async () => {
    schedulerWith({ ...BOUNDS, maxWaitingPerOwner: 4, maxWaiting: 4 });
    const [a, b] = [queueOf('a'), queueOf('b', 'bob')];
    add(a, 1, 2, 3);
    add(b, 1, 2, 3, 4);
    for (const id of ['a', 'a', 'a', 'b', 'b']) await finish(id);
    expect(begun).toEqual(['a:1', 'b:1', 'a:2', 'a:3', 'b:*']);
  });

  it('does not give the task again when it held what has come since (R-36)', async () => {
    const a = queueOf('a');
    add(a, 1, 2, 3, 4, 5);
    await finish('a');
    add(a, 6, 7, 8, 9, 10);
    await finish('a', 10);
    expect(begun).toEqual(['a:1', 'a:*']);
    expect(scheduler.isIdle).toBe(true);
  });

  it('gives the task in the place of what was left out (R-36)', async () => {
    const a = queueOf('a');
    add(a, 1, 2);
    scheduler.collapse(a, 70);
    add(a, 70);
    await finish('a');
    await finish('a', 70);
    expect(begun).toEqual(['a:1', 'a:*']);
    expect(scheduler.isIdle).toBe(true);
  });

  it('drops what a forgotten config was to get, and makes room for others (PUSH-14)', async () => {
    const [a, b] = [queueOf('a'), queueOf('b')];
    add(a, 1, 2, 3, 4);
    scheduler.forget(a);
    add(b, 1, 2, 3, 4);
    await finish('a');
    for (let round = 0; round < 4; round++) await finish('b');
    expect(begun).toEqual(['a:1', 'b:1', 'b:2', 'b:3', 'b:4']);
  });

  it('takes a config that waits for its turn out of the line when it is forgotten (PUSH-14)', async () => {
    const queues = ['a', 'b', 'c', 'd'].map((id) => queueOf(id));
    for (const queue of queues) add(queue, 1);
    scheduler.forget(queues[2]!);
    for (const id of ['a', 'b', 'd']) await finish(id);
    expect(begun).toEqual(['a:1', 'b:1', 'd:1']);
    expect(scheduler.isIdle).toBe(true);
  });

  it('tells of a config that finds no place in the line, and drops it (PUSH-07c)', async () => {
    for (let index = 0; index < 1_003; index++) add(queueOf(`c${index}`), 1);
    expect(overflowed).toEqual(['c1002']);
    add(queueOf('b', 'bob'), 1);
    expect(begun).toEqual(['c0:1', 'c1:1', 'b:1']);
  });

  it('is idle when there is nothing left, and says so to all who wait (SHUT-05)', async () => {
    await scheduler.idle();
    const a = queueOf('a');
    add(a, 1);
    let told = 0;
    const waiting = [scheduler.idle(), scheduler.idle()].map((idle) => idle.then(() => told++));
    await settle();
    expect(told).toBe(0);
    await finish('a');
    await Promise.all(waiting);
  });

  it('keeps its bounds and its promises, whatever happens in whatever order (PUSH-06, PUSH-07, R-36)', async () => {
    const index = fc.nat({ max: 5 });
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), index }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('late' as const), index }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), index, fails: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('behind' as const), index }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), index }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        schedulerWith(BOUNDS);
        const world = steps.map(() => 0).concat(0, 0, 0, 0, 0, 0);
        const queues = Array.from({ length: 6 }, (_, at) => queueOf(`${at}`, at < 4 ? 'alice' : 'bob'));
        const lastSeen = queues.map(() => -1);
        const check = (): void => {
          expect(open.length).toBeLessThanOrEqual(BOUNDS.maxInFlight);
          expect(new Set(open.map(({ queue }) => queue)).size).toBe(open.length);
          const ofAlice = open.filter(({ queue }) => queue.key.owner === 'alice');
          expect(ofAlice.length).toBeLessThanOrEqual(BOUNDS.maxInFlightPerOwner);
          expect(queues.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(BOUNDS.maxWaiting);
          // Nobody waits while there is room.
          const free = BOUNDS.maxInFlight - open.length;
          const readyBob = queues.slice(4).filter((queue) => queue.hasWork && !queue.isActive);
          const ofBob = open.length - ofAlice.length;
          if (free > 0 && ofBob < BOUNDS.maxInFlightPerOwner) expect(readyBob).toEqual([]);
        };
        const end = async (delivery: Delivery, fails: boolean): Promise<void> => {
          const at = queues.indexOf(delivery.queue);
          // The task is read while it is delivered, so it may be newer than everything that waits.
          const version = delivery.version ?? world[at]!;
          expect(version).toBeGreaterThan(lastSeen[at]!);
          lastSeen[at] = version;
          delivery.end(fails && delivery.version !== undefined ? -1 : version);
          await settle();
        };
        for (const { index: at, ...what } of steps) {
          const queue = queues[at]!;
          if (what.kind === 'add') add(queue, ++world[at]!);
          if (what.kind === 'late' && world[at]! > 1) add(queue, world[at]! - 1);
          if (what.kind === 'behind') scheduler.collapse(queue, ++world[at]!);
          if (what.kind === 'forget') scheduler.forget(queue);
          const delivery = what.kind === 'end' ? open[at % Math.max(1, open.length)] : undefined;
          if (delivery && what.kind === 'end') await end(delivery, what.fails);
          check();
        }
        const idle = scheduler.idle();
        while (open.length > 0) {
          await end(open[0]!, false);
          check();
        }
        await idle;
        expect(scheduler.isIdle).toBe(true);
        // Whoever was not forgotten has seen the end.
        queues.forEach((queue, at) => {
          expect(queue.hasWork).toBe(false);
          if (!queue.isForgotten && world[at]! > 0) expect(lastSeen[at]).toBe(world[at]);
        });
        // What was counted has been given back: there is as much room as in the beginning.
        const fresh = queueOf('fresh', 'carol');
        begun = [];
        add(fresh, 1, 2, 3, 4);
        while (open.length > 0) await finish('fresh');
        expect(begun).toEqual(['fresh:1', 'fresh:2', 'fresh:3', 'fresh:4']);
      }),
      { numRuns: 300 },
    );
  });
});
