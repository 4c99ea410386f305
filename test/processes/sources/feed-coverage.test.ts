/** In which courts a feed shows everything new, given how it was last read and what it says of itself. */
import { describe, expect, it } from 'vitest';
import { findCourt } from '../../../src/courts/registry.ts';
import { feedCoverage, isComplete } from '../../../src/processes/sources/feed-coverage.ts';
import { MICROS_PER_SECOND, toMicros } from '../../../src/runtime/instant.ts';
import { feedsOf } from '../../../src/sources/rss/addresses.ts';
import { NO_MEMORY } from '../../../src/sources/rss/feed-memory.ts';

const FRIDAY_NOON = toMicros('2026-03-20T16:00:00.000000Z');
const MINUTE = 60 * MICROS_PER_SECOND;
const court = findCourt('dcd')!;
const read = {
  types: 'Docket entries of type: all',
  lookedAt: FRIDAY_NOON - MINUTE,
  movedAt: FRIDAY_NOON - 9 * MINUTE,
};

describe('a feed shows every new entry', () => {
  it.each([
    ['Docket entries of type: all', true],
    ['All docket entries.', true],
    ['Public filings in the last 24 Hours', true],
    ['Docket entries of type: order,order-cr,motion,cmp', false],
    ['Docket entries of type: orders, opinions', false],
    ['Public Complaints, Orders and Judgments in the last 24 Hours', false],
    ['', false],
  ])('if it says so: %j', (types, expected) => {
    expect(isComplete({ ...read, types }, court, FRIDAY_NOON)).toBe(expected);
  });
  it('unless it was not read for an hour, or never', () => {
    expect(isComplete({ ...read, lookedAt: FRIDAY_NOON - 61 * MINUTE }, court, FRIDAY_NOON)).toBe(false);
    expect(isComplete(NO_MEMORY, court, FRIDAY_NOON)).toBe(false);
  });
  it('unless it has not moved for two hours of a working day', () => {
    expect(isComplete({ ...read, movedAt: FRIDAY_NOON - 121 * MINUTE }, court, FRIDAY_NOON)).toBe(false);
  });
  it('in no court of which nothing is remembered', async () => {
    const covered = await feedCoverage(
      { cell: async () => ({ version: 0, value: null }) },
      feedsOf(['dcd']),
    )(FRIDAY_NOON);
    expect(covered({ court, caseNumber: '3:26-cv-00001' })).toBe(false);
  });
});
