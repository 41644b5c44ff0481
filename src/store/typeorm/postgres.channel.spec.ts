import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { PostgresChannel } from './postgres.channel.js';

/** Connections of which the test says whether what is sent on them comes back. */
class FakeClient extends EventEmitter {
  static opened: FakeClient[] = [];
  static isDeaf = false;
  static isDown = false;
  hasEnded = false;
  readonly sent: string[] = [];

  async connect(): Promise<void> {
    FakeClient.opened.push(this);
    if (FakeClient.isDown) throw new Error('connect ECONNREFUSED');
  }

  async query(text: string, values: readonly string[] = []): Promise<{ rows: unknown[] }> {
    if (text.includes('pg_notify')) this.receive(String(values[1]), 7);
    return { rows: [{ pid: 7, schema: 'public' }] };
  }

  async end(): Promise<void> {
    this.hasEnded = true;
    this.emit('end');
  }

  /** Brings a text, as the server does, from the process of a number. */
  receive(payload: string, processId: number): void {
    this.sent.push(payload);
    if (!FakeClient.isDeaf) this.emit('notification', { processId, payload });
  }
}

describe('The channel on PostgreSQL', () => {
  const dataSource = {
    driver: { master: { Client: FakeClient, options: {} } },
    getMetadata: () => ({ schema: undefined, tableName: 'a2a_task' }),
  } as unknown as DataSource;
  let told: string[];
  let channel: PostgresChannel;
  let warn: ReturnType<typeof jest.spyOn>;

  beforeEach(() => {
    jest.useFakeTimers();
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    FakeClient.opened = [];
    FakeClient.isDeaf = false;
    FakeClient.isDown = false;
    told = [];
  });

  afterEach(async () => {
    await channel.close();
    warn.mockRestore();
    jest.useRealTimers();
  });

  function open(): void {
    channel = new PostgresChannel(dataSource, {
      message: (text) => told.push(text),
      opened: () => told.push('opened'),
      lost: () => told.push('lost'),
    });
  }

  it('hears others, and not itself (R-25)', async () => {
    open();
    await jest.advanceTimersByTimeAsync(0);
    await channel.send('from here');
    FakeClient.opened[0]?.receive('from there', 8);
    expect(told).toEqual(['opened', 'from there']);
  });

  it('gives up with one warning where nothing arrives, and leaves no connection open (R-25)', async () => {
    FakeClient.isDeaf = true;
    open();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(FakeClient.opened.map(({ hasEnded }) => hasEnded)).toEqual([true]);
    await expect(channel.send('text')).rejects.toThrow('not open');
  });

  it('replaces a connection that breaks, however long it takes, and says so (R-25)', async () => {
    open();
    await jest.advanceTimersByTimeAsync(0);
    FakeClient.isDown = true;
    FakeClient.opened[0]?.emit('error', new Error('Connection terminated unexpectedly'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual(['opened', 'lost']);
    const attempts = FakeClient.opened.length;
    FakeClient.isDown = false;
    await jest.advanceTimersByTimeAsync(5_000);
    FakeClient.opened.at(-1)?.receive('from there', 8);
    expect(told).toEqual(['opened', 'lost', 'opened', 'from there']);
    // Doubled from 50 ms to 5 s.
    expect(attempts).toBeLessThan(25);
  });

  it('looks for no connection any more once it is closed', async () => {
    FakeClient.isDown = true;
    open();
    await jest.advanceTimersByTimeAsync(100);
    await channel.close();
    const attempts = FakeClient.opened.length;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(FakeClient.opened).toHaveLength(attempts);
  });
});
