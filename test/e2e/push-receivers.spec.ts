import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Agent, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import {
  MemoryTaskStore,
  PublicTargetPolicy,
  TargetRefusedError,
  type A2AOptions,
  type PushOptions,
  type TaskContext,
} from 'nestjs-a2a';
import { newcomer, type Caller } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { heapAfterGc } from '../support/heap.js';
import { LogRecorder } from '../support/log-recorder.js';
import type { Stage } from '../support/puppet.js';
import { notifying, startPushStage } from '../support/push-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver, type Answering } from '../support/webhook-receiver.js';

const SECRETS = { token: 'TOKEN-MARKER', authentication: { scheme: 'Bearer', credentials: 'CREDENTIALS-MARKER' } };
const isCompleted = ({ status }: { readonly status: { readonly state: string } }) =>
  status.state === 'TASK_STATE_COMPLETED';

const receivers: WebhookReceiver[] = [];
let stage: Stage;
let log: LogRecorder;

async function started(push: PushOptions = {}, options: Partial<A2AOptions> = {}): Promise<void> {
  log = new LogRecorder();
  stage = await startPushStage(push, options, { logger: log });
}

async function receiving(answering?: Answering): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start(answering);
  receivers.push(receiver);
  return receiver;
}

/** The warnings of deliveries that failed. */
const failures = (): string[] => log.of('warn').filter((line) => line.includes('was not delivered'));

