import { describe, expect, it } from '@jest/globals';
import { InvalidParamsError } from '../errors/rpc-errors.js';
import type { FieldViolation } from '../errors/error-details.js';
import type { JsonPath } from '../json-path.js';
import type { JsonObject, JsonValue } from '../json.js';
import { A2A_METHODS, type A2AMethod } from '../operations.js';
import { readStrictJson } from '../strict-json.js';
import { decodeRequest } from './decode-request.js';

const message = (fields: JsonObject = {}): JsonObject => ({
  messageId: 'm1',
  role: 'ROLE_USER',
  parts: [{ text: 'hi' }],
  ...fields,
});
const send = (fields: JsonObject = {}) => decodeRequest('SendMessage', { message: message(fields) });
const partOf = (part: JsonValue) => send({ parts: [part] }).message.parts[0];

function violations(
  method: A2AMethod,
  params: JsonValue | undefined,
  duplicates?: readonly JsonPath[],
): FieldViolation[] {
  try {
    decodeRequest(method, params, duplicates);
  } catch (error) {
    if (error instanceof InvalidParamsError) return [...error.violations];
    throw error;
  }
  return [];
}
const fields = (method: A2AMethod, params: JsonValue | undefined, duplicates?: readonly JsonPath[]) =>
  violations(method, params, duplicates).map(({ field }) => field);
const sendFields = (given: JsonObject) => fields('SendMessage', { message: message(given) });

describe('params', () => {
  it('that are absent or null read as an empty object (WIRE-08a)', () => {
    expect(decodeRequest('ListTasks', undefined)).toEqual({});
    expect(decodeRequest('ListTasks', null)).toEqual({});
    expect(decodeRequest('GetExtendedAgentCard', undefined)).toEqual({});
  });

  it.each([[[]], [[{}]], ['{}'], [5], [true], ['']])('given as %j are refused (WIRE-08a, B-06)', (params) => {
    for (const method of A2A_METHODS) expect(fields(method, params)).toEqual(['params']);
  });

  it('may hold unknown fields, which are ignored at every depth (WIRE-08b)', () => {
    const params = { id: 't1', extra: { a: 1 }, constructor: 1, toString: null };
    expect(decodeRequest('GetTask', params)).toEqual({ id: 't1' });
    expect(send({ kind: 'message' }).message).not.toHaveProperty('kind');
    expect(partOf({ text: 'x', type: 'text' })).toEqual({ text: 'x' });
  });

  it('leave nothing of themselves in the request (DM-15)', () => {
    const params = { message: message({ metadata: { a: { b: 1 } }, parts: [{ data: { c: [1] } }] }) };
    const request = decodeRequest('SendMessage', params);
    const before = JSON.stringify(request);
    params.message['metadata'] = { gone: true };
    ((params.message['parts'] as JsonObject[])[0]?.['data'] as { c: number[] }).c.push(2);
    expect(JSON.stringify(request)).toBe(before);
  });

  it('report all that is wrong at once', () => {
    const params = { message: { role: 'ROLE_AGENT', parts: [], contextId: 5 }, configuration: { historyLength: -1 } };
    expect(fields('SendMessage', params).sort()).toEqual([
      'configuration.historyLength',
      'message.contextId',
      'message.parts',
      'message.role',
    ]);
  });

  it('list at most a hundred violations', () => {
    expect(sendFields({ parts: Array.from({ length: 500 }, () => ({})) })).toHaveLength(100);
  });
});

