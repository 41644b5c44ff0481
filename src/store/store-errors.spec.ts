import { describe, expect, it } from '@jest/globals';
import { runInNewContext } from 'node:vm';
import {
  isRecordConflict,
  isRecordNotFound,
  TaskRecordConflictError,
  TaskRecordNotFoundError,
} from './store-errors.js';

describe('A store error', () => {
  it.each([
    ['as it is', (error: unknown) => error],
    ['wrapped once', (error: unknown) => new Error('The driver failed.', { cause: error })],
    [
      'wrapped thrice',
      (error: unknown) => new Error('c', { cause: new Error('b', { cause: new Error('a', { cause: error }) }) }),
    ],
    ['wrapped in what is no Error', (error: unknown) => ({ cause: error })],
  ])('is recognised %s (STORE-08)', (_name, wrap) => {
    const conflict = wrap(new TaskRecordConflictError());
    expect([isRecordConflict(conflict), isRecordNotFound(conflict)]).toEqual([true, false]);
    const absence = wrap(new TaskRecordNotFoundError());
    expect([isRecordConflict(absence), isRecordNotFound(absence)]).toEqual([false, true]);
  });

  it('is recognised when another copy of the package made it (B-09)', () => {
    const foreign: unknown = runInNewContext(`Object.assign(new Error('x'), { code: 'TASK_RECORD_CONFLICT' })`);
    expect(foreign).not.toBeInstanceOf(TaskRecordConflictError);
    expect(isRecordConflict(foreign)).toBe(true);
  });

  it.each([undefined, null, 'TASK_RECORD_CONFLICT', 5, {}, new Error('TASK_RECORD_CONFLICT'), { code: 'OTHER' }])(
    'is not seen in %p',
    (value) => {
      expect(isRecordConflict(value)).toBe(false);
      expect(isRecordNotFound(value)).toBe(false);
    },
  );

  it('does not go round in the circle of its own causes', () => {
    const error: { cause?: unknown } = {};
    error.cause = error;
    expect(isRecordConflict(error)).toBe(false);
  });

  it('keeps its cause for the log', () => {
    const cause = new Error('23505');
    expect(new TaskRecordConflictError('A task of this id exists.', { cause }).cause).toBe(cause);
  });
});
