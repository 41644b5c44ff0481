import type { Artifact, Message, Task } from '#protocol';
import type { ArtifactUpdate, TaskUpdate } from './task-update.js';

/**
 * Applies one update to a task in place, at a cost that does not depend on the task's size.
 *
 * The update is never changed later on: what the task may still change is copied.
 *
 * @param maxHistory how many messages the history keeps; the oldest go first
 */
export function applyUpdate(task: Task, update: TaskUpdate, maxHistory: number): void {
  switch (update.kind) {
    case 'status':
      task.status = update.status;
      if (update.metadata) task.metadata = { ...task.metadata, ...update.metadata };
      if (update.status.message) addToHistory(task, update.status.message, maxHistory);
      return;
    case 'message':
      addToHistory(task, update.message, maxHistory);
      return;
    case 'artifact':
      applyArtifact((task.artifacts ??= []), update);
  }
}

function addToHistory(task: Task, message: Message, maxHistory: number): void {
  const history = (task.history ??= []);
  history.push(message);
  if (history.length > maxHistory) history.splice(0, history.length - maxHistory);
}

function applyArtifact(artifacts: Artifact[], { artifact, append }: ArtifactUpdate): void {
  const index = indexOfArtifact(artifacts, artifact.artifactId);
  const existing = artifacts[index];
  if (!existing) {
    artifacts.push(ownArrays(artifact));
  } else if (!append) {
    artifacts[index] = ownArrays(artifact);
  } else {
    existing.parts.push(...artifact.parts);
    if (artifact.metadata) existing.metadata = { ...existing.metadata, ...artifact.metadata };
  }
}

/** Looks from the end: chunks nearly always belong to the newest artifact. */
function indexOfArtifact(artifacts: readonly Artifact[], artifactId: string): number {
  return artifacts.findLastIndex((artifact) => artifact.artifactId === artifactId);
}

function ownArrays(artifact: Artifact): Artifact {
  return { ...artifact, parts: [...artifact.parts] };
}
