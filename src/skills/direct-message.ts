import { toJson, type JsonObject, type Part } from '#protocol';
import type { Content } from '../context/task-context.js';
import { toParts } from './content.js';

const BRAND = Symbol.for('nestjs-a2a.direct-message');

/** A skill's answer that is a Message and not a task. Made by {@link message}. */
export interface DirectMessage {
  readonly [BRAND]: true;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
}

/**
 * Makes a direct Message of what a skill returns: when nobody was told of a task yet, none is kept.
 *
 * @param content strings and parts
 * @param metadata metadata of the Message
 * @throws {InvalidPartError} or {NotJsonError} when the content or the metadata has no wire form
 *
 * @see A2A v1.0 §3.1.1 Send Message
 *
 * @example
 * @Skill('greet', { answers: 'message' })
 * greet(@SkillText() name: string) {
 *   return message(`Good morning, ${name}.`);
 * }
 */
export function message(content: Content | readonly Content[], metadata?: JsonObject): DirectMessage {
  return {
    [BRAND]: true,
    parts: toParts([content].flat()),
    ...(metadata && { metadata: toJson(metadata) as JsonObject }),
  };
}

/** Whether a skill's result is a direct Message. */
export function isDirectMessage(value: unknown): value is DirectMessage {
  return typeof value === 'object' && value !== null && BRAND in value;
}
