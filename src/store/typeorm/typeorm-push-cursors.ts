import type { PushConfigKey } from '../push-config.record.js';
import type { ClaimedPushConfig, PushClaim, PushCursors } from '../push-cursors.js';
import type { TaskKey } from '../task-key.js';
import type { NumberedSql, SqlRow } from './numbered-sql.js';
import { pushConfigRecord } from './push-config.rows.js';
import type { TableNames } from './table-names.js';

/** Follows durable configs by the columns of their rows. A config that is finished has no `due_at`. */
export class TypeOrmPushCursors implements PushCursors {
  private readonly claimStatement: string;

  constructor(
    private readonly sql: NumberedSql,
    private readonly tables: TableNames,
  ) {
    this.claimStatement = claimStatement(sql, tables);
  }

  async claim({ worker, lease, limit, perOwner, busy }: PushClaim): Promise<readonly ClaimedPushConfig[]> {
    const counts = JSON.stringify(Object.fromEntries(busy));
    const [rows = []] = await this.sql.run([this.claimStatement, [worker, lease, limit, perOwner, counts]]);
    return rows.map(claimedOf);
  }

  async advance(key: PushConfigKey, worker: string, version: number, lease: number): Promise<boolean> {
    const changes = `delivered = CAST($5 AS integer), attempts = 0, failing_since = NULL,
      due_at = ${this.sql.now}, claimed_until = ${this.sql.now} + CAST($6 AS bigint)`;
    return this.change(changes, key, worker, version, lease);
  }

  async postpone(key: PushConfigKey, worker: string, delay: number): Promise<void> {
    const changes = `attempts = attempts + 1, failing_since = COALESCE(failing_since, ${this.sql.now}),
      due_at = ${this.sql.now} + CAST($5 AS bigint), ${FREE}`;
    await this.change(changes, key, worker, Math.round(delay));
  }

  async release(key: PushConfigKey, worker: string, rest: number): Promise<void> {
    await this.change(`due_at = ${this.sql.now} + CAST($5 AS bigint), ${FREE}`, key, worker, Math.round(rest));
    // What came since the worker last looked found a config that was not at rest, and had nothing to awaken.
    if (rest > 0) await this.awaken({ id: key.taskId, owner: key.owner });
  }

  async awaken({ id, owner }: TaskKey): Promise<void> {
    const { pushConfig, task } = this.tables;
    const statement = `
      UPDATE ${pushConfig} SET due_at = ${this.sql.now}
      WHERE task_id = $1 AND owner = $2 AND attempts = 0 AND due_at > ${this.sql.now}
        AND delivered < (SELECT version FROM ${task} WHERE id = $1)`;
    await this.sql.run([statement, [id, owner]]);
  }

  async finish(key: PushConfigKey, worker: string): Promise<void> {
    await this.change(`due_at = NULL, ${FREE}`, key, worker);
  }

  /** @returns whether the config was the worker's */
  private async change(changes: string, key: PushConfigKey, worker: string, ...values: number[]): Promise<boolean> {
    const { id, taskId, owner } = key;
    const statement = `
      UPDATE ${this.tables.pushConfig} SET ${changes}
      WHERE task_id = $1 AND id = $2 AND owner = $3 AND claimed_by = $4 AND due_at IS NOT NULL
      RETURNING id`;
    const [rows = []] = await this.sql.run([statement, [taskId, id, owner, worker, ...values]]);
    return rows.length > 0;
  }
}

const FREE = 'claimed_by = NULL, claimed_until = NULL';

/** `$1` the worker, `$2` the lease, `$3` the limit, `$4` that of an owner, `$5` what owners have, as a JSON object. */
function claimStatement({ now, isPostgres }: NumberedSql, { pushConfig, task }: TableNames): string {
  const counts = isPostgres ? 'json_each_text(CAST($5 AS json))' : 'json_each($5)';
  // As a query of its own the time is taken once, so that the index by it can be used.
  const free = `p.due_at <= (SELECT ${now}) AND (p.claimed_until IS NULL OR p.claimed_until < (SELECT ${now}))`;
  return `
    UPDATE ${pushConfig} AS c SET claimed_by = $1, claimed_until = ${now} + CAST($2 AS bigint)
    FROM (
      SELECT p.task_id AS of_task, p.id AS config_id FROM ${pushConfig} p JOIN (
        SELECT p.task_id, p.id, p.due_at, COALESCE(CAST(b.value AS integer), 0)
          + row_number() OVER (PARTITION BY p.owner ORDER BY p.due_at) AS place
        FROM ${pushConfig} p JOIN ${task} t ON t.id = p.task_id LEFT JOIN ${counts} b ON b.key = p.owner
        WHERE ${free} AND t.version > p.delivered
      ) AS due ON due.task_id = p.task_id AND due.id = p.id
      WHERE due.place <= CAST($4 AS integer) AND ${free}
      ORDER BY due.due_at LIMIT CAST($3 AS integer) ${isPostgres ? 'FOR UPDATE OF p SKIP LOCKED' : ''}
    ) AS picked
    WHERE c.task_id = picked.of_task AND c.id = picked.config_id
    RETURNING config, sealed, owner, created_at, delivered, attempts,
      (SELECT t.context_id FROM ${task} t WHERE t.id = task_id) AS context_id,
      ${now} - COALESCE(failing_since, ${now}) AS failing_for`;
}

function claimedOf(row: SqlRow): ClaimedPushConfig {
  const { config, sealed, owner, created_at: createdAt, delivered, attempts, failing_for: failingFor } = row;
  return {
    record: pushConfigRecord({
      config: config as string,
      sealed: (sealed ?? null) as string | null,
      owner: owner as string,
      createdAt: createdAt as number | string,
      durable: 1,
    }),
    contextId: row['context_id'] as string,
    delivered: Number(delivered),
    attempts: Number(attempts),
    failingFor: Number(failingFor),
  };
}
