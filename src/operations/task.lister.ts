import { Injectable } from '@nestjs/common';
import type { CallContext } from '../context/call-context.js';
import { isVisible, UNNARROWED } from '../context/tier.js';
import { compareCursors, placeOf } from '../store/cursor.js';
import { taskPages } from '../store/task-pages.js';
import type { TaskRecord } from '../store/task-record.js';
import { TaskStore, type TaskPage, type TaskQuery } from '../store/task.store.js';
import { TaskReader } from './task.reader.js';

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
    const { after, limit, tier, ...filters } = query;
    const records: TaskRecord[] = [];
    let total = 0;
    let behind = 0;
    const everything = { ...filters, tier: { ...tier, scope: UNNARROWED } };
    for await (const page of taskPages(everything, (step) => this.ask(step, call))) {
      const visible = page.filter((record) => isVisible(record, tier));
      const due = visible.filter((record) => !after || compareCursors(placeOf(record), after) > 0);
      total += visible.length;
      behind += due.length;
      records.push(...due.slice(0, limit - records.length));
    }
    return { records, total, more: behind > records.length };
  }

  private ask(query: TaskQuery, call: CallContext): Promise<TaskPage> {
    return this.reader.ask(this.store.list(query, call.signal), call);
  }
}