describe('the spelling of fields', () => {
  it('is the JSON name or the proto name (R-06)', () => {
    const request = decodeRequest('SendMessage', {
      message: {
        message_id: 'm1',
        context_id: 'c1',
        role: 'ROLE_USER',
        parts: [{ text: 'x', media_type: 'text/plain' }],
      },
      configuration: { history_length: 3, return_immediately: true },
    });
    expect(request).toEqual({
      message: { messageId: 'm1', contextId: 'c1', role: 'ROLE_USER', parts: [{ text: 'x', mediaType: 'text/plain' }] },
      configuration: { historyLength: 3, returnImmediately: true },
    });
  });

  it.each([
    { contextId: 'c', context_id: 'c' },
    { contextId: null, context_id: 'c' },
    { contextId: 'c', context_id: null },
    { contextId: null, context_id: null },
  ])('is not both at once: %j (R-06, R-42)', (given) => {
    expect(sendFields(given)).toEqual(['message.contextId']);
  });

  it.each(['ContextId', 'CONTEXTID', 'contextID', 'contextid', 'Context_Id', 'CONTEXT_ID', 'context_ID'])(
    'is in no other case: %s (GATE-09a, R-42)',
    (key) => {
      expect(sendFields({ [key]: 'c' })).toEqual(['message.contextId']);
    },
  );

  it('is compared after unescaping, and a look-alike that folds to a field is refused (R-42)', () => {
    const { value } = readStrictJson('{"tas\\u212aId":"x","\\u0074askId":"t","id":"i"}');
    expect(fields('GetTaskPushNotificationConfig', value)).toEqual(['taskId']);
  });

  it('does not matter in free-form maps (GATE-09b)', () => {
    const data = { id: 1, ID: 2, contextId: 1, context_id: 2, ContextId: 3 };
    expect(partOf({ data, metadata: data })).toEqual({ data, metadata: data });
    expect(send({ metadata: data }).message.metadata).toEqual(data);
  });
});

describe('repeated keys', () => {
  it('are violations wherever they are, in free-form maps too (GATE-09)', () => {
    const text = '{"id":"a","id":"b","metadata":{"x":{"y":1,"y":2}}}';
    const { value, duplicates } = readStrictJson(text);
    expect(fields('CancelTask', value, duplicates)).toEqual(['id', 'metadata.x.y']);
  });

  it('are named by their JSON names', () => {
    const text =
      '{"message":{"message_id":"a","message_id":"b","role":"ROLE_USER","parts":[{"media_type":"a","media_type":"b","text":"x"}]}}';
    const { value, duplicates } = readStrictJson(text);
    expect(fields('SendMessage', value, duplicates)).toEqual(['message.messageId', 'message.parts[0].mediaType']);
  });
});

describe('null', () => {
  it('is absence for every field but a value (DM-07a)', () => {
    expect(decodeRequest('GetTask', { id: 't', historyLength: null, tenant: null })).toEqual({ id: 't' });
    expect(partOf({ text: 'x', url: null, raw: null, metadata: null })).toEqual({ text: 'x' });
    expect(fields('GetTask', { id: null })).toEqual(['id']);
    expect(fields('SendMessage', { message: null })).toEqual(['message']);
    expect(sendFields({ parts: null })).toEqual(['message.parts']);
  });

  it('is a value of data (DM-06)', () => {
    expect(partOf({ data: null })).toEqual({ data: null });
    expect(sendFields({ parts: [{ text: 'x', data: null }] })).toEqual(['message.parts[0]']);
  });

  it('is no element of an array', () => {
    expect(sendFields({ parts: [null] })).toEqual(['message.parts[0]']);
    expect(sendFields({ extensions: [null] })).toEqual(['message.extensions[0]']);
  });
});

describe('a message', () => {
  it('is required (SEND-01a, B-21)', () => {
    expect(fields('SendMessage', {})).toEqual(['message']);
    expect(fields('SendStreamingMessage', undefined)).toEqual(['message']);
    expect(fields('SendMessage', { message: 'hi' })).toEqual(['message']);
  });

  it.each(['ROLE_AGENT', 'ROLE_UNSPECIFIED', 'user', 'ROLE_user', '', null, 1])(
    'has no role but ROLE_USER: %j (SEND-01b, DM-02b)',
    (role) => {
      expect(sendFields({ role })).toEqual(['message.role']);
      expect(fields('SendStreamingMessage', { message: message({ role }) })).toEqual(['message.role']);
    },
  );

  it('has parts (SEND-01c)', () => {
    expect(sendFields({ parts: [] })).toEqual(['message.parts']);
    expect(sendFields({ parts: {} })).toEqual(['message.parts']);
    expect(sendFields({ parts: 'hi' })).toEqual(['message.parts']);
  });

  it('may leave its messageId to the server (CONF-15)', () => {
    const request = decodeRequest('SendMessage', { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } });
    expect(request.message).not.toHaveProperty('messageId');
    expect(send({ messageId: '' }).message).not.toHaveProperty('messageId');
  });

  it('keeps all of its fields (DM-09a)', () => {
    const full = message({
      contextId: 'c',
      taskId: 't',
      metadata: { a: 1 },
      extensions: ['https://e.example/1'],
      referenceTaskIds: ['r1', 'r2'],
    });
    expect(decodeRequest('SendMessage', { message: full, metadata: { b: null }, tenant: 'n' })).toEqual({
      message: full,
      metadata: { b: null },
      tenant: 'n',
    });
  });

  it('counts an optional field that is empty as unset', () => {
    const empty = { contextId: '', taskId: '', metadata: {}, extensions: [], referenceTaskIds: [] };
    expect(send(empty).message).toEqual(message());
  });
});

