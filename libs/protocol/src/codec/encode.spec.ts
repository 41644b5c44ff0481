import { describe, expect, it } from '@jest/globals';
import { InvalidAgentResponseError } from '../errors/domain-errors.js';
import type { MessageName, MessageTypes } from '../message-types.js';
import type { AgentCard, Artifact, Message, Part, Task } from '../model.js';
import { encode } from './encode.js';

const task = (more: object = {}): Task => ({
  id: 't1',
  contextId: 'c1',
  status: { state: 'TASK_STATE_WORKING' },
  ...more,
});
const message = (more: object = {}): Message => ({
  messageId: 'm1',
  role: 'ROLE_AGENT',
  parts: [{ text: 'hi' }],
  ...more,
});
const encodePart = (part: object) => encode('Part', part as Part);

/** Encodes a value that the compiler would not let through. */
const encodeAny = (name: MessageName, value: unknown) => encode(name, value as MessageTypes[typeof name]);

describe('what encode writes of a task', () => {
  it('is its required fields, always (WIRE-11a)', () => {
    expect(encode('Task', task())).toEqual({ id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } });
    expect(encode('Task', task({ contextId: '' }))).toHaveProperty('contextId', '');
  });

  it('leaves empty artifacts, history and metadata out (DM-10a)', () => {
    expect(Object.keys(encode('Task', task({ artifacts: [], history: [], metadata: {} })))).toEqual([
      'id',
      'contextId',
      'status',
    ]);
    expect(Object.keys(encode('Task', task({ artifacts: undefined, history: null })))).toHaveLength(3);
  });

  it('holds everything that is set (DM-09, DM-10)', () => {
    const full = task({
      status: { state: 'TASK_STATE_COMPLETED', message: message(), timestamp: '2025-10-28T10:00:00.000Z' },
      artifacts: [
        {
          artifactId: 'a1',
          name: 'n',
          description: 'd',
          parts: [{ data: { x: 1 }, metadata: { y: 2 }, filename: 'f', mediaType: 'a/b' }],
          metadata: { z: 3 },
          extensions: ['e'],
        },
      ],
      history: [
        message({ contextId: 'c1', taskId: 't1', metadata: { m: 1 }, extensions: ['e'], referenceTaskIds: ['r'] }),
      ],
      metadata: { k: null },
    });
    expect(encode('Task', full)).toEqual(full);
  });

  it('leaves out what the schema does not know', () => {
    expect(encode('Task', task({ kind: 'task', owner: 'alice', version: 3 }))).toEqual(encode('Task', task()));
  });

  it('gives timestamps in UTC with milliseconds (WIRE-11b)', () => {
    const status = { state: 'TASK_STATE_WORKING', timestamp: '2025-10-28T12:00:00+02:00' };
    expect(encode('Task', task({ status }))).toMatchObject({ status: { timestamp: '2025-10-28T10:00:00.000Z' } });
  });
});

describe('what encode writes of an artifact', () => {
  it.each([{ parts: null }, { parts: undefined }, { parts: [] }, {}])('has parts, given %j (DM-09c)', (given) => {
    expect(encode('Artifact', { artifactId: 'a', ...given } as Artifact)).toEqual({ artifactId: 'a', parts: [] });
  });
});

describe('what encode writes of a part', () => {
  it.each([null, false, 0, '', [], {}])('keeps the data %j (DM-06)', (data) => {
    expect(encodePart({ data })).toEqual({ data });
  });

  it('keeps empty text, raw and url content', () => {
    expect(encodePart({ text: '' })).toEqual({ text: '' });
    expect(encodePart({ raw: '' })).toEqual({ raw: '' });
    expect(encodePart({ url: '' })).toEqual({ url: '' });
  });

  it('passes free-form values by reference', () => {
    const data = { a: 1 };
    expect(encodePart({ data })['data']).toBe(data);
  });

  it.each([
    {},
    { text: 'a', url: 'b' },
    { text: 'a', data: null },
    { text: null },
    { data: undefined },
    { metadata: {} },
  ])('is refused without exactly one content: %j (ERR-06)', (part) => {
    expect(() => encodePart(part)).toThrow(InvalidAgentResponseError);
  });

  it('is refused when its content is of the wrong type', () => {
    for (const part of [
      { text: 5 },
      { raw: new Uint8Array(1) },
      { text: 'x', metadata: [] },
      { text: 'x', filename: 1 },
    ]) {
      expect(() => encodePart(part)).toThrow(InvalidAgentResponseError);
    }
  });
});

describe('what encode writes of events', () => {
  const artifact = { artifactId: 'a', parts: [] };

  it('leaves false booleans out (DM-12a)', () => {
    const event = { taskId: 't', contextId: 'c', artifact, append: false, lastChunk: false };
    expect(encode('TaskArtifactUpdateEvent', event)).toEqual({ taskId: 't', contextId: 'c', artifact });
    expect(encode('TaskArtifactUpdateEvent', { ...event, append: true, lastChunk: true })).toMatchObject({
      append: true,
      lastChunk: true,
    });
  });

  it('has one content (DM-12b)', () => {
    expect(encode('StreamResponse', { task: task() })).toEqual({ task: task() });
    expect(encode('SendMessageResponse', { message: message() })).toEqual({ message: message() });
  });
});

