/** Given a court's entries, when a feed, alerts and reports show them in any order, then each is one filing, told once. */
import { describe, it } from 'vitest';
import { oneFilingOver } from './three-ways.model.ts';

describe('a filing that a feed, an alert and a full report show', () => {
  it('is one, announced once, and filled as its sources know more', () => oneFilingOver(25));
});
