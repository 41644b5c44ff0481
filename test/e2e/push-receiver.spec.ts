import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Post, UseGuards, type INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { A2AOptions } from 'nestjs-a2a';
import {
  MemoryReplayStore,
  NotificationVerifier,
  type NotificationVerifierOptions,
  type VerifiedNotification,
} from 'nestjs-a2a/client';
import { A2A_RECEIVER_OPTIONS, NotificationGuard, ReceivedNotification } from 'nestjs-a2a/receiver';
import { ADAPTERS, startAgent, type Adapter, type Agent, type AgentSetup } from '../support/agent.js';
import { PINNED } from '../support/card.js';
import { newcomer, type Caller } from '../support/caller.js';
import { Gate } from '../support/gate.js';
import { openRequest, postBytes, type HttpAnswer } from '../support/http-client.js';
import { LogRecorder } from '../support/log-recorder.js';
import { eventBytes, signatureOf, trusted } from '../support/notifications.js';
import { PUPPET, PuppetSkills } from '../support/puppet.js';
import { keyPair, pemOf } from '../support/signing-keys.js';
import { until } from '../support/until.js';
import { WebhookReceiver, type Received } from '../support/webhook-receiver.js';

const { privateKey, publicKey } = keyPair('ES256');
const stranger = keyPair('ES256');
const TOKEN = 'token-of-the-task';
const MEDIA_TYPE = 'application/a2a+json';

/** What the handler of the receiver was given, and which tasks are its own. */
@Injectable()
class Inbox {
  readonly received: VerifiedNotification[] = [];
  readonly tasks = new Set<string>();
  /** Makes the handler fail. */
  failures = 0;

  get story(): string[] {
    return this.received.map(({ event }) => {
      if ('statusUpdate' in event) return event.statusUpdate.status.state.replace('TASK_STATE_', '');
      return Object.keys(event).join();
    });
  }
}

@Controller()
class HookController {
  constructor(private readonly inbox: Inbox) {}

  @Post('hook')
  @UseGuards(NotificationGuard)
  receive(@ReceivedNotification() notification: VerifiedNotification): void {
    this.inbox.received.push(notification);
    if (this.inbox.failures-- > 0) throw new Error('The database is away');
  }

  @Post('open')
  open(@ReceivedNotification() notification: VerifiedNotification): void {
    this.inbox.received.push(notification);
  }
}

interface ReceiverSetup {
  readonly adapter?: Adapter;
  readonly options?: Partial<NotificationVerifierOptions>;
  readonly rawBody?: boolean;
  readonly maxBodyBytes?: number;
  readonly configure?: (app: INestApplication) => void;
}

interface Receiver {
  readonly app: INestApplication;
  readonly inbox: Inbox;
  readonly url: string;
  readonly log: LogRecorder;
}

/** The one line that Fastify needs. */
function keepBytes(app: INestApplication): void {
  (app as NestFastifyApplication).useBodyParser(MEDIA_TYPE);
}

async function startReceiver({ adapter = 'express', ...setup }: ReceiverSetup = {}): Promise<Receiver> {
  const { options = {}, rawBody = false, maxBodyBytes } = setup;
  const inbox = new Inbox();
  const log = new LogRecorder();
  const verifier = new NotificationVerifier({
    token: TOKEN,
    keys: { keys: [trusted(publicKey)] },
    isExpected: (taskId) => inbox.tasks.has(taskId),
    ...options,
  });
  const module = await Test.createTestingModule({
    controllers: [HookController],
    providers: [
      { provide: Inbox, useValue: inbox },
      { provide: NotificationVerifier, useValue: verifier },
      ...(maxBodyBytes === undefined ? [] : [{ provide: A2A_RECEIVER_OPTIONS, useValue: { maxBodyBytes } }]),
    ],
  }).compile();
  const appOptions = { rawBody, forceCloseConnections: true, logger: log };
  const app: INestApplication =
    adapter === 'fastify'
      ? module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), appOptions)
      : module.createNestApplication<NestExpressApplication>(appOptions);
  (setup.configure ?? (adapter === 'fastify' ? keepBytes : () => undefined))(app);
  await app.listen(0, '127.0.0.1');
  return { app, inbox, log, url: await app.getUrl() };
}

/** Posts a notification of the agent, or one that differs from it. */
async function notify(
  { url }: { readonly url: string },
  {
    taskId = 'mine',
    body = eventBytes(taskId),
    key = privateKey,
    headers = {},
    path = '/hook',
  }: {
    readonly taskId?: string;
    readonly body?: Buffer;
    readonly key?: typeof privateKey;
    readonly headers?: Readonly<Record<string, string | undefined>>;
    readonly path?: string;
  } = {},
): Promise<HttpAnswer> {
  const signature = await signatureOf(key, { taskId, body, now: Date.now() });
  return postBytes(url, body, {
    path,
    headers: {
      'content-type': MEDIA_TYPE,
      'a2a-notification-token': TOKEN,
      'a2a-notification-signature': signature,
      ...headers,
    },
  });
}

