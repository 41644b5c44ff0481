import { PermissionDeniedError } from '#protocol';
import type { Principal } from '../context/principal.js';
import type { SkillDescription } from '../context/skill-description.js';

/**
 * Lets a caller use a skill when its credential holds the skill's scopes, or is not narrowed at all.
 *
 * @throws {PermissionDeniedError} naming the scopes that are missing
 * @see A2A v1.0 §7.5 Server Authorization Responsibilities
 */
export function assertScopes(skill: SkillDescription, { scopes }: Principal): void {
  const missing = scopes === null ? [] : skill.scopes.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return;
  throw new PermissionDeniedError('The credential lacks a scope of the skill.', {
    metadata: { scope: missing.join(' ') },
  });
}
