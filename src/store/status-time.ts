import { parseTimestamp, type TaskStatus } from '#protocol';

/** The time of a status in epoch milliseconds: what lists are ordered by. */
export function statusTime({ timestamp }: TaskStatus): number {
  return (timestamp === undefined ? undefined : parseTimestamp(timestamp)) ?? 0;
}
