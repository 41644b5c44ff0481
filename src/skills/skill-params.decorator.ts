import { createParamDecorator, type PipeTransform, type Type } from '@nestjs/common';
import { A2AExecutionContext } from '../context/a2a-execution-context.js';
import { skillInput, skillText } from './skill-input.js';
import { isStandardSchema, SchemaPipe, type StandardSchema } from './schema.pipe.js';
import { SkillInputPipe } from './skill-input.pipe.js';

type Pipe = Type<PipeTransform> | PipeTransform;

/** Gives a skill method the `TaskContext` of its task. */
export const SkillTask = createParamDecorator((_data: unknown, context) => A2AExecutionContext.create(context).task);

/** Gives a skill method the text parts of the message, joined by line feeds. */
export const SkillText = createParamDecorator((_data: unknown, context) =>
  skillText(A2AExecutionContext.create(context).task.message),
);

/** Gives a skill method the Message that started or resumed the run. */
export const SkillMessage = createParamDecorator(
  (_data: unknown, context) => A2AExecutionContext.create(context).task.message,
);

/** Gives a skill method the principal that called: `{ owner, tenant, scopes }`. */
export const SkillCaller = createParamDecorator(
  (_data: unknown, context) => A2AExecutionContext.create(context).call.principal,
);

const Input = createParamDecorator((_data: unknown, context) =>
  skillInput(A2AExecutionContext.create(context).task.message),
);

/**
 * Gives a skill method its structured input: the `arguments` of the first data part when it has that key, else the data
 * part without `skill`, else `{}`.
 *
 * A parameter typed with a class-validator class is validated, and so is one that is given a Standard Schema (zod,
 * valibot …). Input that fails settles the task REJECTED, naming the fields.
 *
 * @param schemaOrPipes a Standard Schema, or pipes that run after the validation
 *
 * @example
 * summarize(@SkillInput() input: SummarizeDto) {}
 * summarize(@SkillInput(z.object({ year: z.number() })) input: { year: number }) {}
 */
export function SkillInput(...schemaOrPipes: readonly (StandardSchema | Pipe)[]): ParameterDecorator {
  const pipes = schemaOrPipes.map((item) => (isStandardSchema(item) ? new SchemaPipe(item) : item));
  return Input(new SkillInputPipe(), ...pipes);
}
