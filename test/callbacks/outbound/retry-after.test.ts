import { expect, test } from 'vitest';
import { retryAfterSeconds } from '../../../src/callbacks/outbound/retry-after.ts';

const NOW = Date.parse('2026-01-05T10:00:00.500Z');

test.each([
  ['0', 0],
  ['120', 120],
  [' 120 ', 120],
  ['Mon, 05 Jan 2026 10:01:00 GMT', 60],
  ['Mon, 05 Jan 2026 09:00:00 GMT', 0],
  ['99999999999999999999999', Number.MAX_SAFE_INTEGER],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['soon', null],
  ['2026-01-05T10:01:00Z', null],
  ['Mon, 99 Jan 2026 10:01:00 GMT', null],
  ['', null],
  [null, null],
])('Retry-After %j asks for %j', (header, seconds) => expect(retryAfterSeconds(header, NOW)).toBe(seconds));
