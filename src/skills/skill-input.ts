import type { JsonObject, JsonValue, Message } from '#protocol';

/** The text parts of a message, joined by line feeds. */
export function skillText({ parts }: Pick<Message, 'parts'>): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
}

/**
 * The data part that speaks to the skill: the first object that names a skill, else the first object.
 */
export function skillData({ parts }: Pick<Message, 'parts'>): JsonObject | undefined {
  const objects = parts.flatMap((part) => ('data' in part && isObject(part.data) ? [part.data] : []));
  return objects.find((data) => typeof data['skill'] === 'string') ?? objects[0];
}

/** The structured input of a message: the data part's `arguments`, else the data part without `skill`, else `{}`. */
export function skillInput(message: Pick<Message, 'parts'>): JsonValue {
  const data = skillData(message);
  if (!data) return {};
  if (Object.hasOwn(data, 'arguments')) return data['arguments'] ?? null;
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== 'skill'));
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
