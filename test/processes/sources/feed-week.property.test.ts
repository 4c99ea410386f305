/** Six hours of feeds that break and of a service that is killed (`feed-week.model.ts`). */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { holdsOver } from './feed-week.model.ts';

describe('hours of feeds (docs/design/sources.md#feeds)', () => {
  it('brings each entry once, or says of which time it may be missing', () =>
    fc.assert(
      fc.asyncProperty(fc.integer(), (seed) => holdsOver(seed, 0.25)),
      { numRuns: 1, endOnFailure: true },
    ));
});
