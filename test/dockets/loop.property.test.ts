import { describe, it } from 'vitest';
import { holdsOver } from './loop.model.ts';

describe('the loop of queried_at and last_checked', () => {
  it('loses no filing and tells none twice, whatever clocks, stalls and deaths do', () => holdsOver(120));
});
