import { Role, TaskState } from './model.js';

/** The states that a task never leaves. */
export const TERMINAL_STATES: readonly TaskState[] = [
  TaskState.Completed,
  TaskState.Failed,
  TaskState.Canceled,
  TaskState.Rejected,
];

/** The states in which a task waits for its client. */
export const INTERRUPTED_STATES: readonly TaskState[] = [TaskState.InputRequired, TaskState.AuthRequired];

/** The states that a live task can be in. `TASK_STATE_UNSPECIFIED` is none of them: no task is ever in it. */
export const NON_TERMINAL_STATES: readonly TaskState[] = [
  TaskState.Submitted,
  TaskState.Working,
  ...INTERRUPTED_STATES,
];

const states: ReadonlySet<unknown> = new Set(Object.values(TaskState));
const roles: ReadonlySet<unknown> = new Set(Object.values(Role));

/**
 * Tells whether a value is the proto name of a task state.
 *
 * @see A2A v1.0 §4.1.3 TaskState
 */
export function isTaskState(value: unknown): value is TaskState {
  return states.has(value);
}

/**
 * Tells whether a value is the proto name of a role.
 *
 * @see A2A v1.0 §4.1.5 Role
 */
export function isRole(value: unknown): value is Role {
  return roles.has(value);
}

/** Tells whether a task in this state is over: completed, failed, canceled or rejected. */
export function isTerminal(state: TaskState): boolean {
  return TERMINAL_STATES.includes(state);
}

/** Tells whether a task in this state waits for input or for credentials. */
export function isInterrupted(state: TaskState): boolean {
  return INTERRUPTED_STATES.includes(state);
}
