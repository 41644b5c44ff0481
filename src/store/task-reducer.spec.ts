import { describe, expect, it } from '@jest/globals';
import { TaskState, type Message, type Task } from '#protocol';
import { applyUpdate } from './task-reducer.js';
import type { ArtifactUpdate, StatusUpdate, TaskUpdate } from './task-update.js';

const NO_BOUND = 200;

describe('The task reducer', () => {
  it('replaces the status and adds its message to the history (LIFE-13b)', () => {
    const task = submitted();
    const update = status(TaskState.Working, 'On it.');
    applyUpdate(task, update, NO_BOUND);
    expect(task.status).toBe(update.status);
    expect(task.history).toEqual([first, update.status.message]);
  });

  it('leaves the history alone when the status has no message (B-41)', () => {
    const task = submitted();
    applyUpdate(task, status(TaskState.Working), NO_BOUND);
    expect(task.history).toEqual([first]);
    expect(task.status).not.toHaveProperty('message');
  });

  it('adds a message of the client to the history and leaves the status (LIFE-09b)', () => {
    const task = submitted();
    applyUpdate(task, { kind: 'message', message: message('two') }, NO_BOUND);
    expect(task.history).toHaveLength(2);
    expect(task.status.state).toBe(TaskState.Submitted);
  });

  it('begins a history, a metadata and a list of artifacts where there are none', () => {
    const task: Task = { id: 't', contextId: 'c', status: { state: TaskState.Submitted } };
    applyUpdate(task, { ...status(TaskState.Working, 'On it.'), metadata: { a: 1 } }, NO_BOUND);
    applyUpdate(task, artifact('x', ['1']), NO_BOUND);
    expect(task).toMatchObject({ metadata: { a: 1 }, artifacts: [{ artifactId: 'x' }] });
    expect(task.history).toHaveLength(1);
  });

  it.each([1, 2, 3])('keeps the newest %i messages (LIFE-13a)', (maxHistory) => {
    const task = submitted();
    for (const text of ['b', 'c', 'd']) applyUpdate(task, { kind: 'message', message: message(text) }, maxHistory);
    expect(task.history?.map(({ messageId }) => messageId)).toEqual(['b', 'c', 'd'].slice(-maxHistory));
  });

  it('shortens a history that is longer than the bound by more than one (LIFE-13a)', () => {
    const task = submitted();
    task.history = ['1', '2', '3', '4', '5'].map(message);
    applyUpdate(task, { kind: 'message', message: message('6') }, 2);
    expect(task.history.map(({ messageId }) => messageId)).toEqual(['5', '6']);
  });

  it('merges the metadata of updates, newer over older (B-42)', () => {
    const task = submitted();
    applyUpdate(task, { ...status(TaskState.Working), metadata: { a: 1, deep: { x: 1 } } }, NO_BOUND);
    applyUpdate(task, { ...status(TaskState.Working), metadata: { b: 2, deep: { y: 2 } } }, NO_BOUND);
    expect(task.metadata).toEqual({ a: 1, b: 2, deep: { y: 2 } });
  });

  it('replaces an artifact where it stands (CTX-05)', () => {
    const task = submitted();
    for (const update of [artifact('a', ['1']), artifact('b', ['2']), artifact('a', ['3'])])
      applyUpdate(task, update, NO_BOUND);
    expect(task.artifacts?.map(({ artifactId, parts }) => [artifactId, parts])).toEqual([
      ['a', [{ text: '3' }]],
      ['b', [{ text: '2' }]],
    ]);
  });

  it('adds parts and metadata to an artifact, and creates it when it is not there (CTX-06, B-43)', () => {
    const task = submitted();
    applyUpdate(task, artifact('a', ['1'], true), NO_BOUND);
    applyUpdate(task, artifact('a', ['2'], true, { a: 1 }), NO_BOUND);
    applyUpdate(task, artifact('a', ['3'], true, { b: 2 }), NO_BOUND);
    expect(task.artifacts).toEqual([
      { artifactId: 'a', parts: [{ text: '1' }, { text: '2' }, { text: '3' }], metadata: { a: 1, b: 2 } },
    ]);
  });

  it('never changes an update that it has applied, whatever comes after it (DM-15, B-70)', () => {
    const task = submitted();
    const updates: TaskUpdate[] = [
      artifact('a', ['1'], false, { a: 1 }),
      artifact('a', ['2'], true, { b: 2 }),
      { ...status(TaskState.Working, 'On it.'), metadata: { a: 1 } },
      { ...status(TaskState.Completed, 'Done.'), metadata: { b: 2 } },
    ];
    const before = structuredClone(updates);
    updates.forEach((update) => {
      applyUpdate(task, update, NO_BOUND);
    });
    expect(updates).toEqual(before);
  });

  it('costs the same for each chunk, however many there are', () => {
    const task = submitted();
    applyUpdate(task, artifact('a', []), NO_BOUND);
    const parts = task.artifacts?.[0]?.parts;
    for (let index = 0; index < 1_000; index++) applyUpdate(task, artifact('a', ['x'], true), NO_BOUND);
    expect(task.artifacts?.[0]?.parts).toBe(parts);
    expect(parts).toHaveLength(1_000);
  });
});

const first = message('first');

function submitted(): Task {
  return { id: 't', contextId: 'c', status: { state: TaskState.Submitted }, history: [first] };
}

function message(messageId: string): Message {
  return { messageId, role: 'ROLE_USER', parts: [{ text: messageId }] };
}

function status(state: TaskState, text?: string): StatusUpdate {
  return { kind: 'status', status: { state, ...(text !== undefined && { message: message(text) }) } };
}

function artifact(
  artifactId: string,
  texts: string[],
  append = false,
  metadata?: ArtifactUpdate['metadata'],
): ArtifactUpdate {
  const parts = texts.map((text) => ({ text }));
  return { kind: 'artifact', artifact: { artifactId, parts, ...(metadata && { metadata }) }, append, lastChunk: false };
}
