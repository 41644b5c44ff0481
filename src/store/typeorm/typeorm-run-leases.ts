import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { LostRun, RunLeases } from '../run-leases.js';
import { openConnection } from './postgres-connection.js';
import { POSTGRES_NOW, SQLITE_NOW } from './replica-rows.js';
import { ReplicaEntity, TaskEntity } from './task.entity.js';
import type { UpdateSweeper } from './update.sweeper.js';
import type { BatchWriter } from './write-operation.js';

/** "a2a" in ASCII; beside it stands a hash of the table's name. */
const LOCK = 0x61_32_61;

/** Tells which processes are alive by rows of `a2a_replica`. */
export class TypeOrmRunLeases implements RunLeases {
  /** The name of this process among those on the database. */
  private readonly id = randomUUID();
  private hasBeaten = false;
  private readonly isPostgres: boolean;

  constructor(
    private readonly dataSource: DataSource,
    private readonly writer: BatchWriter,
    private readonly sweeper: UpdateSweeper,
  ) {
    this.isPostgres = dataSource.options.type === 'postgres';
  }

  /** This process, once it has said that it lives: before, others would take its runs for lost. */
  get replica(): string | null {
    return this.hasBeaten ? this.id : null;
  }

  async beat(lease: number): Promise<boolean> {
    const held = await this.writer.beat(this.id, lease);
    this.hasBeaten = true;
    return held;
  }

  async leave(): Promise<void> {
    this.hasBeaten = false;
    await this.writer.leave(this.id);
  }

  async lost(limit: number): Promise<readonly LostRun[]> {
    const rows = await this.dataSource
      .getRepository(TaskEntity)
      .createQueryBuilder('t')
      .where('t.replica IS NOT NULL AND t.runId IS NOT NULL')
      .andWhere((query) => {
        const alive = query
          .subQuery()
          .select('r.id')
          .from(ReplicaEntity, 'r')
          .where(`r.id = t.replica AND r.expiresAt > ${this.isPostgres ? POSTGRES_NOW : SQLITE_NOW}`);
        return `NOT EXISTS ${alive.getQuery()}`;
      })
      .limit(limit)
      .getMany();
    return rows.flatMap(({ id: taskId, contextId, owner, tenant, scope, runId, statusAt }) =>
      runId === null ? [] : [{ taskId, contextId, owner, tenant, scope, runId, statusAt }],
    );
  }

  async exclusively(work: () => Promise<void>): Promise<void> {
    // On SQLite two at once do no harm: each write is guarded, and there is one at a time.
    if (!this.isPostgres) return work();
    const { tablePath } = this.dataSource.getMetadata(TaskEntity);
    // Not one of the host's pool, which the work itself needs.
    const client = await openConnection(this.dataSource, 'sweeper', () => undefined);
    try {
      // A lock of a transaction: it also holds behind a pooler, and goes with the connection.
      await client.query('BEGIN');
      const { rows } = await client.query<{ readonly locked: boolean }>(
        'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS locked',
        [LOCK, tablePath],
      );
      if (rows[0]?.locked) await work();
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  sweepUpdates(settledBefore: number): Promise<void> {
    return this.sweeper.sweep(settledBefore);
  }
}
