import { SetMetadata } from '@nestjs/common';

/** The metadata key under which `@Skill` keeps its {@link SkillMetadata}. */
export const SKILL_METADATA = 'nestjs-a2a:skill';

/**
 * How a skill presents itself.
 *
 * @see A2A v1.0 §4.4.5 AgentSkill
 */
export interface SkillOptions {
  /** @default the id */
  readonly name?: string;
  /** @default the name */
  readonly description?: string;
  /** @default [] */
  readonly tags?: readonly string[];
  /** @default [] */
  readonly examples?: readonly string[];
  /** Media types that the skill takes. @default the card's `defaultInputModes` */
  readonly inputModes?: readonly string[];
  /** Media types that the skill gives. @default the card's `defaultOutputModes` */
  readonly outputModes?: readonly string[];
  /** Scopes that a narrowed caller must hold. @default [] */
  readonly scopes?: readonly string[];
  /** `message`: the skill only ever gives direct Messages, and no task is made. @default 'task' */
  readonly answers?: 'task' | 'message';
}

/** What `@Skill` keeps on a method. */
export interface SkillMetadata extends SkillOptions {
  readonly id: string;
}

/**
 * Makes a method of a provider a skill of the agent.
 *
 * @param id the name by which clients ask for the skill; unique in the application
 *
 * @example
 * @Skill('summarize', { description: 'Summarizes invoices of a period.', tags: ['invoices'], scopes: ['invoices:read'] })
 * summarize(@SkillInput() input: SummarizeDto, @SkillTask() task: TaskContext) {
 *   return this.invoices.summary(input, task.signal);
 * }
 */
export function Skill(id: string, options: SkillOptions = {}): MethodDecorator {
  return SetMetadata(SKILL_METADATA, { ...options, id } satisfies SkillMetadata);
}
