import { normalizeBase64 } from '../base64.js';
import type { JsonPath } from '../json-path.js';
import type { JsonObject } from '../json.js';
import type { Part, PartFields } from '../model.js';
import { toJson } from '../to-json.js';
import { InvalidPartError } from './invalid-part-error.js';

/**
 * Checks and copies the parts that user code hands over.
 *
 * @param parts An array; null and undefined read as an empty one.
 * @param path What the array is called in errors.
 * @returns Parts in their normal form: standard base64, only known fields, none of them empty.
 * @throws {InvalidPartError} Naming the part, such as `parts[0]`.
 * @throws {NotJsonError} When data or metadata is not JSON, naming the place, such as `parts[0].data.total`.
 * @see A2A v1.0 §4.1.6 Part
 */
export function checkParts(parts: unknown, path = 'parts'): Part[] {
  if (parts === undefined || parts === null) return [];
  if (!Array.isArray(parts)) throw new InvalidPartError([path], 'must be an array of parts');
  return Array.from(parts, (part, index) => copyPart(part, [path, index]));
}

/**
 * Checks and copies one part that user code hands over, as {@link checkParts} does.
 *
 * @param path What the part is called in errors.
 * @throws {InvalidPartError} When it is no part.
 * @throws {NotJsonError} When its data or metadata is not JSON.
 * @see A2A v1.0 §4.1.6 Part
 */
export function toPart(value: unknown, path = 'part'): Part {
  return copyPart(value, [path]);
}

function copyPart(value: unknown, path: JsonPath): Part {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidPartError(path, 'must be an object');
  }
  const part = value as UncheckedPart;
  const copy = copyContent(part, path);
  copyFields(part, path, copy);
  return copy;
}

type UncheckedPart = Readonly<Partial<Record<'text' | 'raw' | 'url' | 'data' | keyof PartFields, unknown>>>;

function copyContent(part: UncheckedPart, path: JsonPath): Part {
  const contents: Part[] = [];
  const text = readString(part, 'text', path);
  if (text !== undefined) contents.push({ text });
  const raw = readString(part, 'raw', path);
  if (raw !== undefined) contents.push({ raw: toBase64(raw, path) });
  const url = readString(part, 'url', path);
  if (url !== undefined) contents.push({ url });
  const { data } = part;
  // `data: null` is a value, so absence is `undefined` alone.
  if (data !== undefined) contents.push({ data: toJson(data, [...path, 'data']) });
  const [content] = contents;
  if (content === undefined || contents.length > 1) {
    throw new InvalidPartError(path, 'must hold exactly one of text, raw, url, data');
  }
  return content;
}

function copyFields(part: UncheckedPart, path: JsonPath, copy: PartFields): void {
  const metadata = readMetadata(part, path);
  if (metadata) copy.metadata = metadata;
  const filename = readString(part, 'filename', path);
  if (filename) copy.filename = filename;
  const mediaType = readString(part, 'mediaType', path);
  if (mediaType) copy.mediaType = mediaType;
}

function readString(part: UncheckedPart, name: keyof UncheckedPart, path: JsonPath): string | undefined {
  const value = part[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new InvalidPartError([...path, name], 'must be a string');
  return value;
}

function readMetadata({ metadata }: UncheckedPart, path: JsonPath): JsonObject | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  const json = toJson(metadata, [...path, 'metadata']);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new InvalidPartError([...path, 'metadata'], 'must be an object');
  }
  return Object.keys(json).length > 0 ? json : undefined;
}

function toBase64(text: string, path: JsonPath): string {
  const normal = normalizeBase64(text);
  if (normal === undefined) throw new InvalidPartError([...path, 'raw'], 'must be base64; use rawPart for bytes');
  return normal;
}
