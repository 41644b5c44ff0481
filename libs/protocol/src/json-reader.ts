import type { JsonPath } from './json-path.js';
import { JsonSyntaxError } from './json-syntax-error.js';
import type { JsonObject, JsonValue } from './json.js';
import { setOwn } from './own-property.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** What a string cannot hold as it stands: an escape, or a control character that should have been one. */
const NOT_PLAIN = /[\\\u0000-\u001f]/;

// One is enough to refuse a text; a hostile one could hold a hundred thousand.
const MAX_DUPLICATES = 100;

// V8 makes a longer slice a view, which keeps the whole text in memory for as long as, say, one id out of it is kept.
const MAX_COPIED_SLICE = 12;

/** The recursive descent behind `readStrictJson`. An instance reads one text, once. */
export class JsonReader {
  readonly duplicates: JsonPath[] = [];
  readonly members = new Map<string, string>();
  private readonly path: (string | number)[] = [];
  private position = 0;

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  read(): JsonValue {
    this.skipSpace();
    const value = this.readValue();
    this.skipSpace();
    if (this.position < this.text.length) throw this.error('Text after the JSON value');
    return value;
  }

  private readValue(): JsonValue {
    switch (this.text.charCodeAt(this.position)) {
      case QUOTE:
        return this.readString();
      case OPEN_BRACE:
        return this.readObject();
      case OPEN_BRACKET:
        return this.readArray();
      case 0x74: // t
        return this.readLiteral('true', true);
      case 0x66: // f
        return this.readLiteral('false', false);
      case 0x6e: // n
        return this.readLiteral('null', null);
      default:
        return this.readNumber();
    }
  }

  private readObject(): JsonObject {
    const object: JsonObject = {};
    this.open();
    if (this.takes(CLOSE_BRACE)) return object;
    const isTop = this.path.length === 0;
    do {
      this.skipSpace();
      if (this.text.charCodeAt(this.position) !== QUOTE) throw this.error('A key is expected');
      const key = this.readString();
      this.skipSpace();
      if (!this.takes(COLON)) throw this.error('A colon is expected');
      this.skipSpace();
      this.path.push(key);
      if (Object.hasOwn(object, key)) this.noteDuplicate(isTop);
      const start = this.position;
      setOwn(object, key, this.readValue());
      if (isTop) this.members.set(key, detach(this.text.slice(start, this.position)));
      this.path.pop();
      this.skipSpace();
    } while (this.takes(COMMA));
    if (!this.takes(CLOSE_BRACE)) throw this.error('A comma or a closing brace is expected');
    return object;
  }

  /** Notes the key at the end of the path; one of the outermost object is never lost among those further in. */
  private noteDuplicate(isTop: boolean): void {
    const isFull = this.duplicates.length >= MAX_DUPLICATES;
    if (!isFull || (isTop && this.duplicates.at(-1)?.length !== 1)) this.duplicates.push([...this.path]);
  }

  private readArray(): JsonValue[] {
    const array: JsonValue[] = [];
    this.open();
    if (this.takes(CLOSE_BRACKET)) return array;
    do {
      this.skipSpace();
      this.path.push(array.length);
      array.push(this.readValue());
      this.path.pop();
      this.skipSpace();
    } while (this.takes(COMMA));
    if (!this.takes(CLOSE_BRACKET)) throw this.error('A comma or a closing bracket is expected');
    return array;
  }

  /** Steps into an array or object; the path is as long as the containers around it are many. */
  private open(): void {
    if (this.path.length >= this.maxDepth) throw this.error('Nesting is too deep');
    this.position += 1;
    this.skipSpace();
  }

  private readString(): string {
    const start = this.position;
    let end = this.text.indexOf('"', start + 1);
    while (end !== -1 && this.isEscaped(end)) end = this.text.indexOf('"', end + 1);
    if (end === -1) throw this.error('A string is not closed');
    this.position = end + 1;
    const plain = this.text.slice(start + 1, end);
    return plain.length <= MAX_COPIED_SLICE && !NOT_PLAIN.test(plain) ? plain : this.parseString(start, end + 1);
  }

  /** Tells whether an odd number of backslashes stands before a quote. The quote that opens the string ends the run. */
  private isEscaped(quote: number): boolean {
    let first = quote;
    while (this.text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    return (quote - first) % 2 === 1;
  }

  private parseString(start: number, end: number): string {
    try {
      return JSON.parse(this.text.slice(start, end)) as string;
    } catch {
      // The message of JSON.parse quotes the input.
      throw new JsonSyntaxError('A string holds a control character or a bad escape', start);
    }
  }

  private readNumber(): number {
    NUMBER.lastIndex = this.position;
    if (!NUMBER.test(this.text)) throw this.error('A value is expected');
    const value = Number(this.text.slice(this.position, NUMBER.lastIndex));
    if (!Number.isFinite(value)) throw this.error('A number is out of range');
    this.position = NUMBER.lastIndex;
    return value;
  }

  private readLiteral<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) throw this.error('A value is expected');
    this.position += word.length;
    return value;
  }

  /** Consumes one character if it is the given one. */
  private takes(char: number): boolean {
    if (this.text.charCodeAt(this.position) !== char) return false;
    this.position += 1;
    return true;
  }

  private skipSpace(): void {
    for (;;) {
      const char = this.text.charCodeAt(this.position);
      if (char !== 0x20 && char !== 0x0a && char !== 0x0d && char !== 0x09) return;
      this.position += 1;
    }
  }

  private error(problem: string): JsonSyntaxError {
    return new JsonSyntaxError(problem, this.position);
  }
}

/** Copies a slice that is much smaller than the text it may be a view on. */
function detach(slice: string): string {
  const isSmallView = slice.length > MAX_COPIED_SLICE && slice.length <= 1024;
  return isSmallView ? (JSON.parse(JSON.stringify(slice)) as string) : slice;
}
