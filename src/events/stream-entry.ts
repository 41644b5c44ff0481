import { encode, type TaskState } from '#protocol';
import type { TaskUpdate } from '../store/task-update.js';

/** An update as those who stream a task see it. */
export interface StreamEntry {
  readonly version: number;
  /** The JSON text of the StreamResponse; `null` for an update that streams do not show. */
  readonly json: string | null;
  /** The state that the update set. */
  readonly state: TaskState | undefined;
}

/**
 * Writes an update in the form that all streams of its task share.
 *
 * @see A2A v1.0 §3.2.3 Stream Response
 */
export function streamEntry(taskId: string, contextId: string, version: number, update: TaskUpdate): StreamEntry {
  switch (update.kind) {
    case 'status': {
      const { status, metadata } = update;
      const statusUpdate = { taskId, contextId, status, ...(metadata && { metadata }) };
      return { version, json: JSON.stringify(encode('StreamResponse', { statusUpdate })), state: status.state };
    }
    case 'artifact': {
      const { artifact, append, lastChunk, metadata } = update;
      const artifactUpdate = { taskId, contextId, artifact, append, lastChunk, ...(metadata && { metadata }) };
      return { version, json: JSON.stringify(encode('StreamResponse', { artifactUpdate })), state: undefined };
    }
    case 'message':
      return { version, json: null, state: undefined };
  }
}
