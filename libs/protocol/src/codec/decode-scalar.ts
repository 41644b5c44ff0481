import { normalizeBase64 } from '../base64.js';
import { cloneJson } from '../json-clone.js';
import type { JsonValue } from '../json.js';
import { ENUMS } from '../schema.js';
import type { Field, FieldType } from '../schema/field.js';
import { formatTimestamp, parseTimestamp } from '../timestamps.js';
import { stringFault } from './string-rules.js';
import type { Violations } from './violations.js';

/** The type of a value that is no message. */
export type ScalarType = Exclude<FieldType, { kind: 'message' }>;

const MAX_INT32 = 2 ** 31 - 1;

/**
 * Decodes a value that is no message.
 *
 * @returns The value in its normal form: standard base64, a UTC timestamp, a copy of free-form JSON; undefined when it is
 *   wrong, which `violations` then says.
 */
export function decodeScalar(
  type: ScalarType,
  value: JsonValue,
  path: string,
  violations: Violations,
): JsonValue | undefined {
  const decoded = read(type, value);
  if (decoded instanceof Fault) {
    violations.add(path, decoded.description);
    return undefined;
  }
  return decoded;
}

/** Tells whether a decoded value is the one that an unset field reads as. */
export function isDefault({ type, label }: Field, value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (label === 'map' || type.kind === 'struct') return Object.keys(value as object).length === 0;
  if (type.kind === 'enum') return value === ENUMS[type.of][0];
  return value === '' || value === 0 || value === false;
}

class Fault {
  constructor(readonly description: string) {}
}

function read(type: ScalarType, value: JsonValue): JsonValue | Fault {
  switch (type.kind) {
    case 'value':
      return cloneJson(value);
    case 'struct':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? cloneJson(value)
        : new Fault('Must be an object');
    case 'bool':
      return typeof value === 'boolean' ? value : new Fault('Must be true or false');
    case 'int32':
      return readInt32(type.min, value);
    default:
      return typeof value === 'string' ? readText(type, value) : new Fault('Must be a string');
  }
}

function readInt32(min: number, value: JsonValue): JsonValue | Fault {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= MAX_INT32;
  // Adding zero turns -0, which JSON can spell, into 0.
  return fits ? value + 0 : new Fault(`Must be an integer from ${min} to ${MAX_INT32}`);
}

function readText(
  type: Extract<ScalarType, { kind: 'string' | 'bytes' | 'enum' | 'timestamp' }>,
  text: string,
): string | Fault {
  switch (type.kind) {
    case 'string': {
      const fault = type.rule && stringFault(type.rule, text);
      return fault === undefined ? text : new Fault(fault);
    }
    case 'bytes':
      return normalizeBase64(text) ?? new Fault('Must be base64');
    case 'enum':
      return ENUMS[type.of].includes(text) ? text : new Fault(`Must be one of ${ENUMS[type.of].join(', ')}`);
    case 'timestamp': {
      const epochMs = parseTimestamp(text);
      return epochMs === undefined ? new Fault('Must be an RFC 3339 timestamp') : formatTimestamp(epochMs);
    }
  }
}
