import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TypeOrmTaskStore } from 'nestjs-a2a/typeorm';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/data-sources.js';
import { Gate } from '../support/gate.js';
import type { Stage } from '../support/puppet.js';
import { notifying, register, startPushStage } from '../support/push-stage.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

describe.each([
  ['PostgreSQL', postgresDatabase],
  ['a SQLite file', sqliteDatabase],
] as const)('Notifications of two processes on %s (REP-09)', (_name, make) => {
  let database: TestDatabase;
  let stages: Stage[];
  let close: () => Promise<void>;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    database = await make();
    const dataSources = await Promise.all([database.open(), database.open()]);
    stages = await Promise.all(
      dataSources.map((dataSource) => startPushStage({}, { store: new TypeOrmTaskStore(dataSource) })),
    );
    close = async () => {
      await Promise.all(stages.map(({ agent }) => agent.close()));
      await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
    };
  });

  afterAll(async () => {
    await close();
    await database.drop();
  });

  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
  });

  afterEach(() => receiver.close());

  /** The other process, the one that runs the task, and who sends it there. */
  function cast(work: Parameters<Stage['play']>[0]) {
    const [a, b] = stages as [Stage, Stage];
    const onB = b.play(work);
    return { onA: onB.at(a.agent.url), onB };
  }

  /** Lets both processes tell of something that comes behind all the rest. */
  async function untilBothHaveSpoken(): Promise<void> {
    const before = receiver.received.length;
    for (const stage of stages) await stage.play(() => undefined).task('go', notifying(receiver));
    await receiver.count(before + 2);
    expect(receiver.received.length).toBe(before + 2);
  }

  it('come from the one that stores the update, once, also for a config that another one took in', async () => {
    const gate = new Gate();
    const { onA, onB } = cast(async (task) => {
      await task.working();
      await gate.pass();
      await task.artifact({ parts: [{ text: 'half' }] });
      await task.complete();
    });
    const { id } = await onB.start('go', notifying(receiver, { token: 'by B' }));
    await receiver.count(1);
    await register(onA, id, receiver, { token: 'by A' });
    gate.open();
    await receiver.count(5);
    const storyOf = (token: string) =>
      receiver.story.filter((_, index) => receiver.received[index]!.headers['a2a-notification-token'] === token);
    expect(storyOf('by A')).toEqual(['artifact', 'COMPLETED']);
    expect(storyOf('by B')).toEqual(['WORKING', 'artifact', 'COMPLETED']);
    await untilBothHaveSpoken();
  });

  it('tell of a cancel that one process serves for a task of another, once', async () => {
    const { onA, onB } = cast(async (task) => {
      await task.working();
      await new Promise((resolve) => {
        task.signal.addEventListener('abort', resolve);
      });
      await task.complete('late');
    });
    const { id } = await onB.start('go', notifying(receiver));
    await receiver.count(1);
    await onA.cancel(id);
    await receiver.state('CANCELED');
    expect(receiver.story).toEqual(['WORKING', 'CANCELED']);
    await untilBothHaveSpoken();
  });

  it('stop everywhere when the config is removed anywhere (PUSH-14)', async () => {
    const gate = new Gate();
    const { onA, onB } = cast(async (task) => {
      await task.working();
      await gate.pass();
      await task.complete();
    });
    const { id } = await onB.start('go', notifying(receiver, { id: 'mine' }));
    await receiver.count(1);
    await onA.invoke('DeleteTaskPushNotificationConfig', { taskId: id, id: 'mine' });
    gate.open();
    await onB.taskWhen(id, ({ status }) => status.state === 'TASK_STATE_COMPLETED');
    await untilBothHaveSpoken();
    expect(receiver.story).toEqual(['WORKING', 'COMPLETED', 'COMPLETED']);
    expect(receiver.received.filter(({ body }) => body.statusUpdate.taskId === id)).toHaveLength(1);
  });

  it('go on where a task is resumed, wherever its configs were made (PUSH-11)', async () => {
    const { onA, onB } = cast((task) => task.requireInput());
    const { id } = await onB.task('go', notifying(receiver));
    await receiver.count(1);
    stages[0]!.play((task) => task.complete('there'));
    await onA.follow(id, 'more');
    await receiver.state('COMPLETED');
    expect(receiver.story).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    await untilBothHaveSpoken();
  });
});
