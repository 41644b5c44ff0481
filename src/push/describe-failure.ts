import { describeTarget } from '#outbound';
import { scrub } from '#protocol';
import { describeError } from '../context/describe-error.js';

/**
 * Says for the log where a notification did not arrive, and why.
 *
 * @param url empty when it was not known yet
 */
export function describeFailure(url: string, error: unknown): string {
  const place = url === '' ? '' : ` to ${scrub(describeTarget(url))}`;
  return `${place}: ${scrub(describeError(error))}`;
}