describe('a part', () => {
  it.each([
    {},
    { metadata: {} },
    { text: null },
    { url: null, raw: null },
    { text: 'a', data: { x: 1 } },
    { text: '', raw: 'QQ==' },
    { text: 'a', url: 'https://a.example' },
  ])('holds exactly one content: %j (DM-03, DM-07a, B-22)', (part) => {
    expect(sendFields({ parts: [{ text: 'ok' }, part] })).toEqual(['message.parts[1]']);
  });

  it.each([5, true, {}, []])('has text that is a string: %j (DM-07b)', (text) => {
    expect(sendFields({ parts: [{ text }] })).toEqual(['message.parts[0].text']);
  });

  it('may have empty text (DM-07b)', () => {
    expect(partOf({ text: '' })).toEqual({ text: '' });
  });

  it.each([false, 0, '', null, [1], 'text', { a: { b: [] } }, -1.5])('may have the data %j (DM-06, B-23)', (data) => {
    expect(partOf({ data })).toEqual({ data });
  });

  it('has raw content in standard base64, however it was sent (DM-05, R-41)', () => {
    expect(partOf({ raw: '-_8' })).toEqual({ raw: '+/8=' });
    expect(partOf({ raw: '' })).toEqual({ raw: '' });
    expect(sendFields({ parts: [{ raw: 'not base64!' }] })).toEqual(['message.parts[0].raw']);
  });

  it('keeps filename, mediaType and metadata on every kind (DM-04)', () => {
    const more = { filename: 'f', mediaType: 'a/b', metadata: { k: [1] } };
    for (const part of [
      { text: 'x', ...more },
      { raw: 'QQ==', ...more },
      { url: 'u', ...more },
      { data: 0, ...more },
    ]) {
      expect(partOf(part)).toEqual(part);
    }
  });

  it.each([{ filename: 1 }, { mediaType: [] }, { metadata: [] }, { metadata: 'x' }])('refuses %j', (more) => {
    expect(sendFields({ parts: [{ text: 'x', ...more }] })).toEqual([`message.parts[0].${Object.keys(more)[0]!}`]);
  });

  it('may hold a lone surrogate in text and data', () => {
    expect(partOf({ text: '\ud800' })).toEqual({ text: '\ud800' });
    expect(partOf({ data: '\ud800' })).toEqual({ data: '\ud800' });
  });
});

describe('an identifier', () => {
  const bad = ['x'.repeat(257), 'a\u0000b', 'a\nb', 'a\u001f', 'a\ud800', '\udc00b', 5, {}, []];

  it.each(bad)('is not %j (R-31, B-26)', (id) => {
    expect(fields('GetTask', { id })).toEqual(['id']);
    expect(fields('GetTask', { id: 't', tenant: id })).toEqual(['tenant']);
    expect(fields('ListTasks', { contextId: id })).toEqual(['contextId']);
    expect(fields('DeleteTaskPushNotificationConfig', { taskId: id, id })).toEqual(['taskId', 'id']);
    for (const name of ['messageId', 'contextId', 'taskId'])
      expect(sendFields({ [name]: id })).toEqual([`message.${name}`]);
    expect(sendFields({ referenceTaskIds: ['ok', id] })).toEqual(['message.referenceTaskIds[1]']);
  });

  it.each(['x'.repeat(256), 'hh', 'ä😀漢', ' ', '../x', "'; --", '\u007f'])('may be %j (B-30)', (id) => {
    expect(decodeRequest('GetTask', { id })).toEqual({ id });
  });

  it.each([
    ['GetTask', ['id']],
    ['CancelTask', ['id']],
    ['SubscribeToTask', ['id']],
    ['GetTaskPushNotificationConfig', ['taskId', 'id']],
    ['DeleteTaskPushNotificationConfig', ['taskId', 'id']],
    ['ListTaskPushNotificationConfigs', ['taskId']],
    ['CreateTaskPushNotificationConfig', ['taskId', 'url']],
  ] as const)('that %s requires is neither absent nor empty (PCFG-03a, PCFG-08, B-26)', (method, required) => {
    expect(fields(method, {}).sort()).toEqual([...required].sort());
    expect(fields(method, Object.fromEntries(required.map((name) => [name, '']))).sort()).toEqual([...required].sort());
  });

  it.each(A2A_METHODS)('is what the tenant of %s is, too (DM-13c, R-31)', (method) => {
    expect(fields(method, { tenant: 'n' })).not.toContain('tenant');
    expect(fields(method, { tenant: 'n\n' })).toContain('tenant');
  });

  it('is never empty in a list of them', () => {
    expect(sendFields({ referenceTaskIds: [''] })).toEqual(['message.referenceTaskIds[0]']);
  });
});

