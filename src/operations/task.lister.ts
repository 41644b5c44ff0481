import { Injectable } from '@nestjs/common';
import type { CallContext } from '../context/call-context.js';
import { isVisible, UNNARROWED } from '../context/tier.js';
import { compareCursors, type ListCursor } from '../store/cursor.js';
import type { TaskRecord } from '../store/task-record.js';
import { TaskStore, type TaskPage, type TaskQuery } from '../store/task.store.js';
import { TaskReader } from './task.reader.js';

/** How many tasks are read at once when the owner's tasks are walked through. */
const WALK_PAGE = 100;

/**
 * Lists the tasks that a caller may see, whatever the store can filter.
 *
 * - Page, total and cursor never count a task that the caller may not see.
 * - A store that claims to filter tiers and does not hands out no task for it.
 */
@Injectable()
export class TaskLister {
  constructor(
    private readonly store: TaskStore,
    private readonly reader: TaskReader,
  ) {}

  /** @throws {InternalError} when the store fails */
  async list(query: TaskQuery, call: CallContext): Promise<TaskPage> {
    if (!this.store.filtersTiers) return this.walk(query, call);
    const page = await this.ask(query, call);
    return { ...page, records: page.records.filter((record) => isVisible(record, query.tier)) };
  }

  private async walk(query: TaskQuery, call: CallContext): Promise<TaskPage> {
    const { after, limit, tier } = query;
    const records: TaskRecord[] = [];
    let total = 0;
    let behind = 0;
    let place: ListCursor | undefined;
    for (;;) {
      const step: TaskQuery = {
        ...query,
        tier: { owner: tier.owner, tenant: tier.tenant, scope: UNNARROWED },
        limit: WALK_PAGE,
      };
      const page = await this.ask(place ? { ...step, after: place } : withoutPlace(step), call);
      const visible = page.records.filter((record) => isVisible(record, tier));
      const due = visible.filter((record) => !after || compareCursors(placeOf(record), after) > 0);
      total += visible.length;
      behind += due.length;
      records.push(...due.slice(0, limit - records.length));
      const last = page.records.at(-1);
      if (!page.more || !last) return { records, total, more: behind > records.length };
      place = placeOf(last);
    }
  }

  private ask(query: TaskQuery, call: CallContext): Promise<TaskPage> {
    return this.reader.ask(this.store.list(query, call.signal), call);
  }
}

function withoutPlace({ after: _after, ...query }: TaskQuery): TaskQuery {
  return query;
}

function placeOf({ statusAt, task }: TaskRecord): ListCursor {
  return { statusAt, id: task.id };
}
