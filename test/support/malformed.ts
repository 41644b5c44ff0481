import fc from 'fast-check';
import type { JsonObject, JsonValue } from 'nestjs-a2a';
import { A2A_METHODS, type A2AMethod } from 'nestjs-a2a/protocol';

/** The ids of tasks that malformed calls may be about. */
export interface KnownTasks {
  readonly ended: string;
  readonly paused: string;
}

/** A good call of each method, for spoiling. */
function goodParams(method: A2AMethod, { ended, paused }: KnownTasks): JsonObject[] {
  const message: JsonObject = {
    messageId: 'm1',
    role: 'ROLE_USER',
    parts: [
      { text: 'hi', mediaType: 'text/plain' },
      { data: { a: [1, null], b: 'x' } },
      { raw: 'QQ==', filename: 'f' },
    ],
    metadata: { skill: 'echo', nested: { deep: [true] } },
    contextId: 'c1',
    extensions: ['https://ext.example.com'],
    referenceTaskIds: [ended],
  };
  const configuration: JsonObject = { historyLength: 1, acceptedOutputModes: ['text/plain'], returnImmediately: false };
  const config: JsonObject = {
    taskId: ended,
    id: 'p1',
    url: 'https://hook.example.com',
    token: 't',
    authentication: { scheme: 'Bearer', credentials: 'c' },
  };
  switch (method) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return [
        { message, configuration, metadata: { k: 'v' }, tenant: 't' },
        { message: { ...message, metadata: { skill: 'ask' } } },
        { message: { role: 'ROLE_USER', parts: [{ text: 'again' }], taskId: paused } },
        { message: { role: 'ROLE_USER', parts: [{ text: 'again' }], taskId: ended } },
        { message, configuration: { ...configuration, taskPushNotificationConfig: config } },
      ];
    case 'GetTask':
      return [{ id: ended, historyLength: 2, tenant: '' }, { id: 'unknown' }];
    case 'ListTasks':
      return [
        {
          contextId: 'c1',
          status: 'TASK_STATE_COMPLETED',
          pageSize: 2,
          pageToken: '',
          historyLength: 0,
          statusTimestampAfter: '2025-01-01T00:00:00Z',
          includeArtifacts: true,
        },
        {},
      ];
    case 'CancelTask':
      return [{ id: ended, metadata: { why: 'x' } }, { id: 'unknown' }];
    case 'SubscribeToTask':
      return [{ id: ended }];
    case 'GetExtendedAgentCard':
      return [{ tenant: 't' }];
    default:
      return [config];
  }
}

const ODD_STRINGS = [
  '',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  '\u0000',
  '\ud800',
  '漢😀',
  '../..',
  "';--",
  '1e999',
];
const ODD_NUMBERS = [0, -0, -1, 1.5, 2 ** 31, 2 ** 53, 1e300, 5e-324];

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>,
  fc.constantFrom<JsonValue>(null, true, false, {}, [], ...ODD_STRINGS, ...ODD_NUMBERS),
);
const anyKey = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom(...ODD_STRINGS, 'taskId', 'task_id', 'id', 'Id', 'parts'),
);

/** One change somewhere in a JSON tree; the place is taken modulo what there is. */
interface Change {
  readonly place: number;
  readonly kind: 'replace' | 'remove' | 'rename' | 'add' | 'wrap' | 'capitals';
  readonly value: JsonValue;
  readonly key: string;
}

const anyChange: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(),
  kind: fc.constantFrom('replace', 'remove', 'rename', 'add', 'wrap', 'capitals'),
  value: anyJson,
  key: anyKey,
});

/** A call that was good before it was changed in its JSON. */
function changedCall(known: KnownTasks): fc.Arbitrary<string> {
  const callsOf = (methods: readonly A2AMethod[]) =>
    methods.flatMap((method) =>
      goodParams(method, known).map((params): JsonObject => ({ jsonrpc: '2.0', id: 1, method, params })),
    );
  const call = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...callsOf(['SendMessage', 'GetTask', 'ListTasks', 'CancelTask'])) },
    { weight: 1, arbitrary: fc.constantFrom(...callsOf(A2A_METHODS)) },
  );
  return fc
    .tuple(call, fc.array(anyChange, { minLength: 1, maxLength: 2 }))
    .map(([call, changes]) => JSON.stringify(changes.reduce<JsonValue>((tree, change) => applied(tree, change), call)));
}

/** A call that was good before its bytes were changed. */
function changedBytes(known: KnownTasks): fc.Arbitrary<Buffer> {
  const edit = fc.record({
    place: fc.nat(),
    removed: fc.nat({ max: 3 }),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 3 }),
      fc.constantFrom(
        ...[
          '"',
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          '\\',
          '\u0000',
          '\ufeff',
          '"id":1,',
          '"method":"x",',
          '"a":1,"a":1,',
        ].map((text) => Buffer.from(text)),
      ),
    ),
  });
  return fc.tuple(changedCall(known), fc.array(edit, { minLength: 1, maxLength: 3 })).map(([text, edits]) =>
    edits.reduce((bytes, { place, removed, bytes: inserted }) => {
      const at = place % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
    }, Buffer.from(text)),
  );
}

/** Bodies of every kind: noise, any JSON, and good calls with something wrong. */
export function malformedBody(known: KnownTasks): fc.Arbitrary<string | Uint8Array> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1, arbitrary: anyJson.map((value) => JSON.stringify(value)) },
    { weight: 8, arbitrary: changedCall(known) },
    { weight: 4, arbitrary: changedBytes(known) },
  );
}

type Path = readonly (string | number)[];

function applied(tree: JsonValue, { place, kind, value, key }: Change): JsonValue {
  const paths = pathsOf(tree);
  const path = paths[place % paths.length] ?? [];
  const last = path.at(-1);
  switch (kind) {
    case 'replace':
      return changedAt(tree, path, () => value);
    case 'wrap':
      return changedAt(tree, path, (old) => [old]);
    case 'add':
      return changedAt(tree, path, (old) => (isObject(old) ? { ...old, [key]: value } : [old, value]));
    default:
      if (typeof last !== 'string') return changedAt(tree, path, () => value);
      return changedAt(tree, path.slice(0, -1), (parent) => {
        const { [last]: old = null, ...rest } = parent as JsonObject;
        if (kind === 'remove') return rest;
        return { ...rest, [kind === 'capitals' ? last.toUpperCase() : key]: old };
      });
  }
}

function changedAt(tree: JsonValue, [step, ...rest]: Path, change: (old: JsonValue) => JsonValue): JsonValue {
  if (step === undefined) return change(tree);
  if (Array.isArray(tree)) return tree.map((item, index) => (index === step ? changedAt(item, rest, change) : item));
  const parent = tree as JsonObject;
  return { ...parent, [step]: changedAt(parent[step] ?? null, rest, change) };
}

function pathsOf(tree: JsonValue, path: Path = []): Path[] {
  const below = Array.isArray(tree) ? [...tree.entries()] : isObject(tree) ? Object.entries(tree) : [];
  return [path, ...below.flatMap(([step, value]) => pathsOf(value, [...path, step]))];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
