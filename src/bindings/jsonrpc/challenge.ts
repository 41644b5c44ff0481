/** One challenge of a `WWW-Authenticate`: a scheme, and what follows it as it was written. */
interface Challenge {
  readonly scheme: string;
  readonly params: readonly string[];
}

/**
 * Adds parameters to the Bearer challenge of a `WWW-Authenticate`, or a Bearer challenge when there is none. Parameters
 * that it has already stay as they are.
 *
 * @param challenges the header as the host wrote it
 * @see RFC 9110 §11.6.1 WWW-Authenticate
 */
export function withBearer(challenges: string | undefined, params: Readonly<Record<string, string>>): string {
  const all = parse(challenges ?? '');
  const index = all.findIndex(isBearer);
  const extended = extend(all[index], params);
  return (index < 0 ? [...all, extended] : all.with(index, extended)).map(write).join(', ');
}

/** The Bearer challenge of a `WWW-Authenticate` alone, with parameters added; the others are left out. */
export function bearerOnly(challenges: string | undefined, params: Readonly<Record<string, string>>): string {
  return write(extend(parse(challenges ?? '').find(isBearer), params));
}

function extend(challenge: Challenge | undefined, params: Readonly<Record<string, string>>): Challenge {
  const { scheme, params: present } = challenge ?? { scheme: 'Bearer', params: [] };
  const names = new Set(present.map((param) => param.split('=', 1)[0]?.trim().toLowerCase()));
  const added = Object.entries(params).filter(([name]) => !names.has(name));
  return { scheme, params: [...present, ...added.map(([name, value]) => `${name}=${quoted(value)}`)] };
}

function isBearer({ scheme }: Challenge): boolean {
  return scheme.toLowerCase() === 'bearer';
}

/** Commas stand between challenges, and between the parameters of one; those in quotes stand for themselves. */
function parse(challenges: string): Challenge[] {
  const found: { scheme: string; params: string[] }[] = [];
  for (const [element] of challenges.matchAll(/(?:"(?:[^"\\]|\\.)*"?|[^",])+/gu)) {
    const text = element.trim();
    const last = found.at(-1);
    if (text === '') continue;
    if (last && isParameter(text)) last.params.push(text);
    else found.push(opening(text));
  }
  return found;
}

function isParameter(text: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+[\t ]*=/u.test(text);
}

function opening(text: string): { scheme: string; params: string[] } {
  const [, scheme = text, rest = ''] = /^(\S+)[\t ]+(.*)$/u.exec(text) ?? [];
  return { scheme, params: rest === '' ? [] : [rest] };
}

function write({ scheme, params }: Challenge): string {
  return params.length === 0 ? scheme : `${scheme} ${params.join(', ')}`;
}

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}
