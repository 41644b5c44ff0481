import { isA2AError } from '../errors/a2a-error.js';
import type { StreamResponse } from '../model.js';
import { encode } from './encode.js';

/**
 * Checks that a value is a well-formed event of a stream: exactly one content, itself well-formed.
 *
 * @throws {InvalidAgentResponseError} When it is not.
 * @see A2A v1.0 §3.2.3 Stream Response
 */
export function validateStreamResponse(value: unknown): asserts value is StreamResponse {
  // An event is valid exactly when it can be written.
  encode('StreamResponse', value as StreamResponse);
}

/**
 * Tells whether a value is a well-formed event of a stream.
 *
 * @see A2A v1.0 §3.2.3 Stream Response
 */
export function isStreamResponse(value: unknown): value is StreamResponse {
  try {
    validateStreamResponse(value);
    return true;
  } catch (error) {
    if (isA2AError(error)) return false;
    throw error;
  }
}
