/** A source itself: whether operators have paused it, and whether it works. What changes nothing records nothing. */
import type { EventOf } from '../../events/event.ts';
import { type LiveSourceName, SourcePaused, SourceResumed, SourceStandingChanged } from '../../events/source.ts';
import { type Decider, unreachable } from '../decider.ts';

export type SourceItselfEvent = EventOf<typeof SourcePaused | typeof SourceResumed | typeof SourceStandingChanged>;

type StandingData = EventOf<typeof SourceStandingChanged>['data'];
export type Standing = StandingData['standing'];

export interface PausedPart {
  readonly by: string;
  readonly reason: string;
}

/** Parts are courts by code; the source with all its courts is the part {@link WHOLE_SOURCE}. */
export interface SourceItself {
  readonly paused: ReadonlyMap<string, PausedPart>;
  readonly standings: ReadonlyMap<string, Pick<StandingData, 'standing' | 'why' | 'at'>>;
}

export const WHOLE_SOURCE = '*';
export const partOfSource = (court: string | null): string => court ?? WHOLE_SOURCE;

export type SourceCommand =
  | {
      readonly type: 'Pause' | 'Resume';
      readonly source: LiveSourceName;
      /** Null: all its courts. */
      readonly court: string | null;
      readonly by: string;
      readonly reason: string;
    }
  | { readonly type: 'ReportStanding'; readonly report: StandingData };

export const source: Decider<SourceItself, SourceCommand, SourceItselfEvent> = {
  initialState: { paused: new Map(), standings: new Map() },

  decide({ paused, standings }, command) {
    switch (command.type) {
      case 'Pause':
      case 'Resume': {
        const { type, ...act } = command;
        const isPaused = paused.has(partOfSource(act.court));
        if (type === 'Pause') return isPaused ? [] : [SourcePaused.of(act)];
        return isPaused ? [SourceResumed.of(act)] : [];
      }
      case 'ReportStanding': {
        const { report } = command;
        const known = standings.get(partOfSource(report.court)) ?? { standing: 'working', why: null };
        const isSame = known.standing === report.standing && known.why === report.why;
        return isSame ? [] : [SourceStandingChanged.of(report)];
      }
      default:
        return unreachable(command);
    }
  },

  evolve(state, { type, data }) {
    const part = partOfSource(data.court);
    switch (type) {
      case 'SourcePaused':
        return { ...state, paused: new Map(state.paused).set(part, { by: data.by, reason: data.reason }) };
      case 'SourceResumed':
        return { ...state, paused: new Map([...state.paused].filter(([one]) => one !== part)) };
      case 'SourceStandingChanged': {
        const { standing, why, at } = data;
        return { ...state, standings: new Map(state.standings).set(part, { standing, why, at }) };
      }
      default:
        return unreachable(type);
    }
  },
};