/** Sends again what arrived, byte for byte. */
function replay({ url }: Receiver, { text, headers }: Received): Promise<HttpAnswer> {
  return postBytes(url, text, { path: '/hook', headers: { ...headers, host: undefined } });
}

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function receiving(setup?: ReceiverSetup): Promise<Receiver> {
  const receiver = await startReceiver(setup);
  opened.push(receiver.app);
  receiver.inbox.tasks.add('mine');
  return receiver;
}

describe.each(ADAPTERS)('A notification that an agent signs, on %s', (adapter) => {
  let agent: Agent;
  let receiver: Receiver;
  let gate: Gate;

  async function start(push: A2AOptions['push'] = {}, setup: AgentSetup = {}): Promise<Caller> {
    gate = new Gate();
    receiver = await receiving({ adapter });
    agent = await startAgent({
      adapter,
      ...setup,
      skills: [PuppetSkills],
      options: {
        card: PINNED,
        signing: { keys: [{ key: pemOf(privateKey), kid: 'k' }] },
        push: { allowPrivate: true, signed: true, ...push },
      },
    });
    opened.push(agent);
    agent.app.get(PuppetSkills).work = async (task) => {
      await gate.pass(task.signal);
      await task.working('half');
      return 'done';
    };
    return newcomer(agent.url);
  }

  /** A task whose updates go to a webhook. */
  async function watchedTask(caller: Caller, url: string): Promise<string> {
    const { id } = await caller.start('go', PUPPET);
    receiver.inbox.tasks.add(id);
    const created = await caller.invoke('CreateTaskPushNotificationConfig', { taskId: id, url, token: TOKEN });
    expect(created.error).toBeUndefined();
    return id;
  }

  const completed = (): Promise<void> => until(() => receiver.inbox.story.includes('COMPLETED'), 'The end of the task');

  it('arrives at the handler of the receiver (§4.3.3, §13.2, PUSH-02)', async () => {
    const caller = await start();
    const id = await watchedTask(caller, `${receiver.url}/hook`);
    gate.open();
    await completed();
    expect(receiver.inbox.story).toEqual(['WORKING', 'artifactUpdate', 'COMPLETED']);
    expect(new Set(receiver.inbox.received.map(({ taskId }) => taskId))).toEqual(new Set([id]));
    expect(new Set(receiver.inbox.received.map(({ jti }) => jti)).size).toBe(3);
    expect(receiver.log.of('warn')).toEqual([]);
  });

  it('is refused when it is captured and sent again (S-11)', async () => {
    const caller = await start();
    const tap = await WebhookReceiver.start(async (received, response) => {
      const { status } = await replay(receiver, received);
      response.writeHead(status).end();
    });
    opened.push(tap);
    await watchedTask(caller, tap.url);
    gate.open();
    await completed();
    const handled = receiver.inbox.received.length;
    for (const captured of tap.received) {
      expect(await replay(receiver, captured)).toMatchObject({ status: 409, body: { message: 'Conflict' } });
      const other = { ...captured, text: captured.text.replace('"taskId":"', '"taskId":"x') };
      expect(
        await replay(receiver, { ...other, headers: { ...captured.headers, 'content-length': undefined } }),
      ).toMatchObject({ status: 401 });
    }
    expect(receiver.inbox.received).toHaveLength(handled);
  });

  it('is accepted when the agent tries again, for a retry is no replay (S-11)', async () => {
    const caller = await start(
      { delivery: 'durable', retry: { minDelayMs: 10 } },
      { imports: [TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true })] },
    );
    await watchedTask(caller, `${receiver.url}/hook`);
    receiver.inbox.failures = 1;
    gate.open();
    await completed();
    const [first, second] = receiver.inbox.received;
    expect(second!.event).toEqual(first!.event);
    expect(second!.jti).not.toBe(first!.jti);
    expect(receiver.log.of('warn')).toEqual([]);
  });
});

