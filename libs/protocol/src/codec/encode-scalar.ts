import type { JsonValue } from '../json.js';
import { ENUMS } from '../schema.js';
import { formatTimestamp, parseTimestamp } from '../timestamps.js';
import type { ScalarType } from './decode-scalar.js';

/**
 * Writes a value that is no message. Free-form values are passed on as they are.
 *
 * @returns undefined when the value is not of the type.
 */
export function encodeScalar(type: ScalarType, value: unknown): JsonValue | undefined {
  switch (type.kind) {
    case 'value':
      // Free-form content was checked where it came in; to walk it again would be the cost of the hot path.
      return value as JsonValue;
    case 'struct':
      return typeof value === 'object' && !Array.isArray(value) ? (value as JsonValue) : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int32':
      return Number.isInteger(value) ? (value as number) : undefined;
    case 'enum':
      return ENUMS[type.of].includes(value as string) ? (value as string) : undefined;
    case 'timestamp':
      return typeof value === 'string' ? encodeTimestamp(value) : undefined;
    case 'string':
    case 'bytes':
      return typeof value === 'string' ? value : undefined;
  }
}

function encodeTimestamp(text: string): string | undefined {
  const epochMs = parseTimestamp(text);
  return epochMs === undefined ? undefined : formatTimestamp(epochMs);
}
