import { describe, expect, it } from '@jest/globals';
import { Role, TaskState } from './model.js';
import { INTERRUPTED_STATES, isInterrupted, isRole, isTaskState, isTerminal } from './task-state.js';
import { NON_TERMINAL_STATES, TERMINAL_STATES } from './task-state.js';

const states = Object.values(TaskState);

describe('task states', () => {
  it('are the nine of the proto, each with its prefix (DM-01a)', () => {
    expect(states).toHaveLength(9);
    expect(states.every((state) => state.startsWith('TASK_STATE_'))).toBe(true);
  });

  it('are known by their exact proto names only (DM-01a)', () => {
    expect(states.every(isTaskState)).toBe(true);
    const strangers = ['working', 'WORKING', 'task_state_working', 'constructor', '', 0, null, undefined, {}, ['x']];
    expect(strangers.some(isTaskState)).toBe(false);
  });

  it('are terminal exactly when completed, failed, canceled or rejected (DM-01b)', () => {
    const terminal = [TaskState.Completed, TaskState.Failed, TaskState.Canceled, TaskState.Rejected];
    expect(states.filter(isTerminal).sort()).toEqual([...terminal].sort());
    expect([...TERMINAL_STATES].sort()).toEqual([...terminal].sort());
  });

  it('are interrupted exactly when input or auth is required (DM-01c)', () => {
    expect(states.filter(isInterrupted)).toEqual([TaskState.InputRequired, TaskState.AuthRequired]);
    expect(INTERRUPTED_STATES).toEqual([TaskState.InputRequired, TaskState.AuthRequired]);
  });

  it('split into terminal, non-terminal and the one that no task is ever in', () => {
    const all = [...TERMINAL_STATES, ...NON_TERMINAL_STATES, TaskState.Unspecified];
    expect([...all].sort()).toEqual([...states].sort());
    expect(NON_TERMINAL_STATES.some(isTerminal)).toBe(false);
  });
});

describe('roles', () => {
  it('are the three of the proto, and nothing else is one (DM-02a)', () => {
    expect(Object.values(Role)).toEqual(['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT']);
    expect(Object.values(Role).every(isRole)).toBe(true);
    expect(['user', 'toString', '', null, 1].some(isRole)).toBe(false);
  });
});
