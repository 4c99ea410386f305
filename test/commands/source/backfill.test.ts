/** Given what was recorded of a backfill, when it is ordered or has ended, then each is recorded once. */
import { describe, it } from 'vitest';
import { type BackfillCommand, backfill } from '../../../src/commands/source/backfill.ts';
import { BackfillEnded, BackfillOrdered } from '../../../src/events/source.ts';
import { given } from '../../given-when-then.ts';

const backfillId = '0d9ad0d4-3b44-4a35-a8f5-6f2b5c3b8b11';
const order = { backfillId, courts: ['cand'], since: null, by: 'Ann Lee', reason: 'new court' };
const ending = { backfillId, outcome: 'completed', looked: 3 } as const;
const [ordered, ended] = [BackfillOrdered.of(order), BackfillEnded.of(ending)];
const give: BackfillCommand = { type: 'Order', order };
const end: BackfillCommand = { type: 'End', ending };

describe('a backfill', () => {
  it('is ordered once', () => {
    given(backfill).when(give).then(ordered);
    given(backfill, ordered).when(give).then();
    given(backfill, ordered, ended).when(give).then();
  });
  it('ends once, and only if it was ordered', () => {
    given(backfill).when(end).thenRejected('not_ordered');
    given(backfill, ordered).when(end).then(ended);
    given(backfill, ordered, ended)
      .when({ type: 'End', ending: { ...ending, outcome: 'cancelled' } })
      .then();
  });
});
