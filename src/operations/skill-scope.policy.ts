import { PermissionDeniedError } from '#protocol';
import type { Principal } from '../context/principal.js';
import type { SkillDescription } from '../context/skill-description.js';

/** The credential is narrowed, and lacks a scope of the skill. */
export class MissingScopeError extends PermissionDeniedError {
  /**
   * @param required all scopes of the skill
   * @param missing those of them that the credential lacks
   */
  constructor(
    readonly required: readonly string[],
    missing: readonly string[],
  ) {
    super('The credential lacks a scope of the skill.', { metadata: { scope: missing.join(' ') } });
  }
}

/**
 * Lets a caller use a skill when its credential holds the skill's scopes, or is not narrowed at all.
 *
 * @throws {MissingScopeError} naming the scopes that are missing
 * @see A2A v1.0 §7.5 Server Authorization Responsibilities
 */
export function assertScopes(skill: SkillDescription, { scopes }: Principal): void {
  const missing = scopes === null ? [] : skill.scopes.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0) throw new MissingScopeError(skill.scopes, missing);
}
