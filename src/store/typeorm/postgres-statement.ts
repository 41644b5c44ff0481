import { nextPlace, othersBeyond, PUSH_CONFIG_COLUMNS, replacePushConfig } from './push-config.sql.js';
import { POSTGRES_NOW } from './replica-rows.js';
import type { TableNames } from './table-names.js';
import type { ChangeOperation, InsertOperation, RemoveOperation } from './write-operation.js';

/**
 * The one statement of the writer: changes tasks and logs their updates, inserts and removes tasks, each only as expected.
 *
 * Parameters are columns of rows: 1 to 16 those of changes, 17 to 20 those of updates, 21 to 38 those of new tasks, 39 to 41
 * those of tasks to be removed, 42 to 49 those of push configs that come with a task.
 *
 * `(owner = …) IS TRUE` keeps a plan that was cached on an empty table from taking the index by owner instead of the id.
 */
export function writeStatement({ task, snapshot, event, count, pushConfig }: TableNames): string {
  return `
WITH change AS (
  SELECT * FROM unnest(
    $1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::bigint[],
    $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::int[]
  ) AS c(id, owner, expected, guard, held_by, steps, state, status, status_at, at, run_id, replica, history, artifacts,
    metadata, asks)
), changed AS (
  UPDATE ${task} t SET
    version = t.version + c.steps,
    state = COALESCE(c.state, t.state),
    status = COALESCE(c.status, t.status),
    status_at = GREATEST(t.status_at, c.status_at),
    updated_at = GREATEST(t.updated_at, c.at),
    run_id = c.run_id,
    replica = c.replica,
    push_rev = t.push_rev + c.asks
  FROM change c
  WHERE t.id = c.id AND (t.owner = c.owner) IS TRUE
    AND (c.expected IS NULL OR t.version = c.expected)
    AND (c.guard IS NULL OR t.state = ANY (string_to_array(c.guard, ',')))
    AND (c.held_by IS NULL OR t.run_id = c.held_by)
  RETURNING t.id, t.version, t.push_rev, t.version - c.steps AS base
), snapshotted AS (
  UPDATE ${snapshot} s SET version = changed.version, history = c.history, artifacts = c.artifacts, metadata = c.metadata
  FROM changed JOIN change c ON c.id = changed.id
  WHERE s.task_id = changed.id AND c.history IS NOT NULL
), fresh AS (
  SELECT * FROM unnest(
    $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::bigint[], $28::bigint[], $29::int[],
    $30::text[], $31::text[], $32::text[], $33::text[], $34::text[], $35::text[], $36::text[], $37::int[], $38::int[]
  ) AS f(id, owner, tenant, scope, context_id, skill_id, at, status_at, version, state, status, run_id, replica, history,
    artifacts, metadata, snapshot_version, asks)
), inserted AS (
  INSERT INTO ${task}
    (id, owner, tenant, scope, context_id, skill_id, created_at, updated_at, status_at, version, state, status, run_id,
     replica, push_rev)
  SELECT id, owner, tenant, scope, context_id, skill_id, at, at, status_at, version, state, status, run_id, replica,
    asks FROM fresh
  ON CONFLICT (id) DO NOTHING
  RETURNING id, version, push_rev, owner, tenant, scope
), begun AS (
  INSERT INTO ${snapshot} (task_id, version, history, artifacts, metadata)
  SELECT fresh.id, fresh.snapshot_version, fresh.history, fresh.artifacts, fresh.metadata
  FROM fresh JOIN inserted ON inserted.id = fresh.id
), written AS (
  SELECT id, version, push_rev, base FROM changed
  UNION ALL SELECT id, version, push_rev, 0 FROM inserted
), logged AS (
  INSERT INTO ${event} (task_id, version, kind, json)
  SELECT e.task_id, written.base + e.step, e.kind, e.json
  FROM unnest($17::text[], $18::int[], $19::text[], $20::text[]) AS e(task_id, step, kind, json)
  JOIN written ON written.id = e.task_id
), removed AS (
  DELETE FROM ${task} t
  USING unnest($39::text[], $40::text[], $41::int[]) AS r(id, owner, expected)
  WHERE t.id = r.id AND (t.owner = r.owner) IS TRUE AND (r.expected IS NULL OR t.version = r.expected)
  RETURNING t.id, t.version, t.push_rev, t.owner, t.tenant, t.scope
), forgotten AS (
  DELETE FROM ${snapshot} s USING removed WHERE s.task_id = removed.id
), unlogged AS (
  DELETE FROM ${event} e USING removed WHERE e.task_id = removed.id
), untold AS (
  DELETE FROM ${pushConfig} p USING removed WHERE p.task_id = removed.id
), asked AS (
  SELECT a.*, written.base
  FROM unnest(
    $42::text[], $43::text[], $44::text[], $45::bigint[], $46::text[], $47::text[], $48::int[], $49::int[]
  ) AS a(task_id, id, owner, created_at, config, sealed, durable, keep)
  JOIN written ON written.id = a.task_id
), told AS (
  INSERT INTO ${pushConfig} (${PUSH_CONFIG_COLUMNS})
  SELECT a.task_id, a.id, a.owner, ${nextPlace(pushConfig, 'a.task_id', 'a.created_at')}, a.config, a.sealed, a.durable, a.base,
    CASE WHEN a.durable = 1 THEN ${POSTGRES_NOW} END
  FROM asked a
  ${replacePushConfig(pushConfig)}
), evicted AS (
  DELETE FROM ${pushConfig} p USING asked a
  WHERE p.task_id = a.task_id AND p.id IN (${othersBeyond(pushConfig, 'a.task_id', 'a.id', 'a.keep')})
), counted AS (
  INSERT INTO ${count} AS n (owner, tenant, scope, count)
  SELECT owner, tenant, scope, sum(step)
  FROM (
    SELECT owner, tenant, scope, 1 AS step FROM inserted
    UNION ALL SELECT owner, tenant, scope, -1 FROM removed
  ) AS steps
  GROUP BY owner, tenant, scope
  ORDER BY owner, tenant, scope
  ON CONFLICT (owner, tenant, scope) DO UPDATE SET count = n.count + EXCLUDED.count
)
SELECT id, version, push_rev FROM written
UNION ALL SELECT id, version, push_rev FROM removed`;
}

