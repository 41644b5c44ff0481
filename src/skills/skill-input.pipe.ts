import { ValidationPipe, type ValidationError } from '@nestjs/common';
import type { FieldViolation } from '#protocol';
import { SkillInputError } from './skill-input.error.js';

/** Nest's own validation of a parameter typed with a class-validator class, for the input of a skill. */
export class SkillInputPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      validateCustomDecorators: true,
      exceptionFactory: (errors) => new SkillInputError(errors.flatMap((error) => violations(error))),
    });
  }
}

function violations({ property, constraints = {}, children = [] }: ValidationError, parent = ''): FieldViolation[] {
  const field = parent ? `${parent}.${property}` : property;
  return [
    ...Object.values(constraints).map((description) => ({ field, description })),
    ...children.flatMap((child) => violations(child, field)),
  ];
}