describe.each(ADAPTERS)('The guard of notifications on %s', (adapter) => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await receiving({ adapter, maxBodyBytes: 100_000 });
  });

  const refused = (status: number, message: string) => ({ status, body: { statusCode: status, message } });

  it('lets a good one through (S-11)', async () => {
    expect(await notify(receiver)).toMatchObject({ status: 201 });
    expect(receiver.inbox.received).toMatchObject([{ taskId: 'mine', jti: expect.any(String) }]);
  });

  it.each<[string, Parameters<typeof notify>[1]]>([
    ['without a token', { headers: { 'a2a-notification-token': undefined } }],
    ['with another token', { headers: { 'a2a-notification-token': 'other' } }],
    ['without a signature', { headers: { 'a2a-notification-signature': undefined } }],
    ['signed by a stranger', { key: stranger.privateKey }],
    ['about no task of ours, signed by a stranger', { key: stranger.privateKey, taskId: 'theirs' }],
  ])('answers 401 to one %s, and tells nothing (S-10, S-11)', async (_what, call) => {
    expect(await notify(receiver, call)).toMatchObject(refused(401, 'Unauthorized'));
    expect(receiver.inbox.received).toEqual([]);
    expect(receiver.log.of('warn')).toHaveLength(1);
    expect(receiver.log.of('warn').join()).not.toContain(TOKEN);
  });

  it('answers 400 to what is no notification, 404 to a task that is not ours (§13.2)', async () => {
    expect(await notify(receiver, { body: Buffer.from('{}') })).toMatchObject(refused(400, 'Bad Request'));
    expect(await notify(receiver, { body: Buffer.from('{') })).toMatchObject(refused(400, 'Bad Request'));
    expect(await notify(receiver, { taskId: 'theirs' })).toMatchObject(refused(404, 'Not Found'));
  });

  it('reads no more than the cap', async () => {
    const size = (bytes: number) => {
      const metadata = { x: '' };
      const event = (): Buffer => eventBytes('mine', { metadata });
      metadata.x = 'x'.repeat(bytes - event().length);
      return event();
    };
    expect(await notify(receiver, { body: size(100_000) })).toMatchObject({ status: 201 });
    expect(await notify(receiver, { body: size(100_001) })).toMatchObject({ status: 413 });
  });

  it('answers 500 where no guard has verified anything, and the log names the cure', async () => {
    expect(await notify(receiver, { path: '/open' })).toMatchObject({ status: 500 });
    expect(receiver.log.of('error').join()).toContain('HookController.open takes a notification');
    expect(receiver.inbox.received).toEqual([]);
  });
});

describe('The guard of notifications', () => {
  it('answers 401 to a stranger before he has sent the body (S-11)', async () => {
    const { url } = await receiving();
    const { request, answer } = openRequest(url, {
      path: '/hook',
      headers: { 'content-type': MEDIA_TYPE, 'content-length': '10000000', 'a2a-notification-token': 'other' },
    });
    request.flushHeaders();
    expect((await answer).status).toBe(401);
    request.destroy();
  });

  it('refuses a body without a length as soon as it is too large', async () => {
    const { url } = await receiving({ maxBodyBytes: 1_000, options: { keys: undefined as never } });
    const { request, answer } = openRequest(url, {
      path: '/hook',
      headers: { 'content-type': MEDIA_TYPE, 'a2a-notification-token': TOKEN },
    });
    request.write(Buffer.alloc(2_000, ' '));
    expect((await answer).status).toBe(413);
    request.destroy();
  });

  it('answers 503 while the memory of notifications is full', async () => {
    const receiver = await receiving({ options: { replays: new MemoryReplayStore({ maxEntries: 1 }) } });
    expect(await notify(receiver)).toMatchObject({ status: 201 });
    expect(await notify(receiver)).toMatchObject({ status: 503 });
  });

  const JSON_TYPE = { 'content-type': 'application/json' };
  const rawParser = (app: INestApplication): void => {
    (app as NestExpressApplication).useBodyParser('raw', { type: '*/*' });
  };

  it.each<[string, ReceiverSetup, Readonly<Record<string, string>>?]>([
    ['Express with rawBody', { rawBody: true }],
    ['Express with rawBody, and JSON of another name', { rawBody: true }, JSON_TYPE],
    ['Express with a parser that gives bytes', { configure: rawParser }, JSON_TYPE],
    ['Fastify with rawBody', { adapter: 'fastify', rawBody: true }],
    ['Fastify with rawBody, and JSON of another name', { adapter: 'fastify', rawBody: true }, JSON_TYPE],
  ])('finds the bytes on %s', async (_what, setup, headers = {}) => {
    expect(await notify(await receiving(setup), { headers })).toMatchObject({ status: 201 });
  });

  it('is not reached on Fastify where nobody has said how to parse notifications', async () => {
    const receiver = await receiving({ adapter: 'fastify', configure: () => undefined });
    expect(await notify(receiver)).toMatchObject({ status: 415 });
  });

  it.each(ADAPTERS)('answers 500 on %s where a parser keeps no bytes, and the log names the cure', async (adapter) => {
    const receiver = await receiving({ adapter });
    expect(await notify(receiver, { headers: JSON_TYPE })).toMatchObject({
      status: 500,
      body: { message: 'Internal server error' },
    });
    expect(receiver.log.of('error').join()).toContain('{ rawBody: true }');
  });
});
