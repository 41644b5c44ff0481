import type { Artifact, JsonObject, Message, Part, SendMessageConfiguration, Task } from '#protocol';
import type { RequestSnapshot } from './request-snapshot.js';

/** A part, or a string that stands for a text part. */
export type Content = Part | string;

/** An artifact as a skill gives it: the id is minted when absent, absent parts are none. */
export type ArtifactInput = Omit<Artifact, 'artifactId' | 'parts'> & {
  readonly artifactId?: string;
  readonly parts?: readonly Part[] | null;
};

/** How an artifact is recorded. */
export interface ArtifactOptions {
  /** Adds the parts to the artifact of the same id instead of replacing it. */
  readonly append?: boolean;
  /** Says that no more parts of this artifact will follow. */
  readonly lastChunk?: boolean;
  /** Metadata of the update event. */
  readonly metadata?: JsonObject;
}

/**
 * A skill's hand on its task.
 *
 * - Every mutation is stored, then published, and only then resolves.
 * - Mutations that are not awaited are applied one at a time, in call order.
 * - After the task has ended, or another writer has settled it, every mutation rejects and changes nothing.
 * - What is handed in and out is copied: changing it later changes nothing.
 *
 * Mutations reject with `TaskEndedError` when the task takes no more updates, `DeadlineExceededError` past the run's
 * deadline, `NotJsonError` or `InvalidPartError` for content that has no wire form, `TaskTooLargeError` past
 * `maxTaskBytes`.
 *
 * @see A2A v1.0 §4.1.3 TaskState
 */
export abstract class TaskContext {
  /** The id of the task. */
  abstract readonly id: string;
  /** A copy of the message that started or resumed this run. */
  abstract readonly message: Message;
  /** The owner of the task. */
  abstract readonly owner: string;
  /** The tenant that the task was made in; `''` for none. */
  abstract readonly tenant: string;
  /** The scopes of the caller that started this run; `null` for an unnarrowed session. */
  abstract readonly scopes: readonly string[] | null;
  /** What outlives the HTTP request that started this run. */
  abstract readonly request: RequestSnapshot;
  /** The configuration that the client sent along. */
  abstract readonly configuration: SendMessageConfiguration;
  /** The metadata of the request. */
  abstract readonly metadata: JsonObject;
  /** The extension URIs that the client asked for. */
  abstract readonly requestedExtensions: readonly string[];
  /** Aborts on cancel, timeout and shutdown, and when the task was settled by someone else. */
  abstract readonly signal: AbortSignal;

  /** A copy of the task as it was last stored. */
  abstract task(): Task;

  /** Moves the task to WORKING, with an optional status message. Does nothing once it is WORKING. */
  abstract working(...content: Content[]): Promise<void>;

  /** Reports progress: a status update with a message, in state WORKING. */
  abstract progress(content: Content | readonly Content[], metadata?: JsonObject): Promise<void>;

  /**
   * Records an artifact, or a chunk of one. An append to an id that does not exist creates the artifact.
   *
   * @returns the artifact's id
   */
  abstract artifact(artifact: ArtifactInput, options?: ArtifactOptions): Promise<string>;

  /** Ends the task as COMPLETED, with an optional last message. */
  abstract complete(...content: Content[]): Promise<void>;

  /** Ends the task as FAILED; the content tells the caller why. */
  abstract fail(...content: Content[]): Promise<void>;

  /** Ends the task as REJECTED: work that the agent will not do. */
  abstract reject(...content: Content[]): Promise<void>;

  /** Pauses the task until its owner sends another message to it. Ends this run. */
  abstract requireInput(...content: Content[]): Promise<void>;

  /**
   * Pauses the task until its owner has authenticated elsewhere. Ends this run. The state by itself authorises nothing.
   *
   * @see A2A v1.0 §7.6 In-Task Authorization
   */
  abstract requireAuth(...content: Content[]): Promise<void>;
}
