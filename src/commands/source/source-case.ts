/** One id that a source has for a case: found, and perhaps deleted there. What changes nothing records nothing. */
import type { EventOf } from '../../events/event.ts';
import { type LiveSourceName, SourceCaseFound, SourceCaseGone } from '../../events/source.ts';
import type { Decider } from '../decider.ts';

export interface CaseOfSource {
  readonly court: string;
  /** In the canonical form. */
  readonly caseNumber: string;
}

interface SourceId {
  readonly source: LiveSourceName;
  readonly sourceCaseId: string;
}

export type SourceCaseCommand =
  | ({ readonly type: 'Find' } & SourceId & CaseOfSource)
  | ({ readonly type: 'Lose' } & SourceId);

export type SourceCaseEvent = EventOf<typeof SourceCaseFound | typeof SourceCaseGone>;

/** The case of the id; null if it is unknown or gone. */
export type SourceCaseState = CaseOfSource | null;

export const sourceCase: Decider<SourceCaseState, SourceCaseCommand, SourceCaseEvent, never> = {
  initialState: null,

  decide(known, { type, ...data }) {
    if (type === 'Lose') return known ? [SourceCaseGone.of(data as SourceId)] : [];
    const found = data as SourceId & CaseOfSource;
    const isKnown = known?.court === found.court && known.caseNumber === found.caseNumber;
    return isKnown ? [] : [SourceCaseFound.of(found)];
  },

  evolve: (_, { type, data }) =>
    type === 'SourceCaseFound' ? { court: data.court, caseNumber: data.caseNumber } : null,
};
