import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  ForbiddenException,
  NotFoundException,
  UnauthorizedException,
  UnprocessableEntityException,
} from '@nestjs/common';
import { InvalidParamsError, PermissionDeniedError, TaskState, UnsupportedOperationError } from '#protocol';
import { SkillInputError } from '../skills/skill-input.error.js';
import { DeadlineExceededError, ShutdownError, TaskSettledElsewhereError, TaskTooLargeError } from './run-errors.js';
import { endOfAbort, endOfError } from './run-end.js';

describe('The end of a run that was stopped', () => {
  it.each([
    ['the deadline', new DeadlineExceededError(), TaskState.Failed, 'task timed out', 'LIFE-05a'],
    ['its size', new TaskTooLargeError(5), TaskState.Failed, 'task is too large', 'R-35'],
    ['shutdown', new ShutdownError(), TaskState.Canceled, 'the agent was shut down', 'SHUT-01b'],
    ['someone else', new TaskSettledElsewhereError(), TaskState.Canceled, undefined, 'LIFE-04'],
    ['something unknown', new Error('SECRET'), TaskState.Canceled, undefined, 'LIFE-04'],
  ])('by %s is told without a cause (%#)', (_name, reason, state, text, _id) => {
    const end = endOfAbort(reason);
    expect([end.state, end.text, end.isFault]).toEqual([state, text, false]);
  });
});

describe('The end of a run whose skill threw', () => {
  it.each([
    ['an Error', new Error('SECRET')],
    ['a string', 'SECRET'],
    ['nothing', undefined],
    ['null', null],
    ['an HTTP error of its own', new ForbiddenException('SECRET')],
    ['an HTTP error about input', new BadRequestException('SECRET')],
  ])('%s is FAILED with a neutral text (LIFE-03a, FAULT-05a)', (_name, error) => {
    expect(endOfError(error, true)).toMatchObject({
      state: TaskState.Failed,
      text: 'skill handler failed',
      isFault: true,
    });
  });

  it.each([
    ['itself', (error: Error) => error],
    ['as a cause', (error: Error) => new Error('outer', { cause: error })],
    ['as a cause of a cause', (error: Error) => new Error('outer', { cause: new Error('middle', { cause: error }) })],
  ])('an A2AError %s is FAILED with its message (LIFE-03b)', (_name, wrap) => {
    const error = new UnsupportedOperationError('Not on Sundays.');
    expect(endOfError(wrap(error), true)).toMatchObject({
      state: TaskState.Failed,
      text: 'Not on Sundays.',
      error,
      isFault: false,
    });
  });

  it('takes control characters out of what it tells, and bounds it (FAULT-03)', () => {
    const { text } = endOfError(new UnsupportedOperationError(`a\u0000b\u202ec${'x'.repeat(5_000)}`), true);
    expect(text).toMatch(/^abcx+…$/u);
    expect(text).toHaveLength(2_000);
  });

  it.each([new ForbiddenException('SECRET'), new UnauthorizedException('SECRET')])(
    'before the skill was entered, %s is REJECTED without the reason (PKG-10b)',
    (error) => {
      expect(endOfError(error, false)).toMatchObject({
        state: TaskState.Rejected,
        text: 'not permitted',
        error: expect.any(PermissionDeniedError) as unknown,
        isFault: false,
      });
    },
  );

  it.each([
    [new BadRequestException('Not a number.'), 'Invalid input: Not a number.'],
    [new BadRequestException({ message: ['a is odd', 'b is empty'] }), 'Invalid input: a is odd; b is empty'],
    [new UnprocessableEntityException('Not a number.'), 'Invalid input: Not a number.'],
  ])('before the skill was entered, %s of a pipe is REJECTED and says why', (error, text) => {
    expect(endOfError(error, false)).toMatchObject({
      state: TaskState.Rejected,
      text,
      error: expect.any(InvalidParamsError) as unknown,
    });
  });

  it('before the skill was entered, anything else is a fault (FAULT-05a)', () => {
    for (const error of [new Error('SECRET'), new NotFoundException('SECRET')]) {
      expect(endOfError(error, false)).toMatchObject({
        state: TaskState.Failed,
        text: 'skill handler failed',
        isFault: true,
      });
    }
  });

  it('for invalid input names the fields, wherever it was found', () => {
    const error = new SkillInputError([
      { field: 'a', description: 'is odd' },
      { field: '', description: 'no object' },
    ]);
    for (const entered of [false, true]) {
      expect(endOfError(error, entered)).toMatchObject({
        state: TaskState.Rejected,
        text: 'Invalid input: a: is odd; no object',
        error: expect.any(InvalidParamsError) as unknown,
      });
    }
  });
});
