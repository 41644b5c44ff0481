import { UnauthenticatedError } from '#protocol';

const MAX_LENGTH = 256;
const CONTROL = /[\u0000-\u001f]/u;

/**
 * Checks an identifier that a resolver gave, as those of clients are.
 *
 * @throws {UnauthenticatedError} when it is too long, not well-formed, or has control characters
 */
export function checkIdentifier(value: unknown, what: string): string {
  if (typeof value !== 'string' || value.length > MAX_LENGTH || CONTROL.test(value) || !isWellFormed(value)) {
    throw new UnauthenticatedError(`The ${what} of the caller is not a valid identifier.`);
  }
  return value;
}

function isWellFormed(value: string): boolean {
  return !/\p{Surrogate}/u.test(value);
}
