import type { JsonValue } from '../json.js';
import type { TaskState } from '../model.js';
import { A2AError } from './a2a-error.js';
import { UnauthenticatedError } from './auth-errors.js';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from './domain-errors.js';

/**
 * Says that a task does not exist, or not for this caller: the two read alike.
 *
 * @param id The id that the caller asked for, and no other.
 */
export function taskNotFound(id?: string): TaskNotFoundError {
  return new TaskNotFoundError(undefined, id === undefined ? {} : { metadata: { taskId: id } });
}

/** Says that a task is over, so that it cannot be canceled. */
export function taskNotCancelable(id: string, state: TaskState): TaskNotCancelableError {
  return new TaskNotCancelableError(undefined, { metadata: { taskId: id, state } });
}

/** Says that the caller did not prove who it is. */
export function unauthenticated(message?: string): UnauthenticatedError {
  return new UnauthenticatedError(message);
}

/** Says what is not supported. */
export function unsupportedOperation(message: string): UnsupportedOperationError {
  return new UnsupportedOperationError(message);
}

/**
 * Builds an error with any code.
 *
 * @param data Any JSON value; see {@link A2AError}.
 */
export function a2aError(code: number, message: string, data?: JsonValue): A2AError {
  return new A2AError({ code, message, data });
}
