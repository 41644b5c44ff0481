const MAX_LENGTH = 200;

/**
 * Names a target in a log: scheme, host and path, at most 200 characters, without user name, query and fragment.
 *
 * The text is plain ASCII, since the URL parser escapes everything else.
 */
export function describeTarget(url: string | URL): string {
  const text = String(url);
  if (!URL.canParse(text)) return 'a URL that cannot be read';
  const { protocol, host, pathname } = new URL(text);
  // Other schemes may hold anything behind the colon.
  if (protocol !== 'http:' && protocol !== 'https:') return `a ${protocol.slice(0, 20)} URL`;
  const description = `${protocol}//${host}${pathname}`;
  return description.length <= MAX_LENGTH ? description : `${description.slice(0, MAX_LENGTH - 3)}...`;
}
