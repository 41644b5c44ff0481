import { placeOf, type ListCursor } from './cursor.js';
import type { TaskRecord } from './task-record.js';
import type { TaskPage, TaskQuery } from './task.store.js';

/** How many tasks are read at once. */
const PAGE = 100;

/**
 * Walks through all tasks that match, page by page, newest status first.
 *
 * @param list asks for one page
 */
export async function* taskPages(
  query: Omit<TaskQuery, 'after' | 'limit'>,
  list: (query: TaskQuery) => Promise<TaskPage>,
): AsyncGenerator<readonly TaskRecord[], void> {
  for (let after: ListCursor | undefined; ;) {
    const { records, more } = await list({ ...query, limit: PAGE, ...(after && { after }) });
    yield records;
    const last = records.at(-1);
    if (!more || !last) return;
    after = placeOf(last);
  }
}
