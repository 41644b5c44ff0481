import type { JsonPath } from './json-path.js';
import type { JsonObject, JsonValue } from './json.js';
import { NotJsonError } from './not-json-error.js';
import { setOwn } from './own-property.js';

const MAX_DEPTH = 512;

/**
 * Makes JSON of a value that user code hands over, as a deep copy.
 *
 * Where `JSON.stringify` would lose something in silence (NaN, a function, the entries of a Map), this refuses. As
 * there, `toJSON` is honoured, properties whose value is undefined are dropped, and a class instance becomes its own
 * enumerable properties.
 *
 * @param at The path of the value, for the error.
 * @throws {NotJsonError} When the value, or something within it, is not JSON.
 */
export function toJson(value: unknown, at: JsonPath = []): JsonValue {
  return new Converter([...at]).convert(value);
}

class Converter {
  private readonly ancestors = new Set<object>();

  constructor(private readonly path: (string | number)[]) {}

  convert(value: unknown): JsonValue {
    if (!hasToJson(value)) return this.convertPlain(value);
    // A Buffer has a toJSON, and an invalid Date one that says null.
    this.refuseOpaque(value);
    const json = value.toJSON(String(this.path.at(-1) ?? ''));
    if (json === null && tagOf(value) === 'Date') throw this.refusal('an invalid Date');
    return this.convertPlain(json);
  }

  private convertPlain(value: unknown): JsonValue {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        if (!Number.isFinite(value)) throw this.refusal(String(value));
        return value;
      case 'object':
        return value === null ? null : this.convertObject(value);
      default:
        throw this.refusal(`a value of type ${typeof value}`);
    }
  }

  private convertObject(value: object): JsonValue {
    this.refuseOpaque(value);
    if (BOXED.has(tagOf(value))) return this.convertPlain(value.valueOf());
    if (this.ancestors.has(value)) throw this.refusal('a cycle');
    if (this.ancestors.size >= MAX_DEPTH) throw this.refusal('nesting that is too deep');
    this.ancestors.add(value);
    const result = Array.isArray(value) ? this.convertArray(value) : this.convertProperties(value);
    this.ancestors.delete(value);
    return result;
  }

  private convertArray(array: readonly unknown[]): JsonValue[] {
    // Not `map`: it skips holes, which are no JSON.
    return Array.from(array, (item, index) => this.convertAt(index, item));
  }

  private convertProperties(source: object): JsonObject {
    const result: JsonObject = {};
    for (const key of Object.keys(source)) {
      const member = (source as Record<string, unknown>)[key];
      if (member !== undefined) setOwn(result, key, this.convertAt(key, member));
    }
    return result;
  }

  private convertAt(step: string | number, value: unknown): JsonValue {
    this.path.push(step);
    const result = this.convert(value);
    this.path.pop();
    return result;
  }

  private refuseOpaque(value: object): void {
    if (ArrayBuffer.isView(value)) throw this.refusal('bytes; use rawPart');
    const tag = tagOf(value);
    if (OPAQUE.has(tag)) throw this.refusal(`a ${tag}`);
  }

  private refusal(problem: string): NotJsonError {
    return new NotJsonError(this.path, problem);
  }
}

/** Objects whose content is no property, so that it would be lost. */
const OPAQUE: ReadonlySet<string> = new Set([
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'WeakRef',
  'Promise',
  'ArrayBuffer',
  'SharedArrayBuffer',
]);

const BOXED: ReadonlySet<string> = new Set(['Number', 'String', 'Boolean']);

/** The built-in kind of an object. Unlike `instanceof`, it also knows those of another realm. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function hasToJson(value: unknown): value is { toJSON: (key: string) => unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
}
