/** Given what was decided about a case that no source has shown, when it is asked for or found, then this is recorded. */
import { describe, it } from 'vitest';
import { type WantCommand, want } from '../../../src/commands/source/wanted.ts';
import { CaseNoLongerWanted, CaseWanted } from '../../../src/events/source.ts';
import { given } from '../../given-when-then.ts';

const one = { court: 'cand', caseNumber: '3:26-cv-02417' };
const wanted = CaseWanted.of({ ...one, wantedBy: 'query' });
const found = CaseNoLongerWanted.of({ ...one, why: 'found' });
const ask: WantCommand = { type: 'Want', ...one, by: 'query' };
const find: WantCommand = { type: 'End', ...one, why: 'found' };

describe('a case that no source has shown', () => {
  it('is wanted once, however often it is asked for', () => {
    given(want).when(ask).then(wanted);
    given(want, wanted).when(ask).then();
  });
  it('is wanted no longer once it is found, and may be wanted again', () => {
    given(want).when(find).then();
    given(want, wanted).when(find).then(found);
    given(want, wanted, found).when(find).then();
    given(want, wanted, found).when(ask).then(wanted);
  });
});
