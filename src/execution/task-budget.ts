/**
 * Bounds the size of a task by a sum that is cheap to keep and never too low.
 *
 * Replaced artifacts and forgotten history leave it too high; it is taken anew when it says that the bound is reached.
 */
export class TaskBudget {
  private used: number;

  /**
   * @param maxSize in UTF-16 units of JSON text, which is near enough to bytes
   * @param measure what the task really takes
   */
  constructor(
    private readonly maxSize: number,
    private readonly measure: () => number,
  ) {
    this.used = measure();
  }

  /** Whether something of this size still fits. */
  fits(size: number): boolean {
    if (this.used + size <= this.maxSize) return true;
    this.used = this.measure();
    return this.used + size <= this.maxSize;
  }

  spend(size: number): void {
    this.used += size;
  }
}

/** The length of a value's JSON text. */
export function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