describe('what encode writes of lists', () => {
  it('has all four fields of ListTasks (B-78)', () => {
    const empty = { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 };
    expect(encode('ListTasksResponse', empty)).toEqual(empty);
  });

  it('has configs, and no empty page token (PCFG-09a)', () => {
    expect(encode('ListTaskPushNotificationConfigsResponse', { configs: [], nextPageToken: '' })).toEqual({
      configs: [],
    });
    expect(encodeAny('ListTaskPushNotificationConfigsResponse', {})).toEqual({ configs: [] });
  });
});

describe('what encode writes of a card', () => {
  const card: AgentCard = {
    name: 'Agent',
    description: '',
    supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    version: '1.0.0',
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 'S', description: '', tags: [] }],
  };

  it('has its required fields, empty ones too, and the two capabilities that always show (WIRE-11a)', () => {
    expect(encode('AgentCard', card)).toEqual({
      ...card,
      capabilities: { streaming: false, pushNotifications: false },
    });
  });

  it('keeps optional fields that were set to their default (B-99)', () => {
    const capabilities = { streaming: false, extendedAgentCard: false, extensions: [] };
    expect(encode('AgentCard', { ...card, capabilities, documentationUrl: '' })).toMatchObject({
      capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
      documentationUrl: '',
    });
    expect(encode('AgentCapabilities', capabilities)).not.toHaveProperty('extensions');
    expect(encode('AgentExtension', { uri: 'e', required: false })).toEqual({ uri: 'e' });
  });

  it('holds security schemes and requirements', () => {
    const securitySchemes = {
      key: { apiKeySecurityScheme: { location: 'header' as const, name: 'X-Key' } },
      oauth: {
        oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://a.example/t', scopes: {} } } },
      },
      tls: { mtlsSecurityScheme: {} },
    };
    const securityRequirements = [{ schemes: { key: { list: [] }, oauth: { list: ['a'] } } }];
    expect(encode('AgentCard', { ...card, securitySchemes, securityRequirements })).toMatchObject({
      securitySchemes,
      securityRequirements: [{ schemes: { key: {}, oauth: { list: ['a'] } } }],
    });
  });

  it('keeps a map key such as __proto__ as data (S-17)', () => {
    const scopes = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const wire = encode('ClientCredentialsOAuthFlow', { tokenUrl: 't', scopes });
    expect(JSON.stringify(wire)).toBe('{"tokenUrl":"t","scopes":{"__proto__":"x"}}');
  });
});

describe('what encode refuses (ERR-06)', () => {
  it.each<[string, MessageName, unknown]>([
    ['a task without id', 'Task', { ...task(), id: undefined }],
    ['a task with an empty id', 'Task', task({ id: '' })],
    ['a task without status', 'Task', { id: 't', contextId: 'c' }],
    ['an unknown state', 'Task', task({ status: { state: 'working' } })],
    ['the unspecified state', 'Task', task({ status: { state: 'TASK_STATE_UNSPECIFIED' } })],
    ['a missing state', 'Task', task({ status: {} })],
    ['an unknown role', 'Message', message({ role: 'agent' })],
    ['the unspecified role', 'Message', message({ role: 'ROLE_UNSPECIFIED' })],
    ['a message without id', 'Message', { role: 'ROLE_AGENT', parts: [] }],
    ['an artifact without id', 'Artifact', { parts: [] }],
    ['an event without task', 'TaskStatusUpdateEvent', { contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }],
    ['a timestamp that is none', 'Task', task({ status: { state: 'TASK_STATE_WORKING', timestamp: 'now' } })],
    ['a list that is none', 'Task', task({ history: {} })],
    ['an event without content', 'StreamResponse', {}],
    ['an event with two contents', 'StreamResponse', { task: task(), message: message() }],
    ['a response with two contents', 'SendMessageResponse', { task: task(), message: message() }],
    ['a broken part deep within', 'StreamResponse', { task: task({ history: [message({ parts: [{}] })] }) }],
    ['a fractional count', 'ListTasksResponse', { tasks: [], nextPageToken: '', pageSize: 1.5, totalSize: 0 }],
    ['no object', 'Task', 'task'],
    ['null', 'Task', null],
  ])('%s', (_, name, value) => {
    expect(() => encodeAny(name, value)).toThrow(InvalidAgentResponseError);
  });
});

it('encodes a task of 10,000 parts in no time', () => {
  const parts = Array.from({ length: 10_000 }, (_, n) => ({ text: `part ${n}`, metadata: { n } }));
  const large = task({ artifacts: [{ artifactId: 'a', parts }] });
  encode('Task', large);
  const start = performance.now();
  encode('Task', large);
  expect(performance.now() - start).toBeLessThan(200);
});
