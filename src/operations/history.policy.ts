import type { Task } from '#protocol';

/**
 * Shows a task with no more history than was asked for. The task itself keeps it.
 *
 * @param historyLength how many of the newest messages; absent: all
 * @see A2A v1.0 §3.2.4 History Length Semantics
 */
export function withHistory({ history, ...task }: Task, historyLength: number | undefined): Task {
  if (history === undefined || historyLength === 0) return task;
  return { ...task, history: historyLength === undefined ? history : history.slice(-historyLength) };
}
