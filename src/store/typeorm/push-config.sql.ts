import { TERMINAL_STATES } from '#protocol';
import type { TableNames } from './table-names.js';

/** Nothing follows in these states. */
const SETTLED = TERMINAL_STATES.map((state) => `'${state}'`).join(', ');
/** SQLite takes no offset without a limit. */
const NO_LIMIT = 1_000_000;

/**
 * The time of creation under which a config stands behind all others of its task, whatever the clocks say.
 *
 * @param task what holds the id of the task
 * @param at what holds the time in epoch milliseconds
 */
export function nextPlace(table: string, task: string, at: string): string {
  return `COALESCE((SELECT max(o.created_at) + 1 FROM ${table} o WHERE o.task_id = ${task} AND o.created_at >= ${at}), ${at})`;
}

/** The ids of the oldest configs of a task, beside one, beyond so many that it may have with that one. */
export function othersBeyond(table: string, task: string, id: string, keep: string): string {
  return `
    SELECT o.id FROM ${table} o WHERE o.task_id = ${task} AND o.id <> ${id}
    ORDER BY o.created_at DESC, o.id DESC LIMIT ${NO_LIMIT} OFFSET ${keep} - 1`;
}

/** The columns of a config that are written when it is made. */
export const PUSH_CONFIG_COLUMNS = 'task_id, id, owner, created_at, config, sealed, durable, delivered, due_at';

/**
 * What becomes of a config that is replaced by one of its id. The same one again goes on from where it was; another one
 * begins with the update that it came with. Whoever had it has lost it.
 */
export function replacePushConfig(table: string): string {
  return `ON CONFLICT (task_id, id) DO UPDATE SET
    delivered = CASE WHEN ${table}.config = EXCLUDED.config AND ${table}.due_at IS NOT NULL
      THEN ${table}.delivered ELSE EXCLUDED.delivered END,
    config = EXCLUDED.config, sealed = EXCLUDED.sealed, durable = EXCLUDED.durable, due_at = EXCLUDED.due_at,
    attempts = 0, failing_since = NULL, claimed_by = NULL, claimed_until = NULL`;
}

/** What adds a config to a task, unless the task has one of its id. */
export interface AddPushConfig {
  /** Counts the change on the task: `$1` its id, `$2` its owner. */
  readonly noted: string;
  /** `$1` and `$2` as before, `$3` the id, `$4` the time, `$5` the config, `$6` what is sealed, `$7` whether it is durable. */
  readonly inserted: string;
  /** `$1` the task, `$2` the id, `$3` how many configs it may have. */
  readonly evicted: string;
}

export function addPushConfig({ task, pushConfig }: TableNames, now: string): AddPushConfig {
  return {
    noted: `UPDATE ${task} SET push_rev = push_rev + 1 WHERE id = $1 AND (owner = $2) IS TRUE RETURNING id`,
    inserted: `
      INSERT INTO ${pushConfig} (${PUSH_CONFIG_COLUMNS})
      SELECT t.id, $3, t.owner, ${nextPlace(pushConfig, 't.id', 'CAST($4 AS bigint)')}, $5, $6, CAST($7 AS integer), t.version,
        CASE WHEN CAST($7 AS integer) = 1 AND t.state NOT IN (${SETTLED}) THEN ${now} END
      FROM ${task} t WHERE t.id = $1 AND (t.owner = $2) IS TRUE
      ON CONFLICT (task_id, id) DO NOTHING
      RETURNING id`,
    evicted: `
      DELETE FROM ${pushConfig}
      WHERE task_id = $1 AND id IN (${othersBeyond(pushConfig, '$1', '$2', 'CAST($3 AS integer)')})`,
  };
}

/** What removes a config, and counts that on its task before: `$1` the task, `$2` the owner, `$3` the id. */
export interface RemovePushConfig {
  readonly noted: string;
  readonly removed: string;
}

export function removePushConfig({ task, pushConfig }: TableNames): RemovePushConfig {
  return {
    noted: `
      UPDATE ${task} SET push_rev = push_rev + 1 WHERE id = $1 AND (owner = $2) IS TRUE
        AND EXISTS (SELECT 1 FROM ${pushConfig} p WHERE p.task_id = $1 AND p.owner = $2 AND p.id = $3)`,
    removed: `DELETE FROM ${pushConfig} WHERE task_id = $1 AND owner = $2 AND id = $3`,
  };
}
