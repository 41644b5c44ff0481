/**
 * What the card and the router know of a skill.
 *
 * @see A2A v1.0 §4.4.5 AgentSkill
 */
export interface SkillDescription {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  /** Media types that the skill takes; empty: the card's defaults. */
  readonly inputModes: readonly string[];
  /** Media types that the skill gives; empty: the card's defaults. */
  readonly outputModes: readonly string[];
  /** Scopes that a narrowed caller must hold to use the skill. */
  readonly scopes: readonly string[];
  /** `message`: the skill promises direct Messages and never makes a task. */
  readonly answers: 'task' | 'message';
}
