import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rpc, userMessage } from '../support/rpc.js';
import { sharedPostgres, type SharedDatabase } from '../support/shared-database.js';
import { startSut, type SutProcess } from '../support/sut-process.js';
import { WebhookReceiver, type Received } from '../support/webhook-receiver.js';

const CHUNKS = 999;
const EVENTS = CHUNKS + 1;

describe('Durable notifications of processes that die', () => {
  let database: SharedDatabase;
  let receiver: WebhookReceiver;
  let replicas: SutProcess[] = [];
  /** The place of the update that was taken last. */
  let taken = -1;
  /** Calls that were neither the next update nor the one before it once more. */
  const strays: string[] = [];
  let repeats = 0;

  beforeAll(async () => {
    database = await sharedPostgres();
    receiver = await WebhookReceiver.start((received, response, index) => {
      const place = placeOf(received);
      if (place !== taken && place !== taken + 1) strays.push(`${place} after ${taken}`);
      if (place === taken) repeats++;
      response.statusCode = index % 2 === 0 ? 503 : 200;
      if (response.statusCode === 200) taken = Math.max(taken, place);
      response.end();
    });
    replicas = [await start()];
  }, 30_000);

  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await receiver.close();
    await database.drop();
  });

  /** Waits for as long as there is progress. */
  async function whenTaken(place: number): Promise<void> {
    for (let before = -2; taken < place && taken !== before;) {
      before = taken;
      for (let wait = 0; wait < 100 && taken === before; wait++) await sleep(100);
    }
    expect(taken).toBeGreaterThanOrEqual(place);
  }

  function start(): Promise<SutProcess> {
    const push = {
      delivery: 'durable',
      allowPrivate: true,
      timeoutMs: 1_000,
      retry: { minDelayMs: 1, maxDelayMs: 20 },
    };
    return startSut({ DATABASE_URL: database.url, LEASE_MS: '1000', PUSH: JSON.stringify(push) });
  }

  it(`bring all of ${EVENTS} updates in order, though the receiver fails every other time and two senders are killed`, async () => {
    const [first] = replicas;
    const message = userMessage(`drip ${CHUNKS} 1`);
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    const { body } = await rpc(first!.url, 'SendMessage', { message, configuration });
    expect(body.result.task.status.state).toBe('TASK_STATE_COMPLETED');

    for (const place of [EVENTS / 3, (2 * EVENTS) / 3]) {
      await whenTaken(place);
      const heir = await start();
      await replicas.at(-1)!.kill();
      expect(taken).toBeLessThan(EVENTS - 1);
      replicas.push(heir);
    }
    await whenTaken(EVENTS - 1);

    expect(strays).toEqual([]);
    // Of an update whose sender died before it had noted that it was taken.
    expect(repeats).toBeLessThanOrEqual(2);
    const { body: after } = await rpc(replicas.at(-1)!.url, 'ListTaskPushNotificationConfigs', {
      taskId: body.result.task.id,
    });
    expect(after.result.configs).toHaveLength(1);
  }, 120_000);
});

/** Which of the task's updates arrived: a numbered chunk, or COMPLETED. */
function placeOf({ body }: Received): number {
  return body.artifactUpdate ? Number.parseInt(String(body.artifactUpdate.artifact.parts[0].text), 10) : EVENTS - 1;
}
