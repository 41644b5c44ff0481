/** Which tasks have been brought to which versions, by id. */
export type Announcement = ReadonlyMap<string, number>;

/** How long a text may be, in bytes. PostgreSQL takes less than 8,000. */
const MAX_BYTES = 7_500;

/** Writes an announcement as texts that a channel can carry. */
export function encodeAnnouncement(versions: Announcement): string[] {
  const texts: string[] = [];
  let lines = '';
  for (const [id, version] of versions) {
    const line = encodeLine(id, version);
    if (lines !== '' && lines.length + line.length >= MAX_BYTES) {
      texts.push(lines);
      lines = '';
    }
    if (line !== '') lines += lines === '' ? line : `\n${line}`;
  }
  return lines === '' ? texts : [...texts, lines];
}

/** Reads what {@link encodeAnnouncement} wrote, and nothing from any other text: anybody may send on a channel. */
export function decodeAnnouncement(text: string): Announcement {
  const versions = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, version, id] = /^(\d{1,10}):([\w.!~*'()%-]+)$/u.exec(line) ?? [];
    const decoded = id === undefined ? undefined : decodeId(id);
    if (decoded !== undefined) versions.set(decoded, Number(version));
  }
  return versions;
}

/** Empty for an id that no text can carry: what becomes of its task is found out without one. */
function encodeLine(id: string, version: number): string {
  if (/\p{Surrogate}/u.test(id)) return '';
  const line = `${version}:${encodeURIComponent(id)}`;
  return line.length > MAX_BYTES ? '' : line;
}

function decodeId(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
