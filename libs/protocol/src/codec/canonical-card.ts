import { canonicalJson } from '../canonical-json.js';
import { InvalidAgentResponseError } from '../errors/domain-errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { AgentCard } from '../model.js';
import { setOwn } from '../own-property.js';
import { type NamedField, type Shape, shapeOf } from '../schema/shape.js';
import { isDefault } from './decode-scalar.js';
import { encodeScalar } from './encode-scalar.js';

/**
 * Writes the content of an agent card as it is signed: without `signatures`, and in one form for all texts of the same card.
 *
 * - A required field is there, with its default where the card leaves it out.
 * - An `optional` field is there when the card sets it, to its default too: an explicit `false` is not an absent one.
 * - Other fields are not there when they have their default. A message that is set, though empty, is no default; an empty
 *   `params` of an extension is one, as `encode` leaves it out too.
 * - What an extension's `params` hold stays as it is.
 * - Fields that the schema does not know are not there: they are no content of the card (§5.7), and who reads cards by the
 *   schema, as the official SDKs do, could not put them back. So a signature says nothing of them; trust only fields that
 *   are in this form.
 * - null reads as unset, and fields are read by both of their spellings, as everywhere.
 *
 * It adds nothing that only shows by custom. `encode` writes `streaming: false` for a card that does not set it, so sign
 * the card as it was encoded.
 *
 * @param card A card, or the JSON of one as it was received.
 * @throws {InvalidAgentResponseError} When it is no card: a value of the wrong type, no `capabilities`, a field in both
 *   spellings.
 * @throws {NotJsonError} When it has no canonical form, such as a string with a lone surrogate.
 * @see A2A v1.0 §8.4.1 Canonicalization Requirements, §5.7 Field Presence and Optionality
 */
export function canonicalAgentCard(card: AgentCard | JsonObject): string {
  return canonicalJson(readMessage(SIGNED_CONTENT, card));
}

const CARD = shapeOf('AgentCard');
const SIGNED_CONTENT: Shape = { ...CARD, fields: CARD.fields.filter(({ name }) => name !== 'signatures') };

function readMessage(shape: Shape, value: unknown): JsonObject {
  if (!isRecord(value)) throw new InvalidAgentResponseError(`${shape.name} must be an object`);
  const content: JsonObject = {};
  for (const field of shape.fields) {
    const member = readField(shape, field, memberOf(shape, field, value));
    if (member !== undefined) content[field.name] = member;
  }
  return content;
}

/** The value of a field, by the one of its spellings that is used. */
function memberOf(shape: Shape, field: NamedField, value: Record<string, unknown>): unknown {
  const [spelling = field.name, another] = [...new Set([field.name, field.protoName])].filter((name) =>
    Object.hasOwn(value, name),
  );
  if (another !== undefined) throw invalid(shape, field, 'is there in two spellings');
  return Object.hasOwn(value, spelling) ? value[spelling] : undefined;
}

function readField(shape: Shape, field: NamedField, value: unknown): JsonValue | undefined {
  if (value === undefined || value === null) return field.required ? defaultOf(shape, field) : undefined;
  const read = readLabelled(shape, field, value);
  const hasPresence = field.label === 'optional' || field.oneof !== undefined;
  return field.required || hasPresence || !isDefault(field, read) ? read : undefined;
}

function defaultOf(shape: Shape, field: NamedField): JsonValue {
  if (field.label === 'repeated') return [];
  if (field.label === 'map') return {};
  if (field.type.kind === 'message') throw invalid(shape, field, 'is required');
  // All other required fields of a card are strings.
  return '';
}

function readLabelled(shape: Shape, field: NamedField, value: unknown): JsonValue {
  if (field.label === 'repeated') {
    if (!Array.isArray(value)) throw invalid(shape, field, 'must be an array');
    return Array.from(value, (item) => readOne(shape, field, item));
  }
  if (field.label !== 'map') return readOne(shape, field, value);
  if (!isRecord(value)) throw invalid(shape, field, 'must be an object');
  const map: JsonObject = {};
  for (const [key, item] of Object.entries(value)) setOwn(map, key, readOne(shape, field, item));
  return map;
}

function readOne(shape: Shape, field: NamedField, value: unknown): JsonValue {
  if (field.type.kind === 'message') return readMessage(shapeOf(field.type.of), value);
  const read = value === null ? undefined : encodeScalar(field.type, value);
  if (read === undefined) throw invalid(shape, field, `is no ${field.type.kind}`);
  return read;
}

function invalid(shape: Shape, field: NamedField, problem: string): InvalidAgentResponseError {
  return new InvalidAgentResponseError(`${shape.name}.${field.name} ${problem}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
