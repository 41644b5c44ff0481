/** The task takes no more updates from this run. */
export class TaskEndedError extends Error {
  override readonly name: string = 'TaskEndedError';
  readonly code: string = 'TASK_ENDED';
}

/** The run is past its deadline: the task has failed, whatever the skill still does. */
export class DeadlineExceededError extends TaskEndedError {
  override readonly name: string = 'DeadlineExceededError';
  override readonly code: string = 'DEADLINE_EXCEEDED';

  constructor(message = 'The run is past its deadline.') {
    super(message);
  }
}

/** The task was cancelled, or settled otherwise by someone who is not its run. */
export class TaskSettledElsewhereError extends TaskEndedError {
  override readonly name: string = 'TaskSettledElsewhereError';
  override readonly code: string = 'SETTLED_ELSEWHERE';

  constructor(message = 'The task was settled by someone else.') {
    super(message);
  }
}

/** The process is shutting down, and the run with it. */
export class ShutdownError extends TaskEndedError {
  override readonly name: string = 'ShutdownError';
  override readonly code: string = 'SHUTDOWN';

  constructor(message = 'The agent is shutting down.') {
    super(message);
  }
}

/** The update would grow the task past `maxTaskBytes`. */
export class TaskTooLargeError extends Error {
  override readonly name = 'TaskTooLargeError';
  readonly code = 'TASK_TOO_LARGE';

  constructor(maxTaskBytes: number) {
    super(`The task would be larger than ${maxTaskBytes} bytes.`);
  }
}
