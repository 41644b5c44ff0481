/** The names under which store errors are recognised, also those of another copy of this package. */
type StoreFault = 'TASK_RECORD_NOT_FOUND' | 'TASK_RECORD_CONFLICT' | 'PUSH_CONFIG_CONFLICT';

class StoreError extends Error {
  constructor(
    readonly code: StoreFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** No such task, or a task of another owner. */
export class TaskRecordNotFoundError extends StoreError {
  override readonly name = 'TaskRecordNotFoundError';

  constructor(message = 'No such task.', options?: ErrorOptions) {
    super('TASK_RECORD_NOT_FOUND', message, options);
  }
}

/** The task exists already, or is no longer at the version that the writer expected. */
export class TaskRecordConflictError extends StoreError {
  override readonly name = 'TaskRecordConflictError';

  constructor(message = 'The task has changed.', options?: ErrorOptions) {
    super('TASK_RECORD_CONFLICT', message, options);
  }
}

/** The task has a push notification config of this id already. */
export class PushConfigConflictError extends StoreError {
  override readonly name = 'PushConfigConflictError';

  constructor(message = 'The task has a config of this id.', options?: ErrorOptions) {
    super('PUSH_CONFIG_CONFLICT', message, options);
  }
}

/** A store did not answer in time. */
export class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError';
  readonly code = 'STORE_TIMEOUT';

  constructor(timeout: number) {
    super(`The task store did not answer within ${timeout} ms.`);
  }
}

/** Whether an error, or one of its causes, is a {@link TaskRecordNotFoundError}. */
export function isRecordNotFound(error: unknown): boolean {
  return hasFault(error, 'TASK_RECORD_NOT_FOUND');
}

/** Whether an error, or one of its causes, is a {@link TaskRecordConflictError}. */
export function isRecordConflict(error: unknown): boolean {
  return hasFault(error, 'TASK_RECORD_CONFLICT');
}

/** Whether an error, or one of its causes, is a {@link PushConfigConflictError}. */
export function isPushConfigConflict(error: unknown): boolean {
  return hasFault(error, 'PUSH_CONFIG_CONFLICT');
}

const MAX_CAUSES = 16;

function hasFault(error: unknown, fault: StoreFault): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof current === 'object' && current !== null; depth++) {
    if ((current as { code?: unknown }).code === fault) return true;
    current = (current as { cause?: unknown }).cause;
  }
  return false;
}
