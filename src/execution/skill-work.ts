import { filter, isObservable } from 'rxjs';
import type { CallContext } from '../context/call-context.js';
import type { IdGenerator } from '../context/id-generator.js';
import { runWithA2ARequest } from '../context/request-snapshot.js';
import { isDirectMessage, message, type DirectMessage } from '../skills/direct-message.js';
import type { RegisteredSkill, SkillInvocation } from '../skills/registered-skill.js';
import { isStream, toArtifact, type SkillStream } from '../skills/skill-result.js';
import type { TaskUpdate } from '../store/task-update.js';
import { ChunkWriter } from './chunk-writer.js';
import type { RunTaskContext } from './run-task-context.js';
import { consumeStream } from './stream-consumer.js';
import type { TaskRecorder } from './task.recorder.js';

/** What a skill's work came to: a Message instead of a task, or updates that complete the task. */
export type WorkResult =
  | { readonly kind: 'message'; readonly answer: DirectMessage }
  | { readonly kind: 'done'; readonly updates: readonly TaskUpdate[] };

const DONE: WorkResult = { kind: 'done', updates: [] };

/** Calls a skill once, and takes in what it gives: nothing, a value, a stream or a Message. */
export class SkillWork {
  private readonly invocation: SkillInvocation;

  constructor(
    private readonly skill: RegisteredSkill,
    private readonly call: CallContext,
    private readonly task: RunTaskContext,
    private readonly recorder: TaskRecorder,
    private readonly ids: IdGenerator,
  ) {
    this.invocation = { call, task, skill: skill.description, entered: false, streamed: false };
  }

  /** Whether the skill itself had begun, and not only its guards, interceptors and pipes. */
  get entered(): boolean {
    return this.invocation.entered;
  }

  /** @throws {Error} what the skill, its pipeline or the store throws */
  async perform(): Promise<WorkResult> {
    // What the skill streams is made in the request's context too.
    return runWithA2ARequest(this.call.request, async () => this.take(await this.skill.invoke(this.invocation)));
  }

  private async take(result: unknown): Promise<WorkResult> {
    if (this.recorder.hasEnded || result === undefined) return DONE;
    if (isDirectMessage(result)) return { kind: 'message', answer: result };
    return isStream(result) ? this.takeStream(result) : this.takeValue(result);
  }

  private takeValue(value: unknown): WorkResult {
    const artifact = toArtifact(value);
    return this.skill.description.answers === 'message'
      ? { kind: 'message', answer: message(artifact.parts ?? [], artifact.metadata) }
      : { kind: 'done', updates: [this.task.artifactUpdate(artifact)] };
  }

  private async takeStream(stream: SkillStream): Promise<WorkResult> {
    let value: unknown;
    const source = isObservable(stream)
      ? stream.pipe(
          // What interceptors make of a single value is still a single value: the last.
          filter((item) => {
            if (!this.invocation.streamed) value = item;
            return this.invocation.streamed;
          }),
        )
      : stream;
    const chunks = new ChunkWriter(this.task, () => this.ids.next());
    const answer = await consumeStream(source, (item) => chunks.write(item), this.task.signal);
    if (answer) return { kind: 'message', answer };
    return value === undefined ? DONE : this.take(value);
  }
}
