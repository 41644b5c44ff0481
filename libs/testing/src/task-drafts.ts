import { randomUUID } from 'node:crypto';
import {
  applyUpdate,
  TaskState,
  UNNARROWED,
  type Artifact,
  type ArtifactUpdate,
  type JsonObject,
  type Message,
  type MessageUpdate,
  type Part,
  type StatusUpdate,
  type TaskAppend,
  type TaskDraft,
  type TaskKey,
  type TaskRecord,
  type TaskSettle,
  type TaskStore,
  type TaskUpdate,
} from 'nestjs-a2a';

/** The time at which drafts are made when a test does not care, in epoch milliseconds. */
export const DRAFT_TIME = Date.UTC(2026, 0, 1, 12);

/** What a test's draft differs in. */
export type DraftFields = Partial<Omit<TaskDraft, 'task'>> & {
  readonly id?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
  readonly history?: Message[];
  readonly artifacts?: Artifact[];
  readonly metadata?: JsonObject;
};

/** A task that is to be created, SUBMITTED unless said otherwise. */
export function draftOf(fields: DraftFields = {}): TaskDraft {
  const { id = randomUUID(), contextId = `context-${id}`, at = DRAFT_TIME } = fields;
  const { state = TaskState.Submitted, history = [messageOf(`first of ${id}`)], artifacts, metadata } = fields;
  return {
    task: {
      id,
      contextId,
      status: { state, timestamp: new Date(at).toISOString() },
      history,
      ...(artifacts && { artifacts }),
      ...(metadata && { metadata }),
    },
    owner: fields.owner ?? `owner-of-${id}`,
    tenant: fields.tenant ?? '',
    scope: fields.scope ?? UNNARROWED,
    skillId: fields.skillId ?? 'a-skill',
    runId: fields.runId === undefined ? 'run-1' : fields.runId,
    updates: fields.updates ?? [],
    at,
  };
}

/** The key of a draft's task. */
export function keyOf({ task, owner }: Pick<TaskDraft, 'task' | 'owner'>): TaskKey {
  return { id: task.id, owner };
}

export function messageOf(content: string | Part[], role: Message['role'] = 'ROLE_USER'): Message {
  return { messageId: randomUUID(), role, parts: typeof content === 'string' ? [{ text: content }] : content };
}

/** A change of status, with an agent message when a text is given. */
export function statusOf(state: TaskState, at = DRAFT_TIME, text?: string, metadata?: JsonObject): StatusUpdate {
  return {
    kind: 'status',
    status: {
      state,
      ...(text !== undefined && { message: messageOf(text, 'ROLE_AGENT') }),
      timestamp: new Date(at).toISOString(),
    },
    ...(metadata && { metadata }),
  };
}

export function artifactOf(
  artifactId: string,
  parts: Part[],
  fields: Partial<Artifact> & { readonly append?: boolean } = {},
): ArtifactUpdate {
  const { append = false, ...rest } = fields;
  return { kind: 'artifact', artifact: { artifactId, parts, ...rest }, append, lastChunk: false };
}

export function messageUpdateOf(text: string): MessageUpdate {
  return { kind: 'message', message: messageOf(text) };
}

/** An append to a task as it was read. */
export function appendTo(
  record: TaskRecord,
  updates: readonly TaskUpdate[],
  fields: Partial<Pick<TaskAppend, 'expected' | 'runId' | 'at' | 'key'>> = {},
): TaskAppend {
  return {
    key: keyOf(record),
    expected: record.version,
    runId: 'run-1',
    at: DRAFT_TIME,
    updates,
    task: () => {
      const task = structuredClone(record.task);
      updates.forEach((update) => {
        applyUpdate(task, structuredClone(update), 200);
      });
      return task;
    },
    ...fields,
  };
}

/** Reads a task, appends to it, and reads it again. */
export async function appended(
  store: TaskStore,
  key: TaskKey,
  updates: readonly TaskUpdate[],
  fields: Partial<Pick<TaskAppend, 'runId' | 'at'>> = {},
): Promise<TaskRecord> {
  await store.append(appendTo(await store.read(key), updates, fields));
  return store.read(key);
}

/** A settle as a cancel makes it. */
export function settleOf(key: TaskKey, update: StatusUpdate, fields: Partial<TaskSettle> = {}): TaskSettle {
  return {
    key,
    guard: [TaskState.Submitted, TaskState.Working, TaskState.InputRequired, TaskState.AuthRequired],
    update,
    at: DRAFT_TIME,
    ...fields,
  };
}
