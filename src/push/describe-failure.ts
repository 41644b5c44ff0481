import { scrub } from '#protocol';
import { describeError } from '../context/describe-error.js';

/**
 * Says for the log where a notification did not arrive, and why.
 *
 * @param url empty when it was not known yet. Of it the host is told alone: a path may be as good as a password.
 */
export function describeFailure(url: string, error: unknown): string {
  const place = URL.canParse(url) ? ` to ${scrub(new URL(url).origin)}` : '';
  return `${place}: ${scrub(describeError(error))}`;
}
