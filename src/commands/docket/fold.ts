/** The state of a docket, folded from its stream. */
import type { DocketEvent, RecordedFiling } from '../../events/docket.ts';
import type { Instant } from '../../runtime/instant.ts';
import { unreachable } from '../decider.ts';

export interface FilingState {
  readonly recorded: RecordedFiling;
  /** Name of the blob with its current content. */
  readonly content: string;
  /** When the source was asked for this content. */
  readonly askedAt: Instant;
  readonly withdrawn: boolean;
}

export interface Gap {
  readonly from: Instant;
  readonly to: Instant;
}

export interface DocketState {
  readonly opened: boolean;
  readonly filings: ReadonlyMap<string, FilingState>;
  /** How many filings were ever recorded, including merged ones: the ordinal of the next filing. */
  readonly recordedCount: number;
  /** Every `availableAt` and `revisedAt` in use: times are unique within a docket. */
  readonly times: ReadonlySet<Instant>;
  readonly newestTime: Instant | null;
  readonly details: { readonly content: string; readonly askedAt: Instant } | null;
  /** Whether callers may have had an answer about the case before its baseline began. */
  readonly knownInPart: boolean;
  readonly baseline: 'none' | 'started' | 'completed';
  readonly lastAskedAt: Instant | null;
  readonly lastCompleteAskedAt: Instant | null;
  /** When the court's own docket was last shown whole; a service that collects dockets may miss an entry. */
  readonly lastSheetAskedAt: Instant | null;
  /** When a look last failed. */
  readonly lastFailedAt: Instant | null;
  /** Feeds said nothing of this time, and no complete look came after it. */
  readonly gap: Gap | null;
  /** Whether any source has returned the docket. An opened docket without that is not answered. */
  readonly checked: boolean;
  /** Whether an order forbids recording anything more. */
  readonly forgotten: boolean;
}

export const NEW_DOCKET: DocketState = {
  opened: false,
  filings: new Map(),
  recordedCount: 0,
  times: new Set(),
  newestTime: null,
  details: null,
  knownInPart: false,
  baseline: 'none',
  lastAskedAt: null,
  lastCompleteAskedAt: null,
  lastSheetAskedAt: null,
  lastFailedAt: null,
  gap: null,
  checked: false,
  forgotten: false,
};

type Mutable = {
  -readonly [Key in keyof DocketState]: Key extends 'filings'
    ? Map<string, FilingState>
    : Key extends 'times'
      ? Set<Instant>
      : DocketState[Key];
};

const copy = (state: DocketState): Mutable => ({
  ...state,
  filings: new Map(state.filings),
  times: new Set(state.times),
});

/** Applies events to a docket. Pure. Dockets are large, so one copy is made for all events. */
export function evolveDocket(state: DocketState, events: readonly DocketEvent[]): DocketState {
  const next = copy(state);
  for (const event of events) apply(next, event);
  return next;
}

function apply(state: Mutable, event: DocketEvent): void {
  switch (event.type) {
    case 'DocketOpened':
      state.opened = true;
      return;
    case 'DocketChecked':
      applyCheck(state, event.data);
      return;
    case 'DocketDetailsChanged':
      state.details = { content: event.data.content, askedAt: event.data.askedAt };
      return;
    case 'FilingsRecorded': {
      const { askedAt, content, baseline, filings } = event.data;
      if (baseline) state.baseline = state.baseline === 'none' ? 'started' : state.baseline;
      else if (state.baseline === 'none') state.knownInPart = true;
      for (const recorded of filings) {
        state.filings.set(recorded.filingId, { recorded, content, askedAt, withdrawn: false });
        state.recordedCount++;
        useTime(state, recorded.availableAt);
      }
      return;
    }
    case 'BaselineCompleted':
      state.baseline = 'completed';
      return;
    case 'FilingRevised': {
      const { filing, content, askedAt, revisedAt } = event.data;
      const withdrawn = state.filings.get(filing.filingId)?.withdrawn ?? false;
      state.filings.set(filing.filingId, { recorded: filing, content, askedAt, withdrawn });
      if (revisedAt !== null) useTime(state, revisedAt);
      return;
    }
    case 'FilingsMerged': {
      state.filings.delete(event.data.merged);
      useTime(state, event.data.revisedAt);
      return;
    }
    case 'FilingWithdrawn': {
      const filing = state.filings.get(event.data.filingId);
      if (filing) {
        const recorded = event.data.reason === 'sealed' ? { ...filing.recorded, sealed: true } : filing.recorded;
        state.filings.set(event.data.filingId, { ...filing, recorded, withdrawn: true });
      }
      useTime(state, event.data.revisedAt);
      return;
    }
    case 'DocketForgotten':
      state.forgotten = true;
      return;
    default:
      unreachable(event);
  }
}

type Check = Extract<DocketEvent, { readonly type: 'DocketChecked' }>['data'];

/** They have what somebody has brought to them, perhaps later than a feed. */
const COLLECTORS: ReadonlySet<string> = new Set(['courtlistener']);

function applyCheck(state: Mutable, { source, askedAt, outcome, complete, gap }: Check): void {
  if (outcome === 'failed') state.lastFailedAt = later(state.lastFailedAt, askedAt);
  if (outcome === 'abandoned' || outcome === 'failed') return;
  // A gap is no look at the docket.
  if (gap !== undefined) {
    state.gap = joined(state.gap, gap);
    return;
  }
  if (complete && state.gap !== null && askedAt >= state.gap.to) state.gap = null;
  state.checked = true;
  state.lastAskedAt = later(state.lastAskedAt, askedAt);
  if (complete && !COLLECTORS.has(source)) state.lastSheetAskedAt = later(state.lastSheetAskedAt, askedAt);
  if (complete) state.lastCompleteAskedAt = later(state.lastCompleteAskedAt, askedAt);
  else if (state.baseline === 'none') state.knownInPart = true;
}

/** One gap from the beginning of the first to the end of the last. */
export const joined = (a: Gap | null, b: Gap): Gap => ({
  from: a !== null && a.from < b.from ? a.from : b.from,
  to: a !== null && a.to > b.to ? a.to : b.to,
});

const later = (a: Instant | null, b: Instant): Instant => (a === null || b > a ? b : a);

function useTime(state: Mutable, time: Instant): void {
  state.times.add(time);
  state.newestTime = later(state.newestTime, time);
}
