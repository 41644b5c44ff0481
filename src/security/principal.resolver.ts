import type { PrincipalAnswer } from '../context/principal.js';

/**
 * Says who calls. The port that the option `principal` fills, as a function or as a class.
 *
 * @throws {UnauthorizedException} or `UnauthenticatedError` for a 401, `ForbiddenException` or `PermissionDeniedError`
 * for a 403; anything else becomes an internal error without detail
 */
export abstract class PrincipalResolver {
  /**
   * @param request the HTTP request, with what the host's guards put on it
   * @returns nothing, or no owner, when the caller is not authenticated
   */
  abstract resolve(request: never): PrincipalAnswer | null | undefined | Promise<PrincipalAnswer | null | undefined>;
}
