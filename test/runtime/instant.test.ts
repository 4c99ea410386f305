import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Instant, parseTimestamp, plus, toInstant, toMicros } from '../../src/runtime/instant.ts';

const micros = fc.integer({ min: 0, max: Date.UTC(2200, 0) * 1000 });

describe('an instant', () => {
  it('keeps every microsecond', () => {
    fc.assert(fc.property(micros, (value) => toMicros(toInstant(value)) === value));
  });

  it('has one form, which sorts as text', () => {
    fc.assert(
      fc.property(micros, micros, (a, b) => {
        expect(Instant.safeParse(toInstant(a)).success).toBe(true);
        return Math.sign(a - b) === (toInstant(a) < toInstant(b) ? -1 : toInstant(a) > toInstant(b) ? 1 : 0);
      }),
    );
  });

  it('moves by microseconds across a second', () => {
    expect(plus('2026-03-01T12:00:00.999999Z', 1)).toBe('2026-03-01T12:00:01.000000Z');
  });
});

describe('a timestamp from outside (docs/design/interface.md#2.1)', () => {
  it.each([
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000000Z'],
    ['2026-03-01T14:00:00+02:00', '2026-03-01T12:00:00.000000Z'],
    ['2026-03-01T06:30:00-0530', '2026-03-01T12:00:00.000000Z'],
    ['2026-03-01t12:00:00.1234567z', '2026-03-01T12:00:00.123456Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
  ])('%s is accepted', (text, expected) => {
    expect(parseTimestamp(text)).toBe(expected);
  });

  it.each([
    '2026-03-01',
    '2026-03-01T12:00:00',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:00:60Z',
    '2026-03-01T12:00:00+24:00',
    '0000-01-01T00:00:00+10:00',
    '9999-12-31T23:59:59-01:00',
    '1709251200',
    '',
  ])('%j is not', (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });

  it('parses what this service writes, but not with text around it', () => {
    fc.assert(
      fc.property(micros, (value) => {
        const instant = toInstant(value);
        expect(parseTimestamp(instant)).toBe(instant);
        expect(parseTimestamp(` ${instant}`)).toBeNull();
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void parseTimestamp(text)));
  });
});
