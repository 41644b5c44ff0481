import type { Chunk } from './chunk-writer.js';

/**
 * Bounds how far a source is pulled ahead of the store.
 *
 * A chunk larger than the window is let in when nothing else is under way.
 */
export class ChunkWindow {
  private chunks = 0;
  private size = 0;
  private failure: { readonly error: unknown } | undefined;
  private wake: () => void = () => undefined;

  /**
   * @param maxChunks how many chunks may be under way
   * @param maxSize how much of them, in bytes
   */
  constructor(
    private readonly maxChunks: number,
    private readonly maxSize: number,
  ) {}

  /** Lets a chunk in. */
  add({ size, stored }: Chunk): void {
    this.chunks++;
    this.size += size;
    stored
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => {
        this.chunks--;
        this.size -= size;
        this.wake();
      });
  }

  /**
   * Waits until there is room for another chunk.
   *
   * @throws {Error} what the store threw
   */
  async room(): Promise<void> {
    await this.until(() => this.chunks < this.maxChunks && this.size < this.maxSize);
  }

  /**
   * Waits until everything is stored.
   *
   * @throws {Error} what the store threw
   */
  async drained(): Promise<void> {
    await this.until(() => this.chunks === 0);
  }

  private async until(condition: () => boolean): Promise<void> {
    while (!this.failure && !condition()) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    if (this.failure) throw this.failure.error;
  }
}
