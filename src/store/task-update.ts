import type { Artifact, JsonObject, Message, TaskStatus } from '#protocol';

/** A change of a task's status. Its message, if any, enters the history. */
export interface StatusUpdate {
  readonly kind: 'status';
  readonly status: TaskStatus;
  readonly metadata?: JsonObject;
}

/** An artifact, or a chunk of one. */
export interface ArtifactUpdate {
  readonly kind: 'artifact';
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
  readonly metadata?: JsonObject;
}

/** A message of the client that enters the history of an existing task. */
export interface MessageUpdate {
  readonly kind: 'message';
  readonly message: Message;
}

/** One step in the life of a task. Each moves the task's version by one. */
export type TaskUpdate = StatusUpdate | ArtifactUpdate | MessageUpdate;

/** An update with the version that it gave the task. */
export interface VersionedUpdate {
  readonly version: number;
  readonly update: TaskUpdate;
}
