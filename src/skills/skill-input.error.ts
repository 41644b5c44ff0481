import type { FieldViolation } from '#protocol';

/** A skill's input does not fit its parameter. Settles the task REJECTED with this error's message. */
export class SkillInputError extends Error {
  override readonly name = 'SkillInputError';

  /** @param violations the fields that are wrong, each with what is wrong about it; `''` names the input itself */
  constructor(readonly violations: readonly FieldViolation[]) {
    super(
      `Invalid input: ${violations.map(({ field, description }) => (field ? `${field}: ${description}` : description)).join('; ')}`,
    );
  }
}
