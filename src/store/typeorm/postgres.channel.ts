import { createHash, randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Client, Notification } from 'pg';
import type { DataSource } from 'typeorm';
import type { ChannelListener, StoreChannel } from '../store-channel.js';
import { openConnection } from './postgres-connection.js';
import { TaskEntity } from './task.entity.js';

/** Between two attempts to connect, in milliseconds: doubled from the first to the last. */
const PAUSE = { first: 50, last: 5_000 } as const;
/** How long a text to oneself may take, in milliseconds. */
const TEST_TIMEOUT = 2_000;
/** How long the database may take over a statement, in milliseconds. */
const QUERY_TIMEOUT = 5_000;

interface Identity {
  readonly pid: number;
  readonly schema: string | null;
}

/**
 * A channel on `LISTEN` and `NOTIFY` of PostgreSQL, over a connection of its own.
 *
 * - What this process has sent does not come back to it.
 * - A connection that breaks is replaced, for as long as it takes.
 * - Where texts do not arrive, as behind some connection poolers, it warns once and gives up.
 */
export class PostgresChannel implements StoreChannel {
  private readonly logger = new Logger('PostgresChannel');
  private client: Client | undefined;
  private name = '';
  private isHeard = false;
  private isClosed = false;
  private pause: number = PAUSE.first;
  private timer: NodeJS.Timeout | undefined;
  private connecting: Promise<void>;

  /** @param dataSource initialised, of type `postgres` */
  constructor(
    private readonly dataSource: DataSource,
    private readonly listener: ChannelListener,
  ) {
    this.connecting = this.connect();
  }

  async send(text: string): Promise<void> {
    const { client } = this;
    if (!client) throw new Error('The channel is not open.');
    try {
      await notify(client, this.name, text);
    } catch (error) {
      // A connection that does not answer is worth nothing, and another one is soon had.
      this.replace(client);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.connecting;
    const { client } = this;
    this.client = undefined;
    if (client) await end(client);
  }

  /** Never rejects. */
  private async connect(): Promise<void> {
    let client: Client | undefined;
    try {
      const lost = (): void => {
        if (client) this.replace(client);
      };
      client = await openConnection(this.dataSource, 'relay', lost, { query_timeout: QUERY_TIMEOUT });
      await this.listen(client);
    } catch {
      if (client) await end(client);
      this.retry();
    }
  }

  private async listen(client: Client): Promise<void> {
    const { rows } = await client.query<Identity>('SELECT pg_backend_pid() AS pid, current_schema() AS schema');
    const [{ pid, schema } = { pid: 0, schema: null }] = rows;
    const { schema: named, tableName } = this.dataSource.getMetadata(TaskEntity);
    this.name = channelName(named ?? schema ?? '', tableName);
    client.on('notification', ({ processId, payload = '' }) => {
      if (processId !== pid) this.listener.message(payload);
    });
    await client.query(`LISTEN ${this.name}`);
    this.isHeard ||= await hearsItself(client, this.name);
    if (!this.isHeard) {
      this.logger.warn(
        'What is sent with NOTIFY does not arrive, perhaps because of a connection pooler: updates of other processes will be looked for twice a second. A direct connection is faster.',
      );
      await end(client);
      return;
    }
    this.client = client;
    this.pause = PAUSE.first;
    if (!this.isClosed) this.listener.opened();
  }

  /** Gives a connection up, if it is the one in use, and looks for another. */
  private replace(client: Client): void {
    if (this.client !== client) return;
    this.client = undefined;
    void end(client);
    this.listener.lost();
    this.retry();
  }

  private retry(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      this.connecting = this.connect();
    }, this.pause);
    this.timer.unref();
    this.pause = Math.min(this.pause * 2, PAUSE.last);
  }
}

/** At most 63 bytes, of letters and digits only: it stands in the text of a statement. */
function channelName(schema: string, table: string): string {
  return `a2a_${createHash('sha256')
    .update(JSON.stringify([schema, table]))
    .digest('hex')
    .slice(0, 32)}`;
}

async function notify(client: Client, channel: string, text: string): Promise<void> {
  await client.query('SELECT pg_notify($1, $2)', [channel, text]);
}

/** Whether a text that is sent comes back in time. */
async function hearsItself(client: Client, channel: string): Promise<boolean> {
  const text = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  const heard = new Promise<boolean>((resolve, reject) => {
    client.on('notification', ({ payload }: Notification) => {
      if (payload === text) resolve(true);
    });
    client.once('end', () => {
      reject(new Error('The connection broke.'));
    });
    timer = setTimeout(resolve, TEST_TIMEOUT, false);
  });
  try {
    const [answer] = await Promise.all([heard, notify(client, channel, text)]);
    return answer;
  } finally {
    clearTimeout(timer);
  }
}

async function end(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}
