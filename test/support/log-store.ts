import {
  MemoryTaskStore,
  TaskState,
  type ChannelListener,
  type StoreChannel,
  type TaskKey,
  type VersionedUpdate,
} from 'nestjs-a2a';

interface Log {
  readonly owner: string;
  readonly version: number;
  /** Updates up to this version are not there one by one. */
  readonly swept: number;
}

/** A store that another process seems to write to, and whose channel the test holds. */
export class LogStore extends MemoryTaskStore {
  /** What was sent to other processes. */
  readonly sent: string[] = [];
  /** How many versions were looked up. */
  lookUps = 0;
  isFailing = false;
  private readonly logs = new Map<string, Log>();
  private listener: ChannelListener | undefined;

  /** Brings a task to a version. */
  put({ id, owner }: TaskKey, version: number): void {
    this.logs.set(id, { swept: this.logs.get(id)?.swept ?? 0, owner, version });
  }

  /** Forgets the updates of a task up to a version. */
  sweep({ id }: TaskKey, swept: number): void {
    const log = this.logs.get(id);
    if (log) this.logs.set(id, { ...log, swept });
  }

  remove({ id }: TaskKey): void {
    this.logs.delete(id);
  }

  /** Tells of a version as another process does. */
  announce({ id }: TaskKey, version: number): void {
    this.listener?.message(`${version}:${id}`);
  }

  override async eventsAfter({ id, owner }: TaskKey, after: number, limit = Infinity): Promise<VersionedUpdate[]> {
    if (this.isFailing) throw new Error('The store is out of reach.');
    const log = this.logs.get(id);
    if (log?.owner !== owner) return [];
    const first = Math.max(after, log.swept) + 1;
    const count = Math.max(0, Math.min(limit, log.version - first + 1));
    return Array.from({ length: count }, (_, index) => ({
      version: first + index,
      update: { kind: 'status', status: { state: TaskState.Working } },
    }));
  }

  override async versionsOf(keys: readonly TaskKey[]): Promise<ReadonlyMap<string, number>> {
    if (this.isFailing) throw new Error('The store is out of reach.');
    this.lookUps += keys.length;
    const found = new Map<string, number>();
    for (const { id, owner } of keys) {
      const log = this.logs.get(id);
      if (log?.owner === owner) found.set(id, log.version);
    }
    return found;
  }

  override openChannel(listener: ChannelListener): StoreChannel {
    this.listener = listener;
    return {
      send: async (text) => void this.sent.push(text),
      close: async () => {},
    };
  }
}
