import { A2AConfigurationError } from '../../context/configuration.error.js';

/** What of the application the listener of a process serves: everything, or the agent alone. */
export type A2ARole = 'all' | 'agent';

const ROLES: readonly A2ARole[] = ['all', 'agent'];

/** The variable of the environment that names the role where no option does. */
const VARIABLE = 'A2A_ROLE';

/** Where health is asked for when nothing else is said: by people, and by the two probes of an orchestrator. */
const HEALTH_PATHS: readonly string[] = ['/health', '/health/live', '/health/ready'];

/**
 * Decides on the role: the option, else the variable `A2A_ROLE`, else `all`. Letters may be of either case.
 *
 * A variable that is set and empty is refused like any other unknown name: a template that lacks its value must not open
 * what the agent's listener is there to close.
 *
 * @param environment such as `process.env`
 * @throws {A2AConfigurationError} when there is no such role
 */
export function resolveRole(
  option: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): A2ARole {
  const named = option ?? environment[VARIABLE];
  if (named === undefined) return 'all';
  const role = ROLES.find((each) => each === named.trim().toLowerCase());
  if (role) return role;
  const origin = option === undefined ? `The environment variable ${VARIABLE}` : 'The option `role`';
  const cure = option === undefined ? 'or unset it' : 'or leave it out';
  throw new A2AConfigurationError(
    `${origin} is ${JSON.stringify(named)}, which is no role. Use "all" or "agent", ${cure} to serve everything.`,
  );
}

/**
 * Fills in the paths at which the host tells of its health.
 *
 * @throws {A2AConfigurationError} for a path that no request could name to the letter
 */
export function resolveHealthPaths(paths: readonly string[] = HEALTH_PATHS): readonly string[] {
  for (const path of paths) {
    if (/^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/u.test(path)) continue;
    throw new A2AConfigurationError(
      `The health path ${JSON.stringify(path)} cannot be served. Name the full path, global prefix included and without a slash at its end, such as "/api/health".`,
    );
  }
  return [...paths];
}
