import { ContentTypeNotSupportedError, scrub, type Part } from '#protocol';
import type { A2ASettings } from '../context/settings.js';
import type { SkillDescription } from '../context/skill-description.js';

/**
 * Lets parts through that name no media type, or one that the skill takes.
 *
 * @throws {ContentTypeNotSupportedError} naming the part
 * @see A2A v1.0 §3.1.1 Send Message
 */
export function assertInputModes(
  parts: readonly Part[],
  { inputModes }: SkillDescription,
  { enforceInputModes, defaultInputModes }: A2ASettings,
): void {
  if (!enforceInputModes) return;
  const accepted = inputModes.length > 0 ? inputModes : defaultInputModes;
  const refused = parts.findIndex(({ mediaType }) => mediaType !== undefined && !accepts(accepted, mediaType));
  if (refused < 0) return;
  const named = scrub(parts[refused]?.mediaType ?? '', 100);
  throw new ContentTypeNotSupportedError(`message.parts[${refused}]: ${named} is not supported.`, {
    metadata: { supported: accepted.join(', ') },
  });
}

function accepts(modes: readonly string[], mediaType: string): boolean {
  const essence = essenceOf(mediaType);
  return modes.some((mode) => {
    const accepted = essenceOf(mode);
    return accepted === '*/*' || accepted === essence || accepted === `${essence.split('/')[0] ?? ''}/*`;
  });
}

function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}
