import type { DataSource } from 'typeorm';
import { TERMINAL_STATES } from '#protocol';
import { isRecordNotFound } from '../store-errors.js';
import type { AmbiguousWrites } from './ambiguous-writes.js';
import { snapshotOf, type TaskSnapshot } from './row-mapping.js';
import type { NumberedSql } from './numbered-sql.js';
import type { TableNames } from './table-names.js';
import type { TaskRows } from './task.rows.js';

/** How many tasks are looked at at once. */
const BATCH = 100;

/** A task that has settled, and whose updates are still there one by one. */
interface SettledTask {
  readonly id: string;
  readonly owner: string;
  readonly version: number;
  /** Whether its snapshot does not hold all of them: it was settled by somebody who is not its run. */
  readonly behind: boolean | number;
}

/**
 * Removes the updates of settled tasks, which are read from their snapshots from then on. Those that a durable push config
 * still waits for stay.
 */
export class UpdateSweeper {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tables: TableNames,
    private readonly rows: TaskRows,
    private readonly writes: AmbiguousWrites,
    private readonly sql: NumberedSql,
  ) {}

  /** @param settledBefore epoch milliseconds */
  async sweep(settledBefore: number): Promise<void> {
    await this.removeOrphans();
    for (;;) {
      const settled = await this.settled(settledBefore);
      let swept = 0;
      for (const task of settled) if (await this.compact(task)) swept++;
      // What somebody else is at comes up again.
      if (settled.length < BATCH || swept === 0) return;
    }
  }

  /** Configs that were made while their task was being removed. */
  private async removeOrphans(): Promise<void> {
    const { task, pushConfig } = this.tables;
    await this.sql.run([
      `DELETE FROM ${pushConfig} WHERE NOT EXISTS (SELECT 1 FROM ${task} t WHERE t.id = task_id)`,
      [],
    ]);
  }

  /** @returns whether the updates are gone */
  private async compact({ id, owner, version: expected, behind }: SettledTask): Promise<boolean> {
    const snapshot = behind ? await this.snapshot(id, owner) : null;
    if (snapshot === undefined) return true;
    return (await this.writes.write({ kind: 'compact', id, owner, expected, snapshot })) !== null;
  }

  /** @returns `undefined` when the task has been removed */
  private async snapshot(id: string, owner: string): Promise<TaskSnapshot | undefined> {
    try {
      return snapshotOf((await this.rows.read({ id, owner })).task);
    } catch (error) {
      if (isRecordNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Goes from one task that has updates to the next, whatever their number. */
  private settled(settledBefore: number): Promise<readonly SettledTask[]> {
    const { task, snapshot, event, pushConfig } = this.tables;
    const parameter = this.dataSource.options.type === 'postgres' ? (index: number) => `$${index}` : () => '?';
    const states = TERMINAL_STATES.map((_, index) => parameter(index + 1)).join(', ');
    return this.dataSource.query<SettledTask[]>(
      `
    WITH RECURSIVE logged(id) AS (
      SELECT min(task_id) FROM ${event}
      UNION ALL
      SELECT (SELECT min(e.task_id) FROM ${event} e WHERE e.task_id > logged.id) FROM logged WHERE logged.id IS NOT NULL
    )
    SELECT t.id, t.owner, t.version, s.version < t.version AS behind
    FROM logged JOIN ${task} t ON t.id = logged.id JOIN ${snapshot} s ON s.task_id = t.id
    WHERE t.state IN (${states}) AND t.updated_at < ${parameter(TERMINAL_STATES.length + 1)}
      AND NOT EXISTS (SELECT 1 FROM ${pushConfig} p WHERE p.task_id = t.id AND p.due_at IS NOT NULL AND p.delivered < t.version)
    LIMIT ${parameter(TERMINAL_STATES.length + 2)}`,
      [...TERMINAL_STATES, settledBefore, BATCH],
    );
  }
}
