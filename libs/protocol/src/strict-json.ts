import type { JsonPath } from './json-path.js';
import { JsonReader } from './json-reader.js';
import type { JsonValue } from './json.js';

/** What {@link readStrictJson} reads out of a text. */
export interface StrictJson {
  readonly value: JsonValue;
  /**
   * The path of each repetition of a key, at any depth, in order of appearance: the first hundred, and at least one of
   * the outermost object when there is any.
   */
  readonly duplicates: readonly JsonPath[];
  /**
   * When the value is an object: the source text of each member's value, byte for byte. Of a repeated key, the last.
   */
  readonly members: ReadonlyMap<string, string>;
}

/** Bounds of {@link readStrictJson}. */
export interface StrictJsonOptions {
  /**
   * How deep arrays and objects may nest; at most 1,000.
   *
   * @default 128
   */
  readonly maxDepth?: number;
}

// The reader recurses, so no option may let it outgrow the stack.
const HARD_MAX_DEPTH = 1000;

/**
 * Reads JSON text by the letter of RFC 8259, in one pass.
 *
 * - What `JSON.parse` refuses is refused: a byte order mark and trailing text too.
 * - Nesting past the bound, and a number past the range of a double, are refused as well.
 * - Keys that appear twice are reported; `JSON.parse` keeps the last in silence.
 * - A key such as `__proto__` is plain data and touches no prototype.
 *
 * @throws {JsonSyntaxError} When the text is not such JSON.
 */
export function readStrictJson(text: string, options: StrictJsonOptions = {}): StrictJson {
  const reader = new JsonReader(text, Math.min(options.maxDepth ?? 128, HARD_MAX_DEPTH));
  const value = reader.read();
  return { value, duplicates: reader.duplicates, members: reader.members };
}
