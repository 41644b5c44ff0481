/** The headers of a request: those of Node, Express and Fastify, or the `Headers` of the web. */
export type NotificationHeaders =
  Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The value of a header; one that stands there several times is joined, as HTTP has it, and then matches nothing. */
export function headerOf(headers: NotificationHeaders, name: string): string | undefined {
  if (isWeb(headers)) return headers.get(name) ?? undefined;
  const wanted = name.toLowerCase();
  const key = Object.keys(headers).find((each) => each.toLowerCase() === wanted);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

function isWeb(headers: NotificationHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}
