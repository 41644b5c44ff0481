import { createHash } from 'node:crypto';
import type { TaskRecord } from './task-record.js';

/**
 * The place of a task in the order of lists: newest status first, then by id, both descending.
 *
 * @see A2A v1.0 §3.1.4 List Tasks
 */
export interface ListCursor {
  /** Epoch milliseconds. */
  readonly statusAt: number;
  readonly id: string;
}

/** The place at which lists show a task. */
export function placeOf({ statusAt, task }: Pick<TaskRecord, 'statusAt' | 'task'>): ListCursor {
  return { statusAt, id: task.id };
}

const FORMAT = /^1:[\w-]{8}:(\d{1,16}):(.{1,256})$/su;

/** Writes a cursor as an opaque page token. */
export function encodeCursor({ statusAt, id }: ListCursor): string {
  const place = `${statusAt}:${id}`;
  return Buffer.from(`1:${checksum(place)}:${place}`, 'utf8').toString('base64url');
}

/**
 * Reads a page token. It names a place and nothing else: what a caller sees there is decided by who the caller is.
 *
 * @returns `undefined` when this is no token of ours
 */
export function decodeCursor(token: string): ListCursor | undefined {
  const match = FORMAT.exec(Buffer.from(token, 'base64url').toString('utf8'));
  if (!match) return undefined;
  const cursor = { statusAt: Number(match[1]), id: match[2] ?? '' };
  // Lenient decoding would accept many spellings of one token, and the checksum has not been looked at.
  return encodeCursor(cursor) === token ? cursor : undefined;
}

/** Tells a token that was cut off or changed. It is no secret: a forged place shows nobody more than a true one. */
function checksum(place: string): string {
  return createHash('sha256').update(place).digest('base64url').slice(0, 8);
}

/** Compares two places: negative when `a` stands before `b` in a list. */
export function compareCursors(a: ListCursor, b: ListCursor): number {
  return b.statusAt - a.statusAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}
