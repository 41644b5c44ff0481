import type { FieldViolation } from '../errors/error-details.js';
import { InvalidParamsError } from '../errors/rpc-errors.js';

// Enough to mend a request by; a hostile one could be wrong in a million places.
const MAX_LISTED = 100;

/** Collects what is wrong with a request, so that its sender learns all of it at once. */
export class Violations {
  private readonly listed: FieldViolation[] = [];
  private total = 0;

  /** How many there are, listed or not. */
  get count(): number {
    return this.total;
  }

  add(field: string, description: string): void {
    this.total += 1;
    if (this.listed.length < MAX_LISTED) this.listed.push({ field, description });
  }

  /** Tells whether a field is among those listed. */
  has(field: string): boolean {
    return this.listed.some((violation) => violation.field === field);
  }

  /** The first one, for those who tell of one alone. */
  get first(): FieldViolation | undefined {
    return this.listed[0];
  }

  /** @throws {InvalidParamsError} When there are any; it names the first hundred. */
  throwIfAny(): void {
    if (this.total > 0) throw new InvalidParamsError(this.listed);
  }
}
