/**
 * Whether a case that no source has shown is sought (docs/design/sources.md#watched-cases). Asked for again, it is sought
 * already, and nothing is recorded: queries about cases that do not exist must not fill the log.
 */
import { CaseNoLongerWanted, CaseWanted, type SourceEvent } from '../../events/source.ts';
import type { Decider } from '../decider.ts';

export interface Want {
  readonly wanted: boolean;
}

interface OfCase {
  readonly court: string;
  /** In the canonical form. */
  readonly caseNumber: string;
}

export type WantCommand =
  | ({ readonly type: 'Want'; readonly by: 'query' | 'operator' } & OfCase)
  | ({ readonly type: 'End'; readonly why: 'found' | 'expired' } & OfCase);

/** In the stream `sourceStream.wanted`. */
export const want: Decider<Want, WantCommand, SourceEvent> = {
  initialState: { wanted: false },

  decide({ wanted }, command) {
    const { court, caseNumber } = command;
    if (command.type === 'Want') return wanted ? [] : [CaseWanted.of({ court, caseNumber, wantedBy: command.by })];
    return wanted ? [CaseNoLongerWanted.of({ court, caseNumber, why: command.why })] : [];
  },

  evolve(state, { type }) {
    if (type === 'CaseWanted') return { wanted: true };
    return type === 'CaseNoLongerWanted' ? { wanted: false } : state;
  },
};
