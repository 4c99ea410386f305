/** As `three-ways.property.test.ts`, over many more histories. */
import { describe, it } from 'vitest';
import { oneFilingOver } from './three-ways.model.ts';

describe('a filing that a feed, an alert and a full report show', () => {
  it('is one, announced once, and filled as its sources know more', () => oneFilingOver(600), 300_000);
});