afterEach(async () => {
  await stage.agent.close();
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

/** A receiver that keeps every delivery until the gate opens. */
async function holding(): Promise<{ readonly receiver: WebhookReceiver; readonly gate: Gate }> {
  const gate = new Gate();
  const receiver = await receiving(async (_received, response) => {
    await gate.pass();
    response.end();
  });
  return { receiver, gate };
}

describe('A receiver that fails (B-95, PUSH-05)', () => {
  /** Answers, and the reason that the log gives. `trap` is where a redirect leads. */
  const FAILURES: [string, string, (response: ServerResponse, trap: WebhookReceiver) => void][] = [
    ['answers 500', 'The receiver answered 500.', (response) => response.writeHead(500).end('MARKER of the receiver')],
    ['answers 410', 'The receiver answered 410.', (response) => response.writeHead(410).end()],
    [
      'redirects to a host of its own (B-89, PUSH-09)',
      'The receiver answered 307.',
      (response, { url }) => response.writeHead(307, { location: url }).end(),
    ],
    ['resets the connection', 'ECONNRESET', (response) => response.socket?.resetAndDestroy()],
    ['hangs up', 'socket hang up', (response) => response.socket?.end()],
    ['never answers (PUSH-08)', 'within 400 ms', () => undefined],
    [
      'never ends its answer (PUSH-08)',
      'within 400 ms',
      (response) => {
        const timer = setInterval(() => response.write('.'), 10);
        response.on('close', () => {
          clearInterval(timer);
        });
      },
    ],
  ];

  it.each(FAILURES)(
    '%s: one attempt and one warning for each update, and nobody else notices',
    async (_title, reason, answer) => {
      await started({ timeoutMs: reason.includes('within') ? 400 : 60_000 });
      const trap = await receiving();
      const failing = await receiving((_received, response) => {
        answer(response, trap);
      });
      const good = await receiving();
      const alice = stage.play(async (task) => {
        await task.working();
        return 'done';
      });
      const hook = { url: `${failing.url}?secret=QUERY-MARKER` };
      const { id } = await alice.task('go', notifying(hook, SECRETS));
      await newcomer(stage.agent.url).task('go', notifying(good));
      await good.state('COMPLETED');
      await until(() => failures().length >= 3, 'The warnings');
      expect(isCompleted(await alice.get(id))).toBe(true);
      expect(failing.story).toEqual(['WORKING', 'artifact', 'COMPLETED']);
      expect(failing.connections).toBe(3);
      expect(trap.connections).toBe(0);
      expect(failures()).toHaveLength(3);
      for (const line of failures()) {
        expect(line).toContain(`A notification of task ${id} was not delivered to ${new URL(failing.url).origin}: `);
        expect(line).toContain(reason);
        expect(line).not.toMatch(/MARKER/u);
      }
      expect(log.of('error')).toEqual([]);
    },
  );

  it('is not there: the log says so, and the next update is tried (PUSH-05)', async () => {
    await started();
    const gone = await WebhookReceiver.start();
    await gone.close();
    await stage.play(() => 'x').task('go', notifying(gone));
    await until(() => failures().length === 2, 'The warnings');
    expect(failures().every((line) => line.includes('ECONNREFUSED'))).toBe(true);
  });

  it('answers without an end: the rest is not waited for, and it counts as taken (PUSH-10a)', async () => {
    await started({ timeoutMs: 60_000 });
    let cut = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const receiver = await receiving((_received, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more).on('close', () => cut++);
      more();
    });
    await stage.play(() => 'x').task('go', notifying(receiver));
    await receiver.count(2);
    await until(() => cut === 2, 'The end of the connections');
    expect(failures()).toEqual([]);
  });
});

describe('A receiver that hangs', () => {
  it('delays its own config only; an owner has four deliveries under way, and others go on (PUSH-07b, PUSH-07d)', async () => {
    await started();
    const { receiver, gate } = await holding();
    const good = await receiving();
    const alice = stage.play(() => undefined);
    for (let index = 0; index < 6; index++) await alice.task('go', notifying(receiver));
    await newcomer(stage.agent.url).task('go', notifying(good));
    await good.state('COMPLETED');
    await receiver.count(4);
    expect(receiver.connections).toBe(4);
    gate.open();
    await receiver.count(6);
    expect(receiver.story).toEqual(Array(6).fill('COMPLETED'));
  });

  it('holds sixteen deliveries of the process at most, and the rest gets there later (PUSH-07a)', async () => {
    await started();
    const { receiver, gate } = await holding();
    stage.play(() => undefined);
    const callers = Array.from({ length: 6 }, () => newcomer(stage.agent.url));
    const tasks = await Promise.all(
      callers.flatMap((caller) => [1, 2, 3, 4].map(() => caller.task('go', notifying(receiver)))),
    );
    await receiver.count(16);
    expect(receiver.connections).toBe(16);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, receiver.open)), 1);
    gate.open();
    await receiver.count(24);
    clearInterval(watch);
    expect(most).toBeLessThanOrEqual(16);
    const told = receiver.received.map(({ body }) => (body.statusUpdate?.taskId ?? body.task.id) as string);
    expect(new Set(told)).toEqual(new Set(tasks.map(({ id }) => id)));
    expect(receiver.received).toHaveLength(24);
  });

  /** Sends a task whose first delivery is held while the skill goes on. */
  async function overtaken(work: (task: TaskContext, more: Gate) => Promise<void>) {
    const { receiver, gate } = await holding();
    const more = new Gate();
    const alice = stage.play((task) => work(task, more));
    const { id } = await alice.start('go', notifying(receiver));
    await receiver.count(1);
    return { receiver, gate, more, alice, id };
  }

  async function chunks(task: TaskContext, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await task.artifact({ artifactId: 'a', parts: [{ text: `${index};` }] }, { append: index > 0 });
    }
  }

  it('gets the whole task, once, when it has missed too much, and that is the end of it (R-36, PUSH-06)', async () => {
    await started();
    const { receiver, gate, alice, id } = await overtaken(async (task) => {
      await task.working();
      await chunks(task, 30);
    });
    const task = await alice.taskWhen(id, isCompleted);
    gate.open();
    await receiver.state('COMPLETED');
    // A delivery behind this one would be another owner's affair as well: nothing is left.
    await stage.agent.close();
    expect(receiver.story).toEqual(['WORKING', 'task:COMPLETED']);
    expect(receiver.received[1]!.body.task).toEqual(task);
    expect(failures()).toEqual([]);
  });

  it('gets the whole task in between, and then what follows (R-36)', async () => {
    await started();
    const { receiver, gate, more, alice, id } = await overtaken(async (task, again) => {
      await task.working();
      await chunks(task, 30);
      await again.pass();
      await task.progress('nearly');
      await task.complete();
    });
    await alice.taskWhen(id, (task) => JSON.stringify(task).includes('29;'));
    gate.open();
    await receiver.count(2);
    more.open();
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(['WORKING', 'task:WORKING', 'WORKING', 'COMPLETED']);
    expect(JSON.stringify(receiver.received[1]!.body.task.artifacts)).toContain('29;');
  });

  it('makes nothing pile up, however much it misses (PUSH-07, R-36)', async () => {
    await started({}, { maxHistory: 2, maxTaskBytes: -1, store: new MemoryTaskStore(2) });
    const line = 'x'.repeat(50_000);
    const { receiver, gate } = await holding();
    const before = heapAfterGc();
    const alice = stage.play(async (task) => {
      for (let index = 0; index < 1_000; index++) await task.progress(`${index}${line}`);
    });
    const { id } = await alice.start('go', notifying(receiver));
    await alice.taskWhen(id, isCompleted);
    // Fifty megabytes went by.
    expect(heapAfterGc() - before).toBeLessThan(10_000_000);
    gate.open();
    await receiver.state('COMPLETED');
  });
});

