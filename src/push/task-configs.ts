import type { StoredWrite } from '../events/stored-write.js';
import type { PushConfigRecord } from '../store/push-config.record.js';
import { ConfigQueue } from './config-queue.js';

/** What becomes of the writes of a task. */
export interface TaskConfigsHooks {
  /** A write is to be brought to these. */
  readonly write: (queues: readonly ConfigQueue[], write: StoredWrite) => void;
  /** Writes up to a version have been left out: these are to get the task as it is. */
  readonly behind: (queues: readonly ConfigQueue[], version: number) => void;
  /** A config is not there any more. */
  readonly removed: (queue: ConfigQueue) => void;
  /** The configs could not be read; the write is left out. */
  readonly failed: (error: unknown) => void;
}

/** How many writes of a task wait while its configs are read. */
const MAX_INBOX = 64;

/** The configs of one task, read again whenever they have changed, and its writes on their way to them, in order. */
export class TaskConfigs {
  private readonly queues = new Map<string, ConfigQueue>();
  /** How often the configs had changed when they were read. */
  private revision: number | undefined;
  private inbox: StoredWrite[] = [];
  private isBehind = false;
  private isDraining = false;
  private drained = Promise.resolve();

  constructor(
    private readonly task: { readonly taskId: string; readonly owner: string },
    private readonly read: () => Promise<readonly PushConfigRecord[]>,
    private readonly hooks: TaskConfigsHooks,
  ) {}

  get isIdle(): boolean {
    return !this.isDraining && [...this.queues.values()].every(({ isActive, hasWork }) => !isActive && !hasWork);
  }

  /** Takes a write that this process has stored. */
  take(write: StoredWrite): void {
    this.inbox.push(write);
    if (this.inbox.length > MAX_INBOX) {
      this.inbox = [write];
      this.isBehind = true;
    }
    if (!this.isDraining) this.drained = this.drain();
  }

  /** Takes a config out. */
  remove(id: string): void {
    const queue = this.queues.get(id);
    this.queues.delete(id);
    if (queue) this.hooks.removed(queue);
  }

  /** Drops the writes that are not on their way yet. */
  clear(): void {
    this.inbox = [];
  }

  /** Waits until all writes are on their way. */
  async idle(): Promise<void> {
    await this.drained;
  }

  private async drain(): Promise<void> {
    this.isDraining = true;
    for (let write = this.inbox[0]; write; write = this.inbox[0]) {
      try {
        if (write.pushRev === undefined || write.pushRev !== this.revision) await this.refresh(write.pushRev);
        this.bring(write);
      } catch (error) {
        this.hooks.failed(error);
      }
      // The inbox may have been replaced meanwhile.
      if (this.inbox[0] === write) this.inbox.shift();
    }
    this.isDraining = false;
  }

  private bring(write: StoredWrite): void {
    const queues = [...this.queues.values()];
    if (queues.length === 0) return;
    if (this.isBehind) this.hooks.behind(queues, this.inbox.at(-1)?.version ?? write.version);
    else this.hooks.write(queues, write);
    this.isBehind = false;
  }

  private async refresh(revision: number | undefined): Promise<void> {
    const records = await this.read();
    this.revision = revision;
    // Durable ones are brought by their cursors.
    const known = new Set(records.filter(({ durable }) => !durable).map(({ config }) => config.id));
    for (const id of this.queues.keys()) if (!known.has(id)) this.remove(id);
    for (const id of known) {
      if (!this.queues.has(id)) this.queues.set(id, new ConfigQueue({ ...this.task, id }));
    }
  }
}
