import type { StringRule } from '../schema/field.js';

/** The greatest length of an identifier, in UTF-16 code units. */
export const MAX_ID_LENGTH = 256;

const LONE_SURROGATE = /\p{Surrogate}/u;
const C0_CONTROL = /[\u0000-\u001f]/;
// What an HTTP field value may hold (RFC 9110 §5.5), read as Latin-1.
const HEADER_TEXT = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * Checks a string against the rule of its field.
 *
 * @returns What is wrong with it; undefined when it obeys.
 */
export function stringFault(rule: StringRule, text: string): string | undefined {
  if (rule === 'header') {
    return HEADER_TEXT.test(text) ? undefined : 'Must hold Latin-1 characters only, and no control characters';
  }
  if (text.length > MAX_ID_LENGTH) return `Must be at most ${MAX_ID_LENGTH} characters`;
  if (C0_CONTROL.test(text)) return 'Must not hold control characters';
  return LONE_SURROGATE.test(text) ? 'Must be well-formed Unicode' : undefined;
}
