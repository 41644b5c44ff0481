import { toPart, textPart, type Part } from '#protocol';
import type { Content } from '../context/task-context.js';

/**
 * Makes parts of strings and parts.
 *
 * @throws {InvalidPartError} when one of them is neither
 */
export function toParts(content: readonly Content[]): Part[] {
  return content.map((item) => (typeof item === 'string' ? textPart(item) : toPart(item)));
}
