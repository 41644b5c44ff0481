import type { A2AExecution } from '../context/a2a-execution-context.js';
import type { SkillDescription } from '../context/skill-description.js';
import type { TaskContext } from '../context/task-context.js';
import type { SkillOptions } from './skill.decorator.js';

/** A skill that is given in the module's options instead of being found on a provider. */
export interface SkillDefinition extends SkillOptions {
  readonly id: string;
  /** Does the work. Takes and gives what a `@Skill` method without decorated parameters does. */
  readonly handler: (task: TaskContext) => unknown;
}

/** One run of a skill as seen from its pipeline. */
export interface SkillInvocation extends A2AExecution {
  /** Becomes true when guards, interceptors and pipes have let the call through to the skill itself. */
  entered: boolean;
  /** Becomes true when the skill itself gave an Observable, whose items are then chunks and not one value. */
  streamed: boolean;
}

/** A skill that can be run. */
export interface RegisteredSkill {
  readonly description: SkillDescription;
  /** Where the skill was found, for messages to the developer: `InvoiceSkills.summarize`. */
  readonly origin: string;
  /** Runs the skill. An Observable arrives as it is, with the interceptors' operators applied to its items. */
  readonly invoke: (invocation: SkillInvocation) => Promise<unknown>;
}

/** Fills in the defaults of what a developer wrote about a skill. */
export function describeSkill(id: string, options: SkillOptions): SkillDescription {
  const name = options.name ?? id;
  return {
    id,
    name,
    description: options.description ?? name,
    tags: [...(options.tags ?? [])],
    examples: [...(options.examples ?? [])],
    inputModes: [...(options.inputModes ?? [])],
    outputModes: [...(options.outputModes ?? [])],
    scopes: [...(options.scopes ?? [])],
    answers: options.answers ?? 'task',
  };
}
