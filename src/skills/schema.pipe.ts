import type { PipeTransform } from '@nestjs/common';
import { SkillInputError } from './skill-input.error.js';

/** What {@link https://standardschema.dev Standard Schema} libraries such as zod and valibot offer. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

type StandardResult =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether a value is a Standard Schema. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  // Some libraries make their schemas callable.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as Partial<StandardSchema>)['~standard']?.validate === 'function';
}

/** Validates a parameter with a Standard Schema. */
export class SchemaPipe implements PipeTransform {
  constructor(private readonly schema: StandardSchema) {}

  /** @throws {SkillInputError} naming the fields that the schema refuses */
  async transform(value: unknown): Promise<unknown> {
    const result = await this.schema['~standard'].validate(value);
    if (!result.issues) return result.value;
    throw new SkillInputError(
      result.issues.map(({ message, path = [] }) => ({
        field: path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'),
        description: message,
      })),
    );
  }
}
