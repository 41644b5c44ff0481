import type { JsonValue } from './json.js';
import type { DataPart, Part, PartFields, RawPart, TextPart, UrlPart } from './model.js';

/** The name of a part's content; empty when it has none or several. */
export type PartKind = 'text' | 'raw' | 'url' | 'data' | '';

/**
 * Builds a part that holds text.
 *
 * @see A2A v1.0 §4.1.6 Part
 */
export function textPart(text: string, fields: PartFields = {}): TextPart {
  return { ...fields, text };
}

/**
 * Builds a part that holds a JSON value, such as a plain object or an entity.
 *
 * @param value Not copied here. It is checked and copied where the part is handed over (see `checkParts`).
 * @see A2A v1.0 §4.1.6 Part
 */
export function dataPart(value: unknown, fields: PartFields = {}): DataPart {
  // Entities and interfaces have no index signature, so no caller could pass one as a JsonValue.
  return { ...fields, data: value as JsonValue };
}

/**
 * Builds a part that holds bytes.
 *
 * @see A2A v1.0 §4.1.6 Part
 */
export function rawPart(bytes: Uint8Array, filename?: string, mediaType?: string): RawPart {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return { raw, ...fileFields(filename, mediaType) };
}

/**
 * Builds a part that points at content elsewhere.
 *
 * @see A2A v1.0 §4.1.6 Part
 */
export function urlPart(url: string, filename?: string, mediaType?: string): UrlPart {
  return { url, ...fileFields(filename, mediaType) };
}

/** Names the content of a part; the empty string when it has none or several. */
export function partKind(part: Part): PartKind {
  const { text, raw, url, data } = part as { text?: unknown; raw?: unknown; url?: unknown; data?: unknown };
  const kinds: PartKind[] = [];
  if (typeof text === 'string') kinds.push('text');
  if (typeof raw === 'string') kinds.push('raw');
  if (typeof url === 'string') kinds.push('url');
  // `data: null` is a value, so absence is `undefined` alone.
  if (data !== undefined) kinds.push('data');
  return kinds.length === 1 ? (kinds[0] ?? '') : '';
}

function fileFields(filename?: string, mediaType?: string): PartFields {
  return { ...(filename !== undefined && { filename }), ...(mediaType !== undefined && { mediaType }) };
}