describe('The way to a receiver', () => {
  const PUBLIC = ['93.184.215.14'];

  it.each([
    ['became private', ['127.0.0.1']],
    ['has become private in part', [...PUBLIC, '127.0.0.1']],
    ['became private in the clothes of IPv6', ['::ffff:127.0.0.1']],
  ])('is closed when the name %s after the registration (S-03, SSRF-05, SSRF-09b)', async (_title, rebound) => {
    const answers = [PUBLIC];
    const policy = new PublicTargetPolicy({ lookup: () => Promise.resolve(answers.shift() ?? rebound) });
    await started({ allowPrivate: false, policy });
    const trap = await receiving();
    const place = `http://hooks.example.com:${new URL(trap.url).port}/hook`;
    await stage
      .play(() => undefined)
      .task('go', notifying({ url: `${place}?secret=QUERY-MARKER` }, { token: 'TOKEN-MARKER' }));
    await until(() => failures().length === 1, 'The warning');
    expect(failures()[0]).toMatch(`was not delivered to ${new URL(place).origin}: TargetRefusedError`);
    expect(failures()[0]).toContain('has an address that is not public');
    expect(failures()[0]).not.toMatch(/MARKER/u);
    expect(trap.connections).toBe(0);
  });

  it('is checked for each delivery, since no connection is used twice (SSRF-09a)', async () => {
    const policy = new (class extends PublicTargetPolicy {
      checked = 0;
      limit = Infinity;

      override checkAddress(): void {
        if (++this.checked > this.limit) throw new TargetRefusedError('ADDRESS_NOT_PUBLIC');
      }
    })({ allowPrivate: true });
    await started({ policy, agent: new Agent({ keepAlive: true }) });
    const receiver = await receiving();
    const gate = new Gate();
    const alice = stage.play(async (task) => {
      await task.working();
      await task.progress('more');
      await gate.pass();
    });
    await alice.start('go', notifying(receiver));
    await receiver.count(2);
    expect(receiver.connections).toBe(2);
    await until(() => receiver.open === 0, 'The end of the connections');
    policy.limit = policy.checked;
    gate.open();
    await until(() => failures().length === 1, 'The warning');
    expect(receiver.connections).toBe(2);
  });

  it('carries no credentials over http, whenever that is found out (PUSH-04)', async () => {
    const store = new MemoryTaskStore();
    await started({ allowPrivate: false, policy: new PublicTargetPolicy({ allowPrivate: true }) }, { store });
    const receiver = await receiving();
    const alice = stage.play((task) => task.requireInput());
    const refused = await alice.send('go', notifying(receiver, SECRETS));
    expect(refused.error.code).toBe(-32602);
    const { id } = await alice.task('go', notifying(receiver, { token: 'no credentials' }));
    await receiver.count(1);
    // As it may have been stored when it was allowed.
    const config = { id: 'old', taskId: id, url: receiver.url, ...SECRETS };
    await store.pushConfigs.create({ config, owner: alice.user, createdAt: 0 }, 8);
    await alice.cancel(id);
    await until(() => failures().length === 1, 'The warning');
    await receiver.count(2);
    expect(failures()[0]).toContain('Credentials are not sent over http.');
    expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it('takes no proxy of the environment (SSRF-06)', async () => {
    await started();
    const [receiver, proxy] = [await receiving(), await receiving()];
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url;
    try {
      await stage.play(() => undefined).task('go', notifying(receiver));
      await receiver.state('COMPLETED');
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
    }
    expect(proxy.connections).toBe(0);
  });

  it('is made like those of a plain agent, and follows no redirect either (PUSH-09, PUSH-13)', async () => {
    const free = await WebhookReceiver.start();
    await free.close();
    const localPort = Number(new URL(free.url).port);
    await started({ agent: new Agent({ keepAlive: true, localPort }) });
    const trap = await receiving();
    const ports: unknown[] = [];
    const receiver = await receiving((_received, response) => {
      ports.push(response.socket?.remotePort);
      response.writeHead(302, { location: trap.url }).end();
    });
    await stage.play(() => undefined).task('go', notifying(receiver));
    await until(() => failures().length === 1, 'The warning');
    expect(ports).toEqual([localPort]);
    expect(trap.connections).toBe(0);
  });

  it('is that of an agent that finds its own, once the host has been checked (SSRF-07)', async () => {
    let used = 0;
    let addresses = PUBLIC;
    const receiver = await receiving();
    class Tunnel extends Agent {
      override createConnection() {
        used++;
        return connect(Number(new URL(receiver.url).port), '127.0.0.1');
      }
    }
    const policy = new PublicTargetPolicy({ lookup: () => Promise.resolve(addresses) });
    await started({ allowPrivate: false, policy, agent: new Tunnel() });
    const alice: Caller = stage.play((task) => task.requireInput());
    const { id } = await alice.task('go', notifying({ url: 'http://hooks.example.com/hook' }));
    const [received] = await receiver.count(1);
    expect(received!.headers.host).toBe('hooks.example.com');
    addresses = ['10.0.0.1'];
    await alice.cancel(id);
    await until(() => failures().length === 1, 'The warning');
    expect(failures()[0]).toContain('not public');
    expect(used).toBe(1);
  });
});

describe('A store whose configs cannot be read', () => {
  it.each([
    ['list', 'The push configs of task ID could not be read: Error: out of reach', ['artifact', 'COMPLETED']],
    ['read', 'A notification of task ID was not delivered: Error: out of reach', ['artifact', 'COMPLETED']],
  ] as const)(
    'costs a receiver the update in question, on %s, and the log says so (PUSH-10b)',
    async (method, line, story) => {
      const store = new MemoryTaskStore();
      jest.spyOn(store.pushConfigs, method).mockRejectedValueOnce(new Error('out of reach'));
      await started({}, { store });
      const receiver = await receiving();
      const alice = stage.play(async (task) => {
        await task.working();
        return 'done';
      });
      const { id } = await alice.task('go', notifying(receiver));
      await receiver.state('COMPLETED');
      expect(receiver.story).toEqual(story);
      expect(log.of('warn').filter((text) => text.includes(id))).toEqual([
        expect.stringContaining(line.replace('ID', id)),
      ]);
    },
  );
});

describe('The end of the agent (SHUT-05)', () => {
  const untilAborted = async (task: TaskContext): Promise<void> => {
    await task.working();
    await new Promise((resolve) => {
      task.signal.addEventListener('abort', resolve);
    });
  };

  it('is told: the last states of runs that are cut short get there before it (SHUT-05)', async () => {
    await started({}, { shutdown: { drainMs: 0 } });
    const receiver = await receiving();
    const alice = stage.play(untilAborted);
    await alice.start('go', notifying(receiver));
    await newcomer(stage.agent.url).start('go', notifying(receiver));
    await receiver.count(2);
    await stage.agent.service.shutdown();
    expect(receiver.story).toEqual(['WORKING', 'WORKING', 'CANCELED', 'CANCELED']);
  });

  it('is not held up by a receiver that hangs, and leaves no connection (SHUT-05, SHUT-01a)', async () => {
    await started({ timeoutMs: 600_000 }, { shutdown: { drainMs: 0, timeoutMs: 300 } });
    const { receiver } = await holding();
    const alice = stage.play(untilAborted);
    await alice.start('go', notifying(receiver));
    await newcomer(stage.agent.url).start('go', notifying(receiver));
    await receiver.count(2);
    await stage.agent.close();
    await until(() => receiver.open === 0, 'The end of the connections');
    expect(receiver.story).toEqual(['WORKING', 'WORKING']);
    expect(failures()).toHaveLength(2);
    for (const line of failures()) expect(line).toContain('The agent is shutting down.');
  });

  it.each(['list', 'read'] as const)(
    'is not held up by a store whose configs hang on %s (SHUT-05, SHUT-01a)',
    async (method) => {
      const store = new MemoryTaskStore();
      const gate = new Gate();
      const asked = jest.spyOn(store.pushConfigs, method).mockImplementation(() => gate.pass() as Promise<never>);
      await started({}, { store, shutdown: { drainMs: 0, timeoutMs: 100 } });
      const receiver = await receiving();
      await stage.play(untilAborted).start('go', notifying(receiver));
      await gate.whenWaiting();
      await stage.agent.close();
      // The look-up has three seconds before it counts as failed: the end came before that.
      expect(log.of('warn').filter((line) => line.includes('StoreTimeoutError'))).toEqual([]);
      expect(asked).toHaveBeenCalledTimes(1);
      expect(receiver.connections).toBe(0);
      gate.open();
    },
  );
});
