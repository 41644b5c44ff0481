import { InvalidAgentResponseError } from '../errors/domain-errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { MessageName, MessageTypes } from '../message-types.js';
import { setOwn } from '../own-property.js';
import { type NamedField, type Shape, shapeOf } from '../schema/shape.js';
import { isDefault } from './decode-scalar.js';
import { encodeScalar } from './encode-scalar.js';

/**
 * Writes a message of the protocol as JSON.
 *
 * - Names are lowerCamelCase; what is not in the schema is left out.
 * - Default and empty values are left out, unless the field is required, has presence and was set, or is one of those
 *   that always show.
 * - Free-form values (data, metadata) are passed by reference: the result is for writing out, not for keeping.
 *
 * @throws {InvalidAgentResponseError} When the value breaks the protocol: a required field that is missing, an unknown
 *   state or role, a part or event with no content or with several.
 * @see A2A v1.0 §5.5 JSON Field Naming Convention, §5.7 Field Presence and Optionality
 */
export function encode<N extends MessageName>(name: N, value: MessageTypes[N]): JsonObject {
  return encodeMessage(shapeOf(name), value);
}

function encodeMessage(shape: Shape, value: unknown): JsonObject {
  if (!isRecord(value)) throw new InvalidAgentResponseError(`${shape.name} must be an object`);
  const wire: JsonObject = {};
  let contents = 0;
  for (const field of shape.fields) {
    const encoded = encodeField(shape, field, value[field.name]);
    if (encoded === undefined) continue;
    wire[field.name] = encoded;
    if (field.oneof !== undefined) contents += 1;
  }
  if (shape.contents.length > 0 && contents !== 1) {
    throw new InvalidAgentResponseError(`${shape.name} must hold exactly one of ${shape.contents.join(', ')}`);
  }
  return wire;
}

function encodeField(shape: Shape, field: NamedField, value: unknown): JsonValue | undefined {
  // For a Value, null is a value like any other.
  if (value === undefined || (value === null && field.type.kind !== 'value')) return unset(shape, field);
  const encoded = encodeLabelled(shape, field, value);
  if (field.label === 'optional' || field.oneof !== undefined || !isDefault(field, encoded)) return encoded;
  if (field.required && mustBeSet(field)) throw invalid(shape, field, 'must not be empty');
  return field.required || field.always ? encoded : undefined;
}

/** What is written for a field that has no value. */
function unset(shape: Shape, field: NamedField): JsonValue | undefined {
  if (!field.required && !field.always) return undefined;
  if (field.label === 'repeated') return [];
  if (field.label === 'map') return {};
  if (field.required) throw invalid(shape, field, 'is required');
  return field.type.kind === 'bool' ? false : '';
}

/** A required identifier or enum whose default says nothing. Other required fields may be empty. */
function mustBeSet({ type, label }: NamedField): boolean {
  return label === 'singular' && (type.kind === 'enum' || (type.kind === 'string' && type.rule === 'id'));
}

function encodeLabelled(shape: Shape, field: NamedField, value: unknown): JsonValue {
  if (field.label === 'repeated') {
    if (!Array.isArray(value)) throw invalid(shape, field, 'must be an array');
    return value.map((item) => encodeOne(shape, field, item));
  }
  if (field.label !== 'map') return encodeOne(shape, field, value);
  if (!isRecord(value)) throw invalid(shape, field, 'must be an object');
  const wire: JsonObject = {};
  for (const [key, item] of Object.entries(value)) setOwn(wire, key, encodeOne(shape, field, item));
  return wire;
}

function encodeOne(shape: Shape, field: NamedField, value: unknown): JsonValue {
  if (field.type.kind === 'message') return encodeMessage(shapeOf(field.type.of), value);
  const encoded = encodeScalar(field.type, value);
  if (encoded === undefined) throw invalid(shape, field, `is no ${field.type.kind}`);
  return encoded;
}

function invalid(shape: Shape, field: NamedField, problem: string): InvalidAgentResponseError {
  return new InvalidAgentResponseError(`${shape.name}.${field.name} ${problem}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
