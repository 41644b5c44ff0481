import { ForbiddenException, HttpException, UnauthorizedException } from '@nestjs/common';
import { findA2AError, InvalidParamsError, PermissionDeniedError, scrub, TaskState, type A2AError } from '#protocol';
import { SkillInputError } from '../skills/skill-input.error.js';
import { DeadlineExceededError, ShutdownError, TaskTooLargeError } from './run-errors.js';

/** How a task ends when its skill did not end it itself, and what its caller is told. */
export interface RunEnd {
  readonly kind: 'end';
  readonly state: TaskState;
  /** Safe for the caller. */
  readonly text?: string;
  /** What the caller gets instead of a task, when the skill only answers with Messages. Safe for the caller. */
  readonly error?: A2AError;
  /** Whether the cause is worth a line in the log. */
  readonly isFault: boolean;
}

const MAX_TEXT = 2_000;

/**
 * Decides how a task ends when its run was stopped.
 *
 * @param reason why the run was aborted
 */
export function endOfAbort(reason: unknown): RunEnd {
  if (reason instanceof DeadlineExceededError) {
    return { kind: 'end', state: TaskState.Failed, text: 'task timed out', isFault: false };
  }
  if (reason instanceof TaskTooLargeError) {
    return { kind: 'end', state: TaskState.Failed, text: 'task is too large', isFault: false };
  }
  const text = reason instanceof ShutdownError ? 'the agent was shut down' : undefined;
  return { kind: 'end', state: TaskState.Canceled, ...(text && { text }), isFault: false };
}

/**
 * Decides how a task ends when its skill threw. Only what was meant for the caller is told to the caller.
 *
 * @param entered whether the skill itself had begun, and not only its guards, interceptors and pipes
 */
export function endOfError(error: unknown, entered: boolean): RunEnd {
  if (error instanceof SkillInputError) return rejected(error.message, new InvalidParamsError(error.violations));
  const a2aError = findA2AError(error);
  if (a2aError) {
    return {
      kind: 'end',
      state: TaskState.Failed,
      text: scrub(a2aError.message, MAX_TEXT),
      error: a2aError,
      isFault: false,
    };
  }
  if (!entered && isDenial(error)) return rejected('not permitted', new PermissionDeniedError());
  if (!entered && isBadInput(error)) {
    const description = scrub(inputFaults(error), MAX_TEXT);
    return rejected(`Invalid input: ${description}`, new InvalidParamsError([{ field: 'message.parts', description }]));
  }
  return { kind: 'end', state: TaskState.Failed, text: 'skill handler failed', isFault: true };
}

function rejected(text: string, error: A2AError): RunEnd {
  return { kind: 'end', state: TaskState.Rejected, text: scrub(text, MAX_TEXT), error, isFault: false };
}

function isDenial(error: unknown): boolean {
  return error instanceof ForbiddenException || error instanceof UnauthorizedException;
}

/** What Nest's own pipes throw for input that does not fit. */
function isBadInput(error: unknown): error is HttpException {
  const status = error instanceof HttpException ? error.getStatus() : 0;
  return status === 400 || status === 422;
}

function inputFaults(error: HttpException): string {
  const response = error.getResponse();
  const message = typeof response === 'object' ? (response as { message?: unknown }).message : response;
  if (Array.isArray(message)) return message.map(String).join('; ');
  return typeof message === 'string' ? message : error.message;
}
