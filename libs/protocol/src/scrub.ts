/** C0, DEL and C1, then the marks, embeddings, overrides and isolates that reorder text. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Makes text of a stranger fit for a log line or an error message.
 *
 * - Control and bidirectional control characters are gone, so that it cannot forge lines or reorder them.
 * - Lone surrogates become U+FFFD, so that it is well-formed Unicode.
 * - It is at most `max` characters long; what was cut off shows as `…`.
 *
 * @param max The greatest length in UTF-16 code units. Default 200.
 */
export function scrub(text: string, max = 200): string {
  const clean = text.replace(UNSAFE, '').replace(LONE_SURROGATE, '\ufffd');
  if (clean.length <= max) return clean;
  const cut = clean.slice(0, Math.max(0, max - 1));
  return `${endsInHalfPair(cut) ? cut.slice(0, -1) : cut}…`;
}

function endsInHalfPair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
