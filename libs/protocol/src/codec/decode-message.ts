import type { JsonObject, JsonValue } from '../json.js';
import type { MessageName } from '../message-types.js';
import { setOwn } from '../own-property.js';
import { type NamedField, type Shape, shapeOf } from '../schema/shape.js';
import { scrub } from '../scrub.js';
import { decodeScalar, isDefault } from './decode-scalar.js';
import type { Violations } from './violations.js';

/**
 * Decodes one message of the schema from JSON, as ProtoJSON does, with our stricter rules.
 *
 * - Each field is read by its JSON or its proto name; both at once, or another case, is a violation.
 * - `null` and default values count as unset, unless the field has presence. Unknown fields are ignored.
 * - The result shares nothing with the source.
 *
 * @param path Where the message stands, for the violations.
 * @returns The message; of no use when there are violations.
 */
export function decodeMessage(name: MessageName, source: JsonObject, path: string, violations: Violations): JsonObject {
  const shape = shapeOf(name);
  const given = collectFields(shape, source, path, violations);
  checkContents(shape, given, path, violations);
  const message: JsonObject = {};
  for (const field of shape.fields) {
    const decoded = decodeField(field, given.get(field.name), join(path, field.name), violations);
    if (decoded !== undefined) message[field.name] = decoded;
  }
  return message;
}

/** Finds the fields that are set, by their JSON names. */
function collectFields(shape: Shape, source: JsonObject, path: string, violations: Violations): Map<string, JsonValue> {
  const seen = new Set<string>();
  const given = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(source)) {
    const field = shape.spelled.get(key);
    if (field === undefined) {
      const meant = shape.folded.get(key.toLowerCase());
      if (meant) violations.add(join(path, meant.name), `Spell it ${meant.name}, not ${scrub(key, MAX_QUOTE)}`);
      continue;
    }
    if (seen.has(field.name))
      violations.add(join(path, field.name), `Given twice, as ${field.name} and ${field.protoName}`);
    seen.add(field.name);
    // For a Value, null is a value like any other.
    if (value !== null || field.type.kind === 'value') given.set(field.name, value);
  }
  return given;
}

function checkContents(
  shape: Shape,
  given: ReadonlyMap<string, JsonValue>,
  path: string,
  violations: Violations,
): void {
  if (shape.contents.length === 0) return;
  const count = shape.contents.filter((name) => given.has(name)).length;
  if (count !== 1) violations.add(path, `Set exactly one of ${shape.contents.join(', ')}`);
}

function decodeField(
  field: NamedField,
  value: JsonValue | undefined,
  path: string,
  violations: Violations,
): JsonValue | undefined {
  const before = violations.count;
  const decoded = value === undefined ? undefined : decodeLabelled(field, value, path, violations);
  if (decoded !== undefined && (hasPresence(field) || !isDefault(field, decoded))) return decoded;
  // A value of the wrong type has been reported, and is not missing too.
  if (field.required && !field.minted && !field.mayBeEmpty && violations.count === before) {
    violations.add(path, field.label === 'repeated' ? 'At least one is required' : 'This field is required');
  }
  return undefined;
}

function decodeLabelled(
  field: NamedField,
  value: JsonValue,
  path: string,
  violations: Violations,
): JsonValue | undefined {
  if (field.label === 'repeated') return decodeArray(field, value, path, violations);
  if (field.label === 'map') return decodeMap(field, value, path, violations);
  return decodeOne(field, value, path, violations);
}

function decodeArray(
  field: NamedField,
  value: JsonValue,
  path: string,
  violations: Violations,
): JsonValue[] | undefined {
  if (!Array.isArray(value)) {
    violations.add(path, 'Must be an array');
    return undefined;
  }
  const result: JsonValue[] = [];
  value.forEach((item, index) => {
    const at = `${path}[${index}]`;
    if (item === '' && field.type.kind === 'string' && field.type.rule === 'id')
      violations.add(at, 'Must not be empty');
    const decoded = decodeOne(field, item, at, violations);
    if (decoded !== undefined) result.push(decoded);
  });
  return result;
}

function decodeMap(field: NamedField, value: JsonValue, path: string, violations: Violations): JsonObject | undefined {
  if (!isJsonObject(value)) {
    violations.add(path, 'Must be an object');
    return undefined;
  }
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const decoded = decodeOne(field, item, join(path, scrub(key, MAX_QUOTE)), violations);
    if (decoded !== undefined) setOwn(result, key, decoded);
  }
  return result;
}

function decodeOne(
  { type }: NamedField,
  value: JsonValue,
  path: string,
  violations: Violations,
): JsonValue | undefined {
  if (type.kind !== 'message') return decodeScalar(type, value, path, violations);
  if (isJsonObject(value)) return decodeMessage(type.of, value, path, violations);
  violations.add(path, 'Must be an object');
  return undefined;
}

/** A field that knows "set to its default" from "unset". */
function hasPresence(field: NamedField): boolean {
  return field.label === 'optional' || field.oneof !== undefined;
}

/** How much of a client's own words a description repeats. */
const MAX_QUOTE = 64;

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
