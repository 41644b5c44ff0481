import type { TableNames } from './table-names.js';
import type { ChangeOperation, InsertOperation, RemoveOperation } from './write-operation.js';

/**
 * The one statement of the writer: changes tasks and logs their updates, inserts and removes tasks, each only as expected.
 *
 * Parameters are columns of rows: 1 to 15 those of changes, 16 to 19 those of their updates, 20 to 35 those of new tasks,
 * 36 to 38 those of tasks to be removed.
 *
 * `(owner = …) IS TRUE` keeps a plan that was cached on an empty table from taking the index by owner instead of the id.
 */
export function writeStatement({ task, snapshot, event, count, pushConfig }: TableNames): string {
  return `
WITH change AS (
  SELECT * FROM unnest(
    $1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::bigint[],
    $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[]
  ) AS c(id, owner, expected, guard, held_by, steps, state, status, status_at, at, run_id, replica, history, artifacts,
    metadata)
), changed AS (
  UPDATE ${task} t SET
    version = t.version + c.steps,
    state = COALESCE(c.state, t.state),
    status = COALESCE(c.status, t.status),
    status_at = GREATEST(t.status_at, c.status_at),
    updated_at = GREATEST(t.updated_at, c.at),
    run_id = c.run_id,
    replica = c.replica
  FROM change c
  WHERE t.id = c.id AND (t.owner = c.owner) IS TRUE
    AND (c.expected IS NULL OR t.version = c.expected)
    AND (c.guard IS NULL OR t.state = ANY (string_to_array(c.guard, ',')))
    AND (c.held_by IS NULL OR t.run_id = c.held_by)
  RETURNING t.id, t.version, c.steps
), logged AS (
  INSERT INTO ${event} (task_id, version, kind, json)
  SELECT e.task_id, changed.version - changed.steps + e.step, e.kind, e.json
  FROM unnest($16::text[], $17::int[], $18::text[], $19::text[]) AS e(task_id, step, kind, json)
  JOIN changed ON changed.id = e.task_id
), snapshotted AS (
  UPDATE ${snapshot} s SET version = changed.version, history = c.history, artifacts = c.artifacts, metadata = c.metadata
  FROM changed JOIN change c ON c.id = changed.id
  WHERE s.task_id = changed.id AND c.history IS NOT NULL
), fresh AS (
  SELECT * FROM unnest(
    $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::bigint[], $27::bigint[], $28::int[],
    $29::text[], $30::text[], $31::text[], $32::text[], $33::text[], $34::text[], $35::text[]
  ) AS f(id, owner, tenant, scope, context_id, skill_id, at, status_at, version, state, status, run_id, replica, history,
    artifacts, metadata)
), inserted AS (
  INSERT INTO ${task}
    (id, owner, tenant, scope, context_id, skill_id, created_at, updated_at, status_at, version, state, status, run_id,
     replica, push_rev)
  SELECT id, owner, tenant, scope, context_id, skill_id, at, at, status_at, version, state, status, run_id, replica,
    0 FROM fresh
  ON CONFLICT (id) DO NOTHING
  RETURNING id, version, owner, tenant, scope
), begun AS (
  INSERT INTO ${snapshot} (task_id, version, history, artifacts, metadata)
  SELECT fresh.id, fresh.version, fresh.history, fresh.artifacts, fresh.metadata FROM fresh JOIN inserted ON inserted.id = fresh.id
), removed AS (
  DELETE FROM ${task} t
  USING unnest($36::text[], $37::text[], $38::int[]) AS r(id, owner, expected)
  WHERE t.id = r.id AND (t.owner = r.owner) IS TRUE AND (r.expected IS NULL OR t.version = r.expected)
  RETURNING t.id, t.version, t.owner, t.tenant, t.scope
), forgotten AS (
  DELETE FROM ${snapshot} s USING removed WHERE s.task_id = removed.id
), unlogged AS (
  DELETE FROM ${event} e USING removed WHERE e.task_id = removed.id
), untold AS (
  DELETE FROM ${pushConfig} p USING removed WHERE p.task_id = removed.id
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
SELECT id, version FROM changed
UNION ALL SELECT id, version FROM inserted
UNION ALL SELECT id, version FROM removed`;
}

/** The parameters of changes and their updates. */
export function changeParameters(changes: readonly ChangeOperation[]): unknown[] {
  const events = changes.flatMap(({ id, events: ofTask }) =>
    ofTask.map(({ kind, json }, index) => ({ id, step: index + 1, kind, json })),
  );
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
    events.map(({ id }) => id),
    events.map(({ step }) => step),
    events.map(({ kind }) => kind),
    events.map(({ json }) => json),
  ];
}

/** The parameters of new tasks. */
export function insertParameters(inserts: readonly InsertOperation[]): unknown[] {
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
  ];
}

/** The parameters of tasks to be removed. */
export function removeParameters(removals: readonly RemoveOperation[]): unknown[] {
  return [removals.map(({ id }) => id), removals.map(({ owner }) => owner), removals.map(({ expected }) => expected)];
}
