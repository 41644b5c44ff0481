import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InvalidParamsError } from '../errors/rpc-errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { MessageName } from '../message-types.js';
import { A2A_METHODS, OPERATIONS } from '../operations.js';
import { ENUMS } from '../schema.js';
import type { FieldType } from '../schema/field.js';
import { type NamedField, shapeOf } from '../schema/shape.js';
import { decodeRequest } from './decode-request.js';
import { encode } from './encode.js';

const anyJson = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>;
const anyObject = fc.dictionary(fc.string(), anyJson, {
  noNullPrototype: true,
  maxKeys: 3,
}) as fc.Arbitrary<JsonObject>;
/** Fit for an identifier and for a header. */
const word = fc.string({ minLength: 1, maxLength: 8 });

describe.each(A2A_METHODS)('decodeRequest of %s', (method) => {
  const { request: name } = OPERATIONS[method];

  it('takes any JSON, and throws nothing but InvalidParamsError', () => {
    fc.assert(
      fc.property(fc.oneof(anyJson, flawedMessage(name)), (params) => {
        try {
          decodeRequest(method, params);
        } catch (error) {
          if (!(error instanceof InvalidParamsError)) throw error;
          expect(error.violations.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 10_000 },
    );
  });

  it('reads back what encode writes', () => {
    fc.assert(
      fc.property(soundMessage(name), (params) => {
        const request = decodeRequest(method, params);
        const wire = encode(name, request);
        expect(decodeRequest(method, wire)).toEqual(request);
        expect(encode(name, decodeRequest(method, wire))).toEqual(wire);
      }),
      { numRuns: 500 },
    );
  });
});

/** A message of which every value is right, and every optional field may be absent. */
function soundMessage(name: MessageName): fc.Arbitrary<JsonObject> {
  const { fields } = shapeOf(name);
  const contents = fields.filter((field) => field.oneof !== undefined);
  const others = fields.filter((field) => field.oneof === undefined);
  const requiredKeys = others.filter((field) => field.required ?? field.name === 'taskId').map((field) => field.name);
  const rest = fc.record(Object.fromEntries(others.map((field) => [field.name, soundField(field)])), { requiredKeys });
  if (contents.length === 0) return rest;
  const content = fc.oneof(...contents.map((field) => fc.record({ [field.name]: soundField(field) })));
  return fc.tuple(content, rest).map(([one, more]) => ({ ...one, ...more }));
}

function soundField(field: NamedField): fc.Arbitrary<JsonValue> {
  const one = soundValue(field.type);
  return field.label === 'repeated' ? fc.array(one, { minLength: field.required ? 1 : 0, maxLength: 3 }) : one;
}

function soundValue(type: FieldType): fc.Arbitrary<JsonValue> {
  switch (type.kind) {
    case 'message':
      return soundMessage(type.of);
    case 'enum':
      return type.of === 'Role' ? fc.constant('ROLE_USER') : fc.constantFrom(...ENUMS[type.of]);
    case 'bool':
      return fc.boolean();
    case 'int32':
      return fc.integer({ min: type.min, max: 2 ** 31 - 1 });
    case 'timestamp':
      return fc
        .date({ noInvalidDate: true, min: new Date('0001-01-01Z'), max: new Date('9999-12-31Z') })
        .map((date) => date.toISOString());
    case 'bytes':
      return fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
    case 'struct':
      return anyObject;
    case 'value':
      return anyJson;
    case 'string':
      return word;
  }
}

/** A message in either spelling, or in both, with any JSON in place of a field here and there. */
function flawedMessage(name: MessageName): fc.Arbitrary<JsonValue> {
  const entries = shapeOf(name).fields.flatMap((field) => {
    const value = flawedField(field);
    return [field.name, field.protoName].map((spelling) => [spelling, value] as const);
  });
  return fc.record(Object.fromEntries(entries), { requiredKeys: [] }) as fc.Arbitrary<JsonValue>;
}

function flawedField({ type, label }: NamedField): fc.Arbitrary<JsonValue> {
  const one = type.kind === 'message' ? flawedMessage(type.of) : soundValue(type);
  const right = label === 'repeated' ? fc.array(one, { maxLength: 2 }) : one;
  return fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: anyJson });
}
