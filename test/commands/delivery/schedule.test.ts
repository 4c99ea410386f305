import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ATTEMPT_DEADLINE_SECONDS,
  delayAfter,
  firstAttemptBy,
  givesUpBy,
  MAX_ATTEMPTS,
  RETRY_DELAYS_MINUTES,
} from '../../../src/commands/delivery/schedule.ts';
import { MICROS_PER_SECOND } from '../../../src/runtime/instant.ts';

const MINUTE = 60 * MICROS_PER_SECOND;

describe('the schedule of a delivery', () => {
  test('follows the specification, and ends with the seventh attempt', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => delayAfter(attempt, 0));
    expect(delays).toEqual([...[3, 9, 27, 81, 243, 729].map((minutes) => minutes * MINUTE), null]);
    expect(MAX_ATTEMPTS).toBe(7);
  });

  test('is never early, and jitter makes it at most 5 % late', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.double({ min: -1, max: 2, noNaN: true }), (attempt, jitter) => {
        const delay = delayAfter(attempt, jitter) ?? 0;
        const scheduled = (RETRY_DELAYS_MINUTES[attempt - 1] ?? 0) * MINUTE;
        expect(delay).toBeGreaterThanOrEqual(scheduled);
        expect(delay).toBeLessThanOrEqual(scheduled * 1.05);
      }),
    );
  });

  test.each([
    ['shorter than the schedule: ignored', 1, 3],
    ['longer: obeyed', 5 * 60, 5],
    ['much longer: twice the schedule', 86_400, 6],
  ])('Retry-After %s', (_, seconds, minutes) => {
    expect(delayAfter(1, 0, seconds)).toBe(minutes * MINUTE);
  });

  test('gives up after every attempt was as late and as slow as possible', () => {
    const at = 1_700_000_000_000_000;
    let end = firstAttemptBy(at) + ATTEMPT_DEADLINE_SECONDS * MICROS_PER_SECOND;
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
      end += (delayAfter(attempt, 0.05) ?? 0) + ATTEMPT_DEADLINE_SECONDS * MICROS_PER_SECOND;
    }
    expect(givesUpBy(at)).toBe(end);
    expect(givesUpBy(at) - at).toBeGreaterThan(18.2 * 60 * MINUTE);
    expect(givesUpBy(at) - at).toBeLessThan(20 * 60 * MINUTE);
  });
});
