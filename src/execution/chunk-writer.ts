import type { TaskContext } from '../context/task-context.js';
import { isArtifact, toArtifact } from '../skills/skill-result.js';

/** An item of a stream on its way to the store. */
export interface Chunk {
  /** The length of its JSON text. */
  readonly size: number;
  /** Resolves when the item is stored. */
  readonly stored: Promise<unknown>;
}

/** Records the items of a stream: strings, parts and plain values append to one artifact, an artifact stands for itself. */
export class ChunkWriter {
  private artifactId: string | undefined;

  /** @param mintId mints the id of the artifact that the chunks append to */
  constructor(
    private readonly task: TaskContext,
    private readonly mintId: () => string,
  ) {}

  /** @throws {NotJsonError} when the item has no JSON form */
  write(item: unknown): Chunk {
    const artifact = toArtifact(item);
    const size = JSON.stringify(artifact.parts).length;
    if (isArtifact(item)) return { size, stored: this.task.artifact(artifact) };
    this.artifactId ??= this.mintId();
    return { size, stored: this.task.artifact({ ...artifact, artifactId: this.artifactId }, { append: true }) };
  }
}
