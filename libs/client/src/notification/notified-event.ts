import { decodeStreamResponse, decodeUtf8, readStrictJson, type StreamResponse } from '#protocol';
import { NotificationRefusedError } from './notification-refused-error.js';

/** The body of a notification. */
export interface NotifiedEvent {
  readonly taskId: string;
  readonly event: StreamResponse;
}

/**
 * Reads the body of a notification, strictly.
 *
 * @throws {NotificationRefusedError} `malformed` when it is no StreamResponse, or names no task.
 * @see A2A v1.0 §4.3.3 Push Notification Payload
 */
export function readEvent(bytes: Uint8Array): NotifiedEvent {
  const event = decode(bytes);
  return { taskId: taskIdOf(event), event };
}

function decode(bytes: Uint8Array): StreamResponse {
  try {
    return decodeStreamResponse(readStrictJson(decodeUtf8(bytes)));
  } catch (cause) {
    throw new NotificationRefusedError('malformed', 'The body is no StreamResponse.', { cause });
  }
}

/** A Message may come without a task, and is then about nothing that was asked for. */
function taskIdOf(event: StreamResponse): string {
  const { task, statusUpdate, artifactUpdate, message } = event as UncheckedEvent;
  const taskId = task?.id ?? (statusUpdate ?? artifactUpdate ?? message)?.taskId ?? '';
  if (taskId === '') throw new NotificationRefusedError('malformed', 'The body names no task.');
  return taskId;
}

interface UncheckedEvent {
  readonly task?: { readonly id: string };
  readonly statusUpdate?: { readonly taskId: string };
  readonly artifactUpdate?: { readonly taskId: string };
  readonly message?: { readonly taskId?: string };
}