/** The parameters of a batch. */
export function writeParameters(
  changes: readonly ChangeOperation[],
  inserts: readonly InsertOperation[],
  removals: readonly RemoveOperation[],
): unknown[] {
  return [
    ...changeParameters(changes),
    ...eventParameters([...changes, ...inserts]),
    ...insertParameters(inserts),
    ...removeParameters(removals),
    ...pushParameters([...changes, ...inserts]),
  ];
}

function changeParameters(changes: readonly ChangeOperation[]): unknown[] {
  return [
    changes.map(({ id }) => id),
    changes.map(({ owner }) => owner),
    changes.map(({ expected }) => expected),
    changes.map(({ guard }) => guard?.join(',') ?? null),
    changes.map(({ heldBy }) => heldBy),
    changes.map(({ events: ofTask }) => ofTask.length),
    changes.map(({ status }) => status?.state ?? null),
    changes.map(({ status }) => status?.json ?? null),
    changes.map(({ status }) => status?.at ?? null),
    changes.map(({ at }) => at),
    changes.map(({ runId }) => runId),
    changes.map(({ replica }) => replica),
    changes.map(({ snapshot }) => snapshot?.history ?? null),
    changes.map(({ snapshot }) => snapshot?.artifacts ?? null),
    changes.map(({ snapshot }) => snapshot?.metadata ?? null),
    changes.map(({ push }) => (push ? 1 : 0)),
  ];
}

function eventParameters(operations: readonly (ChangeOperation | InsertOperation)[]): unknown[] {
  const events = operations.flatMap(({ id, events: ofTask }) =>
    ofTask.map(({ kind, json }, index) => ({ id, step: index + 1, kind, json })),
  );
  return [
    events.map(({ id }) => id),
    events.map(({ step }) => step),
    events.map(({ kind }) => kind),
    events.map(({ json }) => json),
  ];
}

function insertParameters(inserts: readonly InsertOperation[]): unknown[] {
  return [
    inserts.map(({ id }) => id),
    inserts.map(({ owner }) => owner),
    inserts.map(({ tenant }) => tenant),
    inserts.map(({ scope }) => scope),
    inserts.map(({ contextId }) => contextId),
    inserts.map(({ skillId }) => skillId),
    inserts.map(({ at }) => at),
    inserts.map(({ statusAt }) => statusAt),
    inserts.map(({ version }) => version),
    inserts.map(({ state }) => state),
    inserts.map(({ status }) => status),
    inserts.map(({ runId }) => runId),
    inserts.map(({ replica }) => replica),
    inserts.map(({ snapshot }) => snapshot.history),
    inserts.map(({ snapshot }) => snapshot.artifacts),
    inserts.map(({ snapshot }) => snapshot.metadata),
    inserts.map(({ snapshotVersion }) => snapshotVersion),
    inserts.map(({ push }) => (push ? 1 : 0)),
  ];
}

function removeParameters(removals: readonly RemoveOperation[]): unknown[] {
  return [removals.map(({ id }) => id), removals.map(({ owner }) => owner), removals.map(({ expected }) => expected)];
}

function pushParameters(operations: readonly (ChangeOperation | InsertOperation)[]): unknown[] {
  const rows = operations.flatMap(({ id, owner, push }) => (push ? [{ taskId: id, owner, ...push }] : []));
  return [
    rows.map(({ taskId }) => taskId),
    rows.map(({ id }) => id),
    rows.map(({ owner }) => owner),
    rows.map(({ createdAt }) => createdAt),
    rows.map(({ config }) => config),
    rows.map(({ sealed }) => sealed),
    rows.map(({ durable }) => durable),
    rows.map(({ keep }) => keep),
  ];
}
