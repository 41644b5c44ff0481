import {
  MemoryTaskStore,
  type TaskAppend,
  type TaskDraft,
  type TaskKey,
  type TaskPage,
  type TaskQuery,
  type TaskRecord,
  type TaskSettle,
  type TaskWritten,
} from 'nestjs-a2a';
import { Gate } from './gate.js';

/** The operations of a store that can be held up. */
export type StoreOperation = 'create' | 'append' | 'settle' | 'discard' | 'read' | 'list';

/** One call of a store, as it came in. */
export interface StoreCall {
  readonly operation: StoreOperation;
  /** The caller's signal, for operations that are given one. */
  readonly signal: AbortSignal | undefined;
}

/** A store in memory whose operations a test can hold up, before they act or before their answer is given. */
export class GatedStore extends MemoryTaskStore {
  /** Every call, in the order in which they came. */
  readonly calls: StoreCall[] = [];
  private readonly before = new Map<StoreOperation, Gate>();
  private readonly after = new Map<StoreOperation, Gate>();
  private readonly failures = new Map<StoreOperation, Error>();

  /** Holds up an operation: `before` it acts, or `after` it has and before its caller learns of it. */
  hold(operation: StoreOperation, when: 'before' | 'after'): Gate {
    const gate = new Gate();
    this[when].set(operation, gate);
    return gate;
  }

  /** Makes an operation fail until further notice; with `undefined` it works again. */
  fail(operation: StoreOperation, error: Error | undefined): void {
    if (error) this.failures.set(operation, error);
    else this.failures.delete(operation);
  }

  /** How often an operation was called. */
  count(operation: StoreOperation): number {
    return this.calls.filter((call) => call.operation === operation).length;
  }

  override create(draft: TaskDraft): Promise<void> {
    return this.gated('create', () => super.create(draft));
  }

  override append(append: TaskAppend): Promise<TaskWritten> {
    return this.gated('append', () => super.append(append));
  }

  override settle(settle: TaskSettle): Promise<TaskWritten | null> {
    return this.gated('settle', () => super.settle(settle));
  }

  override discard(key: TaskKey, expected: number): Promise<boolean> {
    return this.gated('discard', () => super.discard(key, expected));
  }

  override read(key: TaskKey, signal?: AbortSignal): Promise<TaskRecord> {
    return this.gated('read', () => super.read(key), signal);
  }

  override list(query: TaskQuery, signal?: AbortSignal): Promise<TaskPage> {
    return this.gated('list', () => super.list(query), signal);
  }

  private async gated<T>(operation: StoreOperation, act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.calls.push({ operation, signal });
    await this.before.get(operation)?.pass();
    const failure = this.failures.get(operation);
    if (failure) throw failure;
    const result = await act();
    await this.after.get(operation)?.pass();
    return result;
  }
}
