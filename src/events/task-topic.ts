import { Subject, type Subscription } from 'rxjs';
import type { TaskKey } from '../store/task-key.js';
import type { VersionedUpdate } from '../store/task-update.js';
import type { TaskEvent } from './task-event.js';

/** What the followers of a task are told. */
export type TaskSignal =
  | { readonly kind: 'event'; readonly event: TaskEvent }
  /** Updates up to this version can no longer be told one by one. */
  | { readonly kind: 'missed'; readonly version: number }
  /** The task is not there any more. */
  | { readonly kind: 'removed' };

/**
 * The place of one task in the order of its updates, where these come from this process and from others.
 *
 * - Each update is told once, and in the order of versions.
 * - An update of this process that comes before its time waits for those before it.
 * - An update that this process has published is told as it was published, whichever way it comes back.
 */
export class TaskTopic {
  /** How many writes of this process are under way. */
  writers = 0;
  private position: number | undefined;
  private readonly signals = new Subject<TaskSignal>();
  private readonly early = new Map<number, TaskEvent>();

  constructor(readonly key: TaskKey) {}

  /** The version of the last update that was told; `undefined` while nobody has said where to begin. */
  get version(): number | undefined {
    return this.position;
  }

  get isFollowed(): boolean {
    return this.signals.observed;
  }

  subscribe(follower: (signal: TaskSignal) => void): Subscription {
    return this.signals.subscribe(follower);
  }

  /** Says where to begin, unless that is known. */
  begin(version: number): void {
    this.position ??= version;
  }

  /** Tells an update as it comes, without a look at its version. */
  pass(event: TaskEvent): void {
    this.signals.next({ kind: 'event', event });
  }

  /**
   * Takes an update of this process.
   *
   * @returns whether it has been told; otherwise updates of others are missing before it
   */
  take(event: TaskEvent): boolean {
    const { version } = event;
    const position = (this.position ??= version - 1);
    if (version === position + 1) this.tell(event);
    else if (version > position) this.early.set(version, event);
    return version <= position + 1;
  }

  /** Takes updates that were read from the store: without a gap among them, but perhaps with one before them. */
  deliver(updates: readonly VersionedUpdate[]): void {
    for (const { version, update } of updates) {
      if (this.position === undefined || version <= this.position) continue;
      if (version > this.position + 1) this.miss(version - 1);
      this.tell(this.early.get(version) ?? { key: this.key, version, update, runId: null });
    }
  }

  /** Skips updates up to a version, and says so. */
  miss(version: number): void {
    if (this.position === undefined || version <= this.position) return;
    this.position = version;
    for (const early of this.early.keys()) if (early <= version) this.early.delete(early);
    this.signals.next({ kind: 'missed', version });
    this.tellEarly();
  }

  /** Says that the task is not there any more. */
  remove(): void {
    this.signals.next({ kind: 'removed' });
  }

  private tell(event: TaskEvent): void {
    this.position = event.version;
    this.early.delete(event.version);
    this.pass(event);
    this.tellEarly();
  }

  private tellEarly(): void {
    const next = this.position === undefined ? undefined : this.early.get(this.position + 1);
    if (next) this.tell(next);
  }
}

/** Names the topic of a task. The owner is part of it, so that no event can reach another owner's follower. */
export function topicName({ owner, id }: TaskKey): string {
  return JSON.stringify([owner, id]);
}
