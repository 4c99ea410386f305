import { describe, it } from 'vitest';
import { holdsOver } from './loop.model.ts';

describe('the loop of queried_at and last_checked', () => {
  it('loses no filing and announces none twice, for any clocks, stalls and deaths', () => holdsOver(120));
});
