import { describe, it } from 'vitest';
import { type Act, type CourtEntry, holdsFor, holdsOver } from './loop.model.ts';

describe('the loop of queried_at and last_checked', () => {
  it('loses no filing and announces none twice, for any clocks, stalls and deaths', () => holdsOver(120));

  it('does, where a complete and a partial snapshot of one instant are recorded in either order', async () => {
    const entry = (key: number, since: number, enteredMinute: number, textSince: number | null): CourtEntry => ({
      key,
      since,
      identified: textSince !== null,
      number: null,
      renumberedAt: null,
      textSince: textSince ?? 0,
      editedAt: null,
      enteredMinute,
    });
    const docket = [entry(0, 1, 0, 2), entry(1, 0, -5_000, null), entry(2, 0, 0, null)];
    const snapshot = (complete: boolean): Act => ({ type: 'snapshot', complete, late: false, kill: null });
    const poll: Act = { type: 'poll', caller: 0 };
    const acts: Act[] = [
      snapshot(true),
      { type: 'grow' },
      snapshot(false),
      { type: 'rest' },
      poll,
      poll,
      snapshot(false),
    ];
    for (let seed = 0; seed < 60; seed++) await holdsFor(docket, acts, seed, [0]);
  });
});
