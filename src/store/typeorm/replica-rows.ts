import type { TableNames } from './table-names.js';

/** Epoch milliseconds by the clock of the database. */
export const POSTGRES_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** Epoch milliseconds by the clock of the machine, which all processes on one file share. */
export const SQLITE_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** How long the row of a process that ended is kept, in milliseconds. It says no more than that there is none. */
export const REPLICA_RETENTION = 3_600_000;

/** Notes on PostgreSQL that a process lives: its id is parameter 1, for how long parameter 2. */
export function beatStatement({ replica }: TableNames): string {
  return `
WITH known AS (
  SELECT expires_at > ${POSTGRES_NOW} AS held FROM ${replica} WHERE id = $1
), buried AS (
  DELETE FROM ${replica} WHERE id <> $1 AND expires_at < ${POSTGRES_NOW} - ${REPLICA_RETENTION}
)
INSERT INTO ${replica} (id, expires_at) VALUES ($1, ${POSTGRES_NOW} + $2)
ON CONFLICT (id) DO UPDATE SET expires_at = EXCLUDED.expires_at
RETURNING COALESCE((SELECT held FROM known), false) AS held`;
}