describe('an integer', () => {
  it.each([-1, 1.5, '3', 2 ** 31, -(2 ** 31), 1e300, true, [], {}])(
    'is not %j (DM-14a, GET-03b, B-38)',
    (historyLength) => {
      expect(fields('GetTask', { id: 't', historyLength })).toEqual(['historyLength']);
      expect(fields('ListTasks', { historyLength })).toEqual(['historyLength']);
      expect(fields('SendMessage', { message: message(), configuration: { historyLength } })).toEqual([
        'configuration.historyLength',
      ]);
    },
  );

  it('keeps zero, which is not absence (GET-03a, B-37)', () => {
    expect(decodeRequest('GetTask', { id: 't', historyLength: 0 })).toEqual({ id: 't', historyLength: 0 });
    expect(Object.is(decodeRequest('GetTask', { id: 't', historyLength: -0 }).historyLength, 0)).toBe(true);
    expect(decodeRequest('GetTask', { id: 't', historyLength: 2 ** 31 - 1 }).historyLength).toBe(2 ** 31 - 1);
  });

  it('is at least one as the page size of a task list (LIST-02b, B-77)', () => {
    for (const pageSize of [0, -1, 1.5, '10', 2 ** 31]) expect(fields('ListTasks', { pageSize })).toEqual(['pageSize']);
    expect(decodeRequest('ListTasks', { pageSize: 1 })).toEqual({ pageSize: 1 });
    expect(decodeRequest('ListTasks', { pageSize: 5000 })).toEqual({ pageSize: 5000 });
  });

  it('may be zero, for "unset", as the page size of a config list (PCFG-09b)', () => {
    expect(decodeRequest('ListTaskPushNotificationConfigs', { taskId: 't', pageSize: 0 })).toEqual({ taskId: 't' });
    expect(fields('ListTaskPushNotificationConfigs', { taskId: 't', pageSize: -1 })).toEqual(['pageSize']);
  });
});

describe('the filters of ListTasks', () => {
  it('take a known state, and UNSPECIFIED as none (LIST-03b, CONF-21)', () => {
    expect(decodeRequest('ListTasks', { status: 'TASK_STATE_WORKING' })).toEqual({ status: 'TASK_STATE_WORKING' });
    expect(decodeRequest('ListTasks', { status: 'TASK_STATE_UNSPECIFIED' })).toEqual({});
  });

  it.each(['working', 'TASK_STATE_working', 'TASK_STATE_DONE', 'constructor', '', 2, []])(
    'refuse the state %j (DM-02b, LIST-03b, B-77)',
    (status) => {
      expect(fields('ListTasks', { status })).toEqual(['status']);
    },
  );

  it('take any RFC 3339 timestamp, and give it in UTC (DM-11b)', () => {
    expect(decodeRequest('ListTasks', { statusTimestampAfter: '2025-10-28T12:00:00.5+02:00' })).toEqual({
      statusTimestampAfter: '2025-10-28T10:00:00.500Z',
    });
    for (const statusTimestampAfter of ['yesterday', '2025-02-30T00:00:00Z', '', 0]) {
      expect(fields('ListTasks', { statusTimestampAfter })).toEqual(['statusTimestampAfter']);
    }
  });

  it('tell an explicit false from absence, where the proto does', () => {
    expect(decodeRequest('ListTasks', { includeArtifacts: false })).toEqual({ includeArtifacts: false });
    expect(fields('ListTasks', { includeArtifacts: 'true' })).toEqual(['includeArtifacts']);
  });

  it('drop a page token that is empty', () => {
    expect(decodeRequest('ListTasks', { pageToken: '' })).toEqual({});
  });
});

