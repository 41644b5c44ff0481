import type { Principal } from './principal.js';

/** The scope key of tasks made by an unnarrowed session. */
export const UNNARROWED = '*';

/** What separates tasks from one another: owner, tenant and scope set. */
export interface Tier {
  readonly owner: string;
  /** `''` when the task was made in no tenant. */
  readonly tenant: string;
  /** The scope set as canonical JSON, or {@link UNNARROWED}. */
  readonly scope: string;
}

/**
 * Writes a scope set so that equal sets have equal keys, whatever their order and repetitions.
 *
 * @returns a sorted JSON array without repetitions, or {@link UNNARROWED} for `null`
 */
export function scopeKey(scopes: readonly string[] | null): string {
  return scopes === null ? UNNARROWED : JSON.stringify([...new Set(scopes)].sort());
}

/** The tier in which a caller creates tasks. */
export function tierOf(principal: Principal): Tier {
  return { owner: principal.owner, tenant: principal.tenant, scope: scopeKey(principal.scopes) };
}

/** Whether two tiers are one. */
export function isSameTier(a: Tier, b: Tier): boolean {
  return a.owner === b.owner && a.tenant === b.tenant && a.scope === b.scope;
}

/**
 * Whether a caller of one tier may learn of a task of another: same owner, same tenant, and the same scope set unless
 * the caller's session is unnarrowed.
 */
export function isVisible(task: Tier, caller: Tier): boolean {
  return (
    task.owner === caller.owner &&
    task.tenant === caller.tenant &&
    (caller.scope === UNNARROWED || task.scope === caller.scope)
  );
}
