import { InvalidAgentResponseError } from '../errors/domain-errors.js';
import { formatPath } from '../json-path.js';
import type { StreamResponse } from '../model.js';
import type { StrictJson } from '../strict-json.js';
import { decodeMessage } from './decode-message.js';
import { encode } from './encode.js';
import { Violations } from './violations.js';

/**
 * Reads an event of a stream, or the body of a notification, that another agent sent.
 *
 * - It holds exactly one content, itself well-formed. Unknown fields are ignored, repeated keys are not.
 * - The result is a fresh object that holds the known fields only, in their normal form.
 *
 * @param json As `readStrictJson` gave it.
 * @throws {InvalidAgentResponseError} Naming the first field that is wrong.
 * @see A2A v1.0 §3.2.3 Stream Response, §4.3.3 Push Notification Payload, §5.7 Field Presence and Optionality
 */
export function decodeStreamResponse({ value, duplicates }: Omit<StrictJson, 'members'>): StreamResponse {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidAgentResponseError('StreamResponse must be an object');
  }
  const violations = new Violations();
  for (const path of duplicates) violations.add(formatPath(path), 'The key is repeated');
  const event = decodeMessage('StreamResponse', value, '', violations);
  const { first } = violations;
  if (first) {
    throw new InvalidAgentResponseError(`StreamResponse is wrong at ${first.field || 'the top'}: ${first.description}`);
  }
  // Written again, it also has the required fields whose value is the default, and no id that is to be minted.
  return encode('StreamResponse', event as unknown as StreamResponse) as unknown as StreamResponse;
}
