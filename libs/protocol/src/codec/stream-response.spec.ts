import { describe, expect, it } from '@jest/globals';
import { InvalidAgentResponseError } from '../errors/domain-errors.js';
import { isStreamResponse, validateStreamResponse } from './stream-response.js';

const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] };
const statusUpdate = { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
const artifactUpdate = { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [] } };

describe('a stream response', () => {
  it.each([{ task }, { message }, { statusUpdate }, { artifactUpdate }])('is one content: %j (DM-12b)', (event) => {
    expect(isStreamResponse(event)).toBe(true);
    expect(() => {
      validateStreamResponse(event);
    }).not.toThrow();
  });

  it.each([
    {},
    { task, message },
    { statusUpdate, artifactUpdate },
    { task: null },
    { other: task },
    null,
    undefined,
    'x',
    [],
  ])('is neither none nor several: %j (DM-12b)', (event) => {
    expect(isStreamResponse(event)).toBe(false);
    expect(() => {
      validateStreamResponse(event);
    }).toThrow(InvalidAgentResponseError);
  });

  it('is well-formed within (ERR-06)', () => {
    expect(isStreamResponse({ task: { ...task, status: { state: 'done' } } })).toBe(false);
    expect(isStreamResponse({ message: { ...message, parts: [{}] } })).toBe(false);
  });
});
