import { describe, expect, it } from '@jest/globals';
import { InvalidAgentResponseError } from '../errors/domain-errors.js';
import { readStrictJson } from '../strict-json.js';
import { decodeStreamResponse } from './decode-stream-response.js';

const decode = (event: unknown) => decodeStreamResponse(readStrictJson(JSON.stringify(event)));

const status = { state: 'TASK_STATE_WORKING' };
const task = { id: 't', contextId: 'c', status };
const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] };
const statusUpdate = { taskId: 't', contextId: 'c', status };
const artifactUpdate = { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [{ data: null }] } };

describe('an event that another agent sent (§4.3.3)', () => {
  it.each([{ task }, { message }, { statusUpdate }, { artifactUpdate }])('is read as it is: %j (DM-12b)', (event) => {
    expect(decode(event)).toEqual(event);
  });

  it('is read in its normal form, without the fields that nobody knows (§5.7)', () => {
    const event = {
      status_update: {
        task_id: 't',
        contextId: 'c',
        status: { ...status, timestamp: '2026-01-01T01:00:00+01:00', other: 1 },
        metadata: { kept: [1] },
        other: {},
      },
      task: null,
      other: true,
    };
    expect(decode(event)).toEqual({
      statusUpdate: {
        taskId: 't',
        contextId: 'c',
        status: { ...status, timestamp: '2026-01-01T00:00:00.000Z' },
        metadata: { kept: [1] },
      },
    });
  });

  it.each([{}, { parts: [] }])('may bring an artifact that is empty: %j', (parts) => {
    const event = { artifactUpdate: { ...artifactUpdate, artifact: { artifactId: 'a', ...parts } } };
    expect(decode(event)).toMatchObject({ artifactUpdate: { artifact: { artifactId: 'a', parts: [] } } });
  });

  it('may bring a task without a context', () => {
    expect(decode({ task: { id: 't', status } })).toEqual({ task: { id: 't', contextId: '', status } });
  });

  it.each<[unknown, string]>([
    [null, 'must be an object'],
    [[{ task }], 'must be an object'],
    [{}, 'exactly one of'],
    [{ other: task }, 'exactly one of'],
    [{ task, message }, 'exactly one of'],
    [{ statusUpdate, status_update: statusUpdate }, 'statusUpdate'],
    [{ StatusUpdate: statusUpdate }, 'statusUpdate'],
    [{ task: { ...task, id: '' } }, 'task.id'],
    [{ task: { ...task, id: 'x'.repeat(257) } }, 'task.id'],
    [{ statusUpdate: { ...statusUpdate, status: { state: 'working' } } }, 'statusUpdate.status.state'],
    [{ statusUpdate: { ...statusUpdate, taskId: 5 } }, 'statusUpdate.taskId'],
    [{ artifactUpdate: { ...artifactUpdate, artifact: { artifactId: 'a', parts: [{}] } } }, 'parts[0]'],
    [{ message: { ...message, messageId: undefined } }, 'messageId'],
    [{ message: { ...message, parts: [] } }, 'message.parts'],
  ])('is refused when it is none: %j', (event, what) => {
    expect(() => decode(event)).toThrow(InvalidAgentResponseError);
    expect(() => decode(event)).toThrow(what);
  });

  it('is refused when it says something twice', () => {
    const text = `{"task":${JSON.stringify(task)},"task":${JSON.stringify({ ...task, id: 'other' })}}`;
    expect(() => decodeStreamResponse(readStrictJson(text))).toThrow('repeated');
  });
});
