import type { JsonPath } from './json-path.js';
import type { JsonValue } from './json.js';
import { NotJsonError } from './not-json-error.js';

// As deep as `toJson` goes: far from the end of the stack.
const MAX_DEPTH = 512;

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Writes a JSON value in the one form that RFC 8785 (JCS) gives it, fit for signing as UTF-8.
 *
 * - No white space; the members of an object stand in the order of the UTF-16 code units of their names.
 * - Numbers and strings are those of ECMAScript; minus zero becomes `0`.
 * - As with `JSON.stringify`, members whose value is undefined are left out.
 *
 * @throws {NotJsonError} When something in it has no such form: NaN, an infinity, a lone surrogate, what is no JSON, or
 *   nesting beyond 512 levels.
 * @see RFC 8785 JSON Canonicalization Scheme; A2A v1.0 §8.4.1 Canonicalization Requirements
 */
export function canonicalJson(value: JsonValue): string {
  return write(value, []);
}

function write(value: unknown, path: JsonPath): string {
  switch (typeof value) {
    case 'boolean':
      return String(value);
    case 'string':
      return writeString(value, path);
    case 'number':
      if (!Number.isFinite(value)) throw new NotJsonError(path, String(value));
      return JSON.stringify(value);
    case 'object':
      return value === null ? 'null' : writeStructure(value, path);
    default:
      throw new NotJsonError(path, `a value of type ${typeof value}`);
  }
}

function writeString(text: string, path: JsonPath): string {
  if (LONE_SURROGATE.test(text)) throw new NotJsonError(path, 'a string with a lone surrogate');
  return JSON.stringify(text);
}

function writeStructure(value: object, path: JsonPath): string {
  if (path.length >= MAX_DEPTH) throw new NotJsonError(path, 'nesting that is too deep');
  if (Array.isArray(value)) {
    return `[${Array.from(value, (item, index) => write(item, [...path, index])).join(',')}]`;
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    // The comparison of strings goes by code units, as the RFC has it.
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${writeString(key, path)}:${write(member, [...path, key])}`);
  return `{${members.join(',')}}`;
}
