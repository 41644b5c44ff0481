// `Date.parse` alone accepts far more than RFC 3339, and rolls 30 February over to March.
const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The range of `google.protobuf.Timestamp`: the years 1 to 9999. */
const EARLIEST = -62_135_596_800_000;
const LATEST = 253_402_300_799_999;

/**
 * Reads an RFC 3339 timestamp: any offset, lower-case `t` and `z`, up to nine digits of fraction.
 *
 * A leap second (`:60`) is refused: epoch time has no place for it.
 *
 * @returns Epoch milliseconds, what is finer cut off; undefined when the text is not such a timestamp.
 * @see A2A v1.0 §5.6.1 Timestamps
 */
export function parseTimestamp(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = offsetMinutes(match[8], match[9], match[10]);
  if (offset === undefined) return undefined;
  const date = new Date(0);
  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute - offset, second, milliseconds(match[7]));
  const epochMs = date.getTime();
  return epochMs >= EARLIEST && epochMs <= LATEST ? epochMs : undefined;
}

/**
 * Writes a timestamp as the protocol wants it: UTC, with three digits of fraction.
 *
 * @param epochMs Epoch milliseconds; what is finer is cut off.
 * @returns `YYYY-MM-DDTHH:mm:ss.sssZ`
 * @throws {RangeError} When `epochMs` is no time.
 * @see A2A v1.0 §5.6.1 Timestamps
 */
export function formatTimestamp(epochMs: number): string {
  return new Date(Math.floor(epochMs)).toISOString();
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function offsetMinutes(sign: string | undefined, hours = '00', minutes = '00'): number | undefined {
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const total = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -total : total;
}

function milliseconds(fraction = ''): number {
  return Number(fraction.slice(0, 3).padEnd(3, '0'));
}
