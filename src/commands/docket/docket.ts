/**
 * The rules of a docket. `compareSnapshot` and `decideSnapshot` find what a snapshot changes; this decider checks those
 * changes against the current stream.
 */
import { DocketChecked, type DocketEvent, DocketForgotten } from '../../events/docket.ts';
import type { EventOf } from '../../events/event.ts';
import { type Instant, MICROS_PER_SECOND, plus } from '../../runtime/instant.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';
import { type DocketState, evolveDocket, type Gap, NEW_DOCKET } from './fold.ts';

export type DocketCommand =
  /** Records all or some of the changes that `decideSnapshot` found, once their contents have names. */
  | { readonly type: 'RecordChanges'; readonly changes: readonly DocketEvent[] }
  /** Appends an event so that the append of a dead ingest conflicts and can never be recorded. */
  | { readonly type: 'AbandonIngest'; readonly at: Instant }
  /** A look at the docket failed. One an hour is recorded: a source that is down must not fill the log. */
  | { readonly type: 'RecordFailedLook'; readonly source: string; readonly askedAt: Instant }
  /** A feed said nothing of this time, so entries may be missing. Noted once. */
  | { readonly type: 'NoteGap'; readonly source: string; readonly askedAt: Instant; readonly gap: Gap }
  /** An order to forget it: nothing is recorded after this. */
  | { readonly type: 'Forget'; readonly forgotten: EventOf<typeof DocketForgotten>['data'] };

/** The changes were decided on an older state of the docket. */
export type DocketRejection =
  | 'already_opened'
  | 'already_completed'
  | 'filing_known'
  | 'filing_unknown'
  | 'docket_forgotten';

const FAILED_LOOK_EVERY = 3_600 * MICROS_PER_SECOND;

export const docket: Decider<DocketState, DocketCommand, DocketEvent, DocketRejection> = {
  initialState: NEW_DOCKET,

  decide(state, command) {
    if (state.forgotten) return endsQuietly(command) ? [] : rejected('docket_forgotten');
    switch (command.type) {
      case 'RecordChanges': {
        const broken = brokenRule(state, command.changes);
        return broken ? rejected(broken) : command.changes;
      }
      case 'AbandonIngest':
        return [
          DocketChecked.of({
            source: 'recovery',
            askedAt: command.at,
            complete: false,
            outcome: 'abandoned',
            ingestId: null,
          }),
        ];
      case 'RecordFailedLook': {
        const { source, askedAt } = command;
        const { opened, lastFailedAt } = state;
        const isRecent = lastFailedAt !== null && askedAt < plus(lastFailedAt, FAILED_LOOK_EVERY);
        if (!opened || isRecent) return [];
        return [DocketChecked.of({ source, askedAt, complete: false, outcome: 'failed', ingestId: null })];
      }
      case 'NoteGap': {
        const { source, askedAt, gap } = command;
        if (!state.opened || (state.gap !== null && state.gap.from <= gap.from && state.gap.to >= gap.to)) return [];
        // A complete look since then showed whatever the feed had not.
        if (state.lastCompleteAskedAt !== null && state.lastCompleteAskedAt >= gap.to) return [];
        return [DocketChecked.of({ source, askedAt, complete: false, outcome: 'partial', gap, ingestId: null })];
      }
      case 'Forget':
        return [DocketForgotten.of(command.forgotten)];
      default:
        return unreachable(command);
    }
  },

  evolve: (state, event) => evolveDocket(state, [event]),
  evolveAll: evolveDocket,
};

/** Whether a forgotten docket makes the command pointless rather than wrong. */
const endsQuietly = ({ type }: DocketCommand): boolean =>
  type === 'Forget' || type === 'RecordFailedLook' || type === 'NoteGap';

/**
 * Returns the broken rule, if any. A docket is opened once and its baseline completed once. A filing is recorded once,
 * and only a known filing can change.
 */
function brokenRule(
  { opened, baseline, filings }: DocketState,
  changes: readonly DocketEvent[],
): DocketRejection | null {
  const changed = new Map<string, boolean>();
  const isKnown = (filingId: string): boolean => changed.get(filingId) ?? filings.has(filingId);
  for (const { type, data } of changes) {
    switch (type) {
      case 'DocketOpened':
        if (opened) return 'already_opened';
        break;
      case 'BaselineCompleted':
        if (baseline === 'completed') return 'already_completed';
        break;
      case 'FilingsRecorded':
        for (const { filingId } of data.filings) {
          if (isKnown(filingId)) return 'filing_known';
          changed.set(filingId, true);
        }
        break;
      case 'FilingRevised':
        if (!isKnown(data.filing.filingId)) return 'filing_unknown';
        break;
      case 'FilingsMerged':
        if (!isKnown(data.kept) || !isKnown(data.merged)) return 'filing_unknown';
        changed.set(data.merged, false);
        break;
      case 'FilingWithdrawn':
        if (!isKnown(data.filingId)) return 'filing_unknown';
        break;
      case 'DocketDetailsChanged':
      case 'DocketChecked':
      case 'DocketForgotten':
        break;
      default:
        unreachable(type);
    }
  }
  return null;
}
