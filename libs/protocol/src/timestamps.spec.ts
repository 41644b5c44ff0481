import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatTimestamp, parseTimestamp } from './timestamps.js';

const NOON = Date.UTC(2025, 9, 28, 12);

describe('parseTimestamp', () => {
  it.each([
    ['2025-10-28T12:00:00Z', 0],
    ['2025-10-28t12:00:00z', 0],
    ['2025-10-28T12:00:00.1Z', 100],
    ['2025-10-28T12:00:00.123456789Z', 123],
    ['2025-10-28T12:00:00.999999Z', 999],
    ['2025-10-28T14:00:00+02:00', 0],
    ['2025-10-28T06:29:59.5-05:30', -500],
    ['2025-10-29T11:59:00+23:59', 0],
    ['2025-10-28T12:00:00-00:00', 0],
  ])('reads %s (DM-11b)', (text, difference) => {
    expect(parseTimestamp(text)).toBe(NOON + difference);
  });

  it.each([
    '',
    'yesterday',
    '2025-10-28',
    '2025-10-28T12:00Z',
    '2025-10-28T12:00:00',
    '2025-10-28 12:00:00Z',
    '2025-10-28T12:00:00.Z',
    '2025-10-28T12:00:00.1234567890Z',
    '2025-10-28T12:00:00+0200',
    '2025-10-28T12:00:00+24:00',
    '2025-10-28T12:00:00+02:60',
    '2025-10-28T24:00:00Z',
    '2025-10-28T12:60:00Z',
    '2025-13-01T12:00:00Z',
    '2025-00-01T12:00:00Z',
    '2025-04-31T12:00:00Z',
    '2025-02-29T12:00:00Z',
    '1900-02-29T12:00:00Z',
    '2025-01-00T12:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-00:01',
    '+002025-10-28T12:00:00Z',
    '2025-10-28T12:00:00Z\n',
    '２025-10-28T12:00:00Z',
    '1761652800000',
  ])('refuses %j (DM-11b, B-77)', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it('refuses a leap second, which epoch time has no place for', () => {
    expect(parseTimestamp('2016-12-31T23:59:60Z')).toBeUndefined();
  });

  it('knows the leap days and the years below 100', () => {
    expect(parseTimestamp('2024-02-29T00:00:00Z')).toBe(Date.UTC(2024, 1, 29));
    expect(parseTimestamp('2000-02-29T00:00:00Z')).toBe(Date.UTC(2000, 1, 29));
    expect(parseTimestamp('0001-01-01T00:00:00Z')).toBe(-62_135_596_800_000);
  });
});

describe('formatTimestamp', () => {
  it('writes UTC with exactly three digits of fraction (DM-11a)', () => {
    expect(formatTimestamp(NOON)).toBe('2025-10-28T12:00:00.000Z');
    expect(formatTimestamp(NOON + 7)).toBe('2025-10-28T12:00:00.007Z');
  });

  it('cuts off what is finer than a millisecond (DM-11a)', () => {
    expect(formatTimestamp(NOON + 0.999)).toBe('2025-10-28T12:00:00.000Z');
    expect(formatTimestamp(-0.5)).toBe('1969-12-31T23:59:59.999Z');
  });

  it('is what parseTimestamp reads back', () => {
    const time = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(time, (epochMs) => {
        expect(parseTimestamp(formatTimestamp(epochMs))).toBe(epochMs);
      }),
    );
  });
});