describe('a push notification config', () => {
  const config = (more: JsonObject = {}): JsonObject => ({ taskId: 't', url: 'https://a.example/hook', ...more });
  const create = (more: JsonObject) => fields('CreateTaskPushNotificationConfig', config(more));

  it('keeps all of its fields (DM-13a)', () => {
    const full = config({ tenant: 'n', id: 'p', token: 'tok', authentication: { scheme: 'Bearer', credentials: 'c' } });
    expect(decodeRequest('CreateTaskPushNotificationConfig', full)).toEqual(full);
  });

  it('has a scheme in its authentication (DM-13b)', () => {
    expect(create({ authentication: {} })).toEqual(['authentication.scheme']);
    expect(create({ authentication: { scheme: '', credentials: 'c' } })).toEqual(['authentication.scheme']);
    expect(create({ authentication: 'Bearer x' })).toEqual(['authentication']);
  });

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\rb', 'a\0b', 'a\u0001b', 'a\u007f', '漢', 'a\u0100'])(
    'holds nothing that breaks a header: %j (R-10, B-90, S-04)',
    (text) => {
      expect(create({ token: text })).toEqual(['token']);
      expect(create({ authentication: { scheme: text } })).toEqual(['authentication.scheme']);
      expect(create({ authentication: { scheme: 'Bearer', credentials: text } })).toEqual([
        'authentication.credentials',
      ]);
    },
  );

  it('may hold Latin-1', () => {
    expect(create({ token: 'é\tÿ ~' })).toEqual([]);
  });

  it('is checked inline too, where it names no task', () => {
    const inline = (taskPushNotificationConfig: JsonValue) =>
      fields('SendMessage', { message: message(), configuration: { taskPushNotificationConfig } });
    expect(inline({ url: 'https://a.example' })).toEqual([]);
    expect(inline({})).toEqual(['configuration.taskPushNotificationConfig.url']);
    expect(inline({ url: 'u', authentication: { scheme: 'a\n' } })).toEqual([
      'configuration.taskPushNotificationConfig.authentication.scheme',
    ]);
  });
});

describe('odd JSON', () => {
  it('survives as data in free-form maps and pollutes nothing (GATE-10b, S-17)', () => {
    const { value } = readStrictJson(
      '{"message":{"__proto__":{"role":"ROLE_USER"},"role":"ROLE_USER","parts":[{"data":{"__proto__":{"polluted":1}}}],"metadata":{"__proto__":1,"constructor":{"prototype":{"polluted":1}}}}}',
    );
    const request = decodeRequest('SendMessage', value);
    expect(JSON.stringify(request.message.parts)).toBe('[{"data":{"__proto__":{"polluted":1}}}]');
    expect(Object.keys(request.message.metadata!)).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('cannot lend fields through a prototype', () => {
    const { value } = readStrictJson('{"__proto__":{"id":"t"}}');
    expect(fields('GetTask', value)).toEqual(['id']);
  });
});

describe('a violation', () => {
  it('says how to mend it, in few words and without the client’s', () => {
    const secret = 'S3CRET\u001b[31m';
    const params = {
      message: message({
        contextId: secret.repeat(100),
        [`CONTEXTid`]: 1,
        parts: [{ text: { secret } }, { raw: secret }],
      }),
      configuration: { historyLength: secret },
    };
    const found = violations('SendMessage', params, [['metadata', `${'k'.repeat(500)}\r\n`]]);
    expect(found.length).toBeGreaterThan(4);
    for (const { field, description } of found) {
      expect(description).not.toContain('S3CRET');
      expect(`${field}${description}`).not.toMatch(/\p{Cc}/u);
      expect(field.length).toBeLessThanOrEqual(256);
      expect(description.length).toBeLessThanOrEqual(256);
    }
  });
});
