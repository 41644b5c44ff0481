import {
  MemoryPushConfigStore,
  MemoryTaskStore,
  type PushConfigKey,
  type PushConfigRecord,
  type TaskAppend,
  type TaskDraft,
  type TaskKey,
  type TaskRecord,
  type TaskWritten,
} from 'nestjs-a2a';
import { Gate } from './gate.js';

/** Push configs in memory, whose operations a test can hold up before they act. */
export class GatedPushConfigs extends MemoryPushConfigStore {
  /** The signals that reads were given, in order. */
  readonly signals: (AbortSignal | undefined)[] = [];
  private readonly gates = new Map<'create' | 'read' | 'list' | 'remove', Gate>();

  hold(operation: 'create' | 'read' | 'list' | 'remove'): Gate {
    const gate = new Gate();
    this.gates.set(operation, gate);
    return gate;
  }

  override async create(record: PushConfigRecord, keep: number): Promise<void> {
    await this.gates.get('create')?.pass();
    return super.create(record, keep);
  }

  override async read(key: PushConfigKey, signal?: AbortSignal): Promise<PushConfigRecord | undefined> {
    this.signals.push(signal);
    await this.gates.get('read')?.pass();
    return super.read(key);
  }

  override async list(task: Omit<PushConfigKey, 'id'>, signal?: AbortSignal): Promise<readonly PushConfigRecord[]> {
    this.signals.push(signal);
    await this.gates.get('list')?.pass();
    return super.list(task);
  }

  override async remove(key: PushConfigKey): Promise<void> {
    await this.gates.get('remove')?.pass();
    return super.remove(key);
  }
}

/** A store in memory that notes the configs that come with tasks, and whose own configs a test can hold up. */
export class NotingStore extends MemoryTaskStore {
  override readonly pushConfigs = new GatedPushConfigs();
  /** What came with a task or an update, in order. */
  readonly noted: PushConfigRecord[] = [];
  /** The signals that reads of tasks were given, in order. */
  readonly signals: (AbortSignal | undefined)[] = [];
  private gate: Gate | undefined;

  /** Holds up reads of tasks. */
  holdReads(): Gate {
    return (this.gate = new Gate());
  }

  override async read(key: TaskKey, signal?: AbortSignal): Promise<TaskRecord> {
    this.signals.push(signal);
    await this.gate?.pass();
    return super.read(key);
  }

  override create(draft: TaskDraft): Promise<void> {
    if (draft.push) this.noted.push(draft.push.record);
    return super.create(draft);
  }

  override append(append: TaskAppend): Promise<TaskWritten> {
    if (append.push) this.noted.push(append.push.record);
    return super.append(append);
  }
}
