import { isObservable, type Observable } from 'rxjs';
import { dataPart, partKind, textPart, toJson, toPart, type JsonObject, type Part } from '#protocol';
import type { ArtifactInput } from '../context/task-context.js';

/** What a skill may give bit by bit. */
export type SkillStream = Observable<unknown> | AsyncIterable<unknown> | Generator;

/** Whether a skill's result streams: an Observable, an async iterable or a generator. */
export function isStream(value: unknown): value is SkillStream {
  if (typeof value !== 'object' || value === null) return false;
  return isObservable(value) || Symbol.asyncIterator in value || isGenerator(value);
}

/** Arrays, sets and maps are values; a generator is work. */
function isGenerator(value: object): value is Generator {
  return Symbol.iterator in value && typeof (value as Partial<Generator>).next === 'function';
}

/**
 * Makes an artifact of what a skill returned: an artifact as it is, a part, parts or a string as its content, anything
 * else as a data part.
 *
 * @throws {NotJsonError} when the value has no JSON form
 */
export function toArtifact(value: unknown): ArtifactInput {
  return isArtifact(value) ? value : { parts: toContent(value) };
}

/** Whether a value is meant as an artifact: an object with nothing but an artifact's fields, `parts` among them. */
export function isArtifact(value: unknown): value is ArtifactInput {
  return (
    isPlainObject(value) &&
    Object.keys(value).every((key) => ARTIFACT_FIELDS.has(key)) &&
    Array.isArray(value['parts']) &&
    value['parts'].every(isPart)
  );
}

function toContent(value: unknown): Part[] {
  if (typeof value === 'string') return [textPart(value)];
  if (isPart(value)) return [toPart(value)];
  if (Array.isArray(value) && value.length > 0 && value.every(isPart)) return value.map((part) => toPart(part));
  return [dataPart(toJson(value))];
}

const ARTIFACT_FIELDS = new Set(['artifactId', 'name', 'description', 'parts', 'metadata', 'extensions']);
const PART_FIELDS = new Set(['text', 'raw', 'url', 'data', 'metadata', 'filename', 'mediaType']);

function isPart(value: unknown): value is Part {
  return (
    isPlainObject(value) &&
    Object.keys(value).every((key) => PART_FIELDS.has(key)) &&
    partKind(value as unknown as Part) !== ''
  );
}

function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
