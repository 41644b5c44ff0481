import type { TableNames } from './table-names.js';
import type { CompactOperation } from './write-operation.js';

/**
 * Removes on PostgreSQL the updates of tasks that are as expected, their snapshots brought up to date before. A task that
 * somebody else is at is left for the next time, so that nobody waits for anybody.
 */
export function compactStatement({ task, snapshot, event }: TableNames): string {
  return `
WITH compact AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[])
    AS c(id, owner, expected, history, artifacts, metadata)
), locked AS (
  SELECT t.id, t.version FROM ${task} t JOIN compact c ON t.id = c.id
  WHERE (t.owner = c.owner) IS TRUE AND t.version = c.expected
  ORDER BY t.id
  FOR UPDATE OF t SKIP LOCKED
), compacted AS (
  UPDATE ${snapshot} s SET version = locked.version, history = c.history, artifacts = c.artifacts, metadata = c.metadata
  FROM locked JOIN compact c ON c.id = locked.id
  WHERE s.task_id = locked.id AND c.history IS NOT NULL
), swept AS (
  DELETE FROM ${event} e USING locked WHERE e.task_id = locked.id
)
SELECT id, version FROM locked`;
}

/** The parameters of {@link compactStatement}. */
export function compactParameters(compactions: readonly CompactOperation[]): unknown[] {
  return [
    compactions.map(({ id }) => id),
    compactions.map(({ owner }) => owner),
    compactions.map(({ expected }) => expected),
    compactions.map(({ snapshot }) => snapshot?.history ?? null),
    compactions.map(({ snapshot }) => snapshot?.artifacts ?? null),
    compactions.map(({ snapshot }) => snapshot?.metadata ?? null),
  ];
}
