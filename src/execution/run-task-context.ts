import { Logger } from '@nestjs/common';
import {
  cloneJson,
  scrub,
  TaskState,
  toJson,
  type Artifact,
  type JsonObject,
  type Message,
  type SendMessageConfiguration,
  type Task,
} from '#protocol';
import type { CallContext } from '../context/call-context.js';
import type { IdGenerator } from '../context/id-generator.js';
import type { RequestSnapshot } from '../context/request-snapshot.js';
import { TaskContext, type ArtifactInput, type ArtifactOptions, type Content } from '../context/task-context.js';
import { toParts } from '../skills/content.js';
import type { ArtifactUpdate, TaskUpdate } from '../store/task-update.js';
import type { TaskRecorder } from './task.recorder.js';

/** What a skill's context is made of. */
export interface RunTaskContextInput {
  readonly call: CallContext;
  readonly recorder: TaskRecorder;
  readonly message: Message;
  readonly configuration: SendMessageConfiguration;
  readonly metadata: JsonObject;
  readonly signal: AbortSignal;
  readonly ids: IdGenerator;
  /** Throws when the run lets the skill record nothing more. */
  readonly assertOpen: () => void;
  /** Records an update on behalf of the skill, as long as the run lets it. */
  readonly record: (update: TaskUpdate) => Promise<void>;
}

/** The `TaskContext` of one run. */
export class RunTaskContext extends TaskContext {
  private static readonly logger = new Logger('TaskContext');

  constructor(private readonly input: RunTaskContextInput) {
    super();
  }

  get id(): string {
    return this.input.recorder.key.id;
  }

  get message(): Message {
    return cloneJson(this.input.message);
  }

  get owner(): string {
    return this.input.call.principal.owner;
  }

  get tenant(): string {
    return this.input.call.principal.tenant;
  }

  get scopes(): readonly string[] | null {
    return this.input.call.principal.scopes;
  }

  get request(): RequestSnapshot {
    return this.input.call.request;
  }

  get configuration(): SendMessageConfiguration {
    return cloneJson(this.input.configuration);
  }

  get metadata(): JsonObject {
    return cloneJson(this.input.metadata);
  }

  get requestedExtensions(): readonly string[] {
    return this.input.call.requestedExtensions;
  }

  get signal(): AbortSignal {
    return this.input.signal;
  }

  task(): Task {
    return this.input.recorder.snapshot();
  }

  working(...content: Content[]): Promise<void> {
    return quiet(async () => {
      this.input.assertOpen();
      if (this.input.recorder.pendingState !== TaskState.Working) await this.record(TaskState.Working, content);
    });
  }

  progress(content: Content | readonly Content[], metadata?: JsonObject): Promise<void> {
    return this.changeStatus(TaskState.Working, [content].flat(), metadata);
  }

  artifact(input: ArtifactInput, options: ArtifactOptions = {}): Promise<string> {
    return quiet(async () => {
      const update = this.artifactUpdate(input, options);
      await this.input.record(update);
      return update.artifact.artifactId;
    });
  }

  /**
   * Makes the update that records an artifact.
   *
   * @throws {NotJsonError} or {InvalidPartError} when the artifact has no wire form
   */
  artifactUpdate(input: ArtifactInput, options: ArtifactOptions = {}): ArtifactUpdate {
    const artifact = this.ownArtifact(input);
    return {
      kind: 'artifact',
      artifact,
      append: options.append === true && this.input.recorder.hasArtifact(artifact.artifactId),
      lastChunk: options.lastChunk === true,
      ...(options.metadata && { metadata: toJson(options.metadata) as JsonObject }),
    };
  }

  complete(...content: Content[]): Promise<void> {
    return this.changeStatus(TaskState.Completed, content);
  }

  fail(...content: Content[]): Promise<void> {
    return this.changeStatus(TaskState.Failed, content);
  }

  reject(...content: Content[]): Promise<void> {
    return this.changeStatus(TaskState.Rejected, content);
  }

  requireInput(...content: Content[]): Promise<void> {
    return this.changeStatus(TaskState.InputRequired, content);
  }

  requireAuth(...content: Content[]): Promise<void> {
    if (content.length === 0) {
      // The message is all that tells the client what to authenticate for (§7.6.1).
      RunTaskContext.logger.warn(`Task ${scrub(this.id)} requires authentication without saying for what.`);
    }
    return this.changeStatus(TaskState.AuthRequired, content);
  }

  private changeStatus(state: TaskState, content: readonly Content[], metadata?: JsonObject): Promise<void> {
    return quiet(() => this.record(state, content, metadata));
  }

  private async record(state: TaskState, content: readonly Content[], metadata?: JsonObject): Promise<void> {
    const { recorder, ids, record } = this.input;
    const message = content.length > 0 ? recorder.agentMessage(ids.next(), toParts(content)) : undefined;
    await record(recorder.statusUpdate(state, message, metadata && (toJson(metadata) as JsonObject)));
  }

  private ownArtifact({ artifactId, parts, metadata, ...fields }: ArtifactInput): Artifact {
    return {
      ...(toJson(fields) as Omit<Artifact, 'artifactId' | 'parts'>),
      artifactId: artifactId ?? this.input.ids.next(),
      parts: toParts(parts ?? []),
      ...(metadata && { metadata: toJson(metadata) as JsonObject }),
    };
  }
}

/** A rejection that the skill does not look at must not end the process. */
function quiet<T>(operation: () => Promise<T>): Promise<T> {
  const promise = operation();
  promise.catch(() => undefined);
  return promise;
}
