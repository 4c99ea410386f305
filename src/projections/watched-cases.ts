/**
 * Read model for the watch over cases (docs/design/sources.md#watched-cases): of each docket when it was last asked
 * for, when each source last showed it, and when it was last active; and the cases that no source has shown yet.
 */
import { unreachable } from '../commands/decider.ts';
import {
  DocketChecked,
  DocketForgotten,
  DocketOpened,
  docketStream,
  FilingRevised,
  FilingsMerged,
  FilingsRecorded,
  FilingWithdrawn,
} from '../events/docket.ts';
import type { EventOf, JsonObject } from '../events/event.ts';
import { QueryAnswered } from '../events/payment.ts';
import { BackfillEnded, BackfillOrdered, CaseNoLongerWanted, CaseWanted, sourceStream } from '../events/source.ts';
import { type Instant, latest, MICROS_PER_SECOND, toMicros } from '../runtime/instant.ts';
import type { Projection, Target } from './projection.ts';

export const WATCHED_CASES = 'watched-cases';
export const WANTED_CASES = 'wanted-cases';
export const BACKFILLS = 'backfills';

/** When one source last showed a case. */
export type SourceCheck = {
  readonly source: string;
  readonly at: Instant;
  /** When a look that showed everything was last begun; null if there was none. */
  readonly completeAt: Instant | null;
};

/** By the docket's stream, which is the document's id. */
export type WatchedCase = {
  readonly court: string;
  readonly caseNumber: string;
  /** When it was last answered, to the hour; absent if it never was, so that an index of it has only watched cases. */
  readonly askedAt?: Instant;
  /** When its newest filing or visible change became available. */
  readonly activeAt: Instant | null;
  /** The newest check of each source, newest first. */
  readonly checks: readonly SourceCheck[];
  /** Since when filings wait for their text, or a gap for a look; null if nothing does. */
  readonly stubsSince: Instant | null;
  /** Filings that a look in part brought, such as a feed, and whose text has not come since. */
  readonly stubs: readonly string[];
  /** Filings recorded since the last check, which may be stubs: the check after them says how whole it was. */
  readonly unchecked: readonly string[];
  /** When a look last failed, and how many did since one succeeded. */
  readonly failedAt: Instant | null;
  readonly failures: number;
};

/** By the stream of the want, which is the document's id. */
export type WantedCase = {
  readonly court: string;
  readonly caseNumber: string;
  readonly wantedBy: string;
  /** When it was first and last asked for. */
  readonly since: Instant;
  readonly wantedAt: Instant;
};

/** By its id. */
export type Backfill = {
  readonly courts: readonly string[] | null;
  readonly since: string | null;
  readonly by: string;
  readonly reason: string;
  readonly orderedAt: Instant;
  /** `open` until it has ended. */
  readonly status: 'open' | 'completed' | 'cancelled';
  readonly endedAt: Instant | null;
  readonly looked: number;
};

/** A case has few sources. More names than these can only be tokens that pushed it once. */
const MOST_SOURCES = 12;
/** Of more, the first are forgotten: a look brings the text of all. */
const MOST_STUBS = 50;
const ASKED_WITHIN = 3_600 * MICROS_PER_SECOND;
/** A text that has not come for so long is not waited for: many entries never have one. */
const WAITED_FOR = 86_400 * MICROS_PER_SECOND;

const DOCKET_EVENTS = [
  DocketOpened,
  DocketChecked,
  FilingsRecorded,
  FilingRevised,
  FilingsMerged,
  FilingWithdrawn,
  DocketForgotten,
] as const;
const OTHER_EVENTS = [QueryAnswered, CaseWanted, CaseNoLongerWanted, BackfillOrdered, BackfillEnded] as const;

type OnDocket = EventOf<(typeof DOCKET_EVENTS)[number]> | EventOf<typeof QueryAnswered>;
type OnBackfill = EventOf<typeof BackfillOrdered> | EventOf<typeof BackfillEnded>;
type OnWant = EventOf<typeof CaseWanted> | EventOf<typeof CaseNoLongerWanted>;
type WatchEvent = OnDocket | OnWant | OnBackfill;

export const watchedCases: Projection<WatchEvent> = {
  name: WATCHED_CASES,
  events: [...DOCKET_EVENTS, ...OTHER_EVENTS],
  forOperators: true,
  collections: [
    { name: WATCHED_CASES, indexes: [['askedAt'], ['court'], ['court', 'askedAt']] },
    { name: WANTED_CASES, indexes: [['wantedAt']] },
    { name: BACKFILLS, indexes: [['status']] },
  ],

  targets({ event: { type, data }, recorded }): readonly Target[] {
    switch (type) {
      case 'QueryAnswered':
        // In one order for all answers, so that a batch of them is folded in one step.
        return [...(data.cases ?? [])].sort().map((id) => ({ collection: WATCHED_CASES, id }));
      case 'CaseWanted':
        return [{ collection: WANTED_CASES, id: sourceStream.wanted(data.court, data.caseNumber) }];
      case 'CaseNoLongerWanted':
        return [
          { collection: WANTED_CASES, id: sourceStream.wanted(data.court, data.caseNumber) },
          { collection: WATCHED_CASES, id: docketStream(data.court, data.caseNumber) },
        ];
      case 'BackfillOrdered':
      case 'BackfillEnded':
        return [{ collection: BACKFILLS, id: data.backfillId }];
      default:
        return [{ collection: WATCHED_CASES, id: recorded.stream }];
    }
  },

  fold({ collection }, document, { event, recorded }): JsonObject | null {
    const at = recorded.metadata.recordedAt;
    switch (event.type) {
      case 'CaseNoLongerWanted':
        if (collection === WATCHED_CASES) return document && foldFound(document as WatchedCase, event.data.why, at);
        return null;
      case 'CaseWanted':
        return foldWant(document as WantedCase | null, event, at);
      case 'BackfillOrdered':
      case 'BackfillEnded':
        return foldBackfill(document as Backfill | null, event, at);
      case 'DocketOpened':
        return document ?? { ...event.data, ...UNCHECKED };
      default:
        // A docket that was forgotten has no document, and gets none from an answer that was given before.
        return document && foldCase(document as WatchedCase, event, at);
    }
  },
};

const UNCHECKED = {
  activeAt: null,
  checks: [],
  stubsSince: null,
  stubs: [],
  unchecked: [],
  failedAt: null,
  failures: 0,
} as const;

type OfKnownCase = Exclude<OnDocket, EventOf<typeof DocketOpened>>;

function foldCase(before: WatchedCase, { type, data }: OfKnownCase, at: Instant): WatchedCase | null {
  switch (type) {
    case 'QueryAnswered':
      return isAskedLately(before, at) ? before : { ...before, askedAt: latest(before.askedAt ?? at, at) };
    case 'FilingsRecorded':
      return {
        ...active(before, ...data.filings.map(({ availableAt }) => availableAt)),
        // What was there before the first look is no news, in whichever part of that look it came.
        unchecked:
          data.baseline || data.backlog === true
            ? before.unchecked
            : [...before.unchecked, ...data.filings.map(idOf)].slice(-MOST_STUBS),
      };
    case 'FilingRevised': {
      const known = data.changed.includes('description') ? without(before, data.filing.filingId) : before;
      return data.revisedAt === null ? known : active(known, data.revisedAt);
    }
    case 'FilingsMerged':
      return active(without(before, data.merged), data.revisedAt);
    case 'FilingWithdrawn':
      return active(without(before, data.filingId), data.revisedAt);
    case 'DocketChecked':
      return checked(before, data);
    case 'DocketForgotten':
      return null;
    default:
      return unreachable(type);
  }
}

/** A case that everybody asks for is not written with each answer: it is watched for days. */
const isAskedLately = ({ askedAt }: WatchedCase, at: Instant): boolean =>
  askedAt !== undefined && toMicros(at) - toMicros(askedAt) < ASKED_WITHIN;

const active = (before: WatchedCase, ...times: readonly Instant[]): WatchedCase => ({
  ...before,
  activeAt: times.reduce((newest, time) => latest(newest, time), before.activeAt ?? times[0] ?? '') || null,
});

function checked(before: WatchedCase, data: EventOf<typeof DocketChecked>['data']): WatchedCase {
  const { source, askedAt, complete, outcome, gap } = data;
  if (outcome === 'abandoned') return before;
  if (outcome === 'failed') {
    return { ...before, failedAt: latest(before.failedAt ?? askedAt, askedAt), failures: before.failures + 1 };
  }
  const known = before.checks.find((check) => check.source === source);
  const check: SourceCheck = {
    source,
    at: latest(known?.at ?? askedAt, askedAt),
    completeAt: complete ? latest(known?.completeAt ?? askedAt, askedAt) : (known?.completeAt ?? null),
  };
  const others = before.checks.filter((one) => one.source !== source);
  const checks = [check, ...others].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)).slice(0, MOST_SOURCES);
  const looked = { ...before, checks, unchecked: [], failedAt: null, failures: 0 };
  return complete ? afterWholeLook(looked, askedAt) : afterPart(looked, before.unchecked, gap !== undefined, askedAt);
}

/** Stubs that the look could not fill stay for a day. */
function afterWholeLook(before: WatchedCase, askedAt: Instant): WatchedCase {
  const { stubs, stubsSince } = before;
  if (stubsSince === null || askedAt < stubsSince) return before;
  const isOver = stubs.length === 0 || toMicros(askedAt) - toMicros(stubsSince) >= WAITED_FOR;
  return isOver ? { ...before, stubs: [], stubsSince: null } : before;
}

/** News begin to wait anew, if there was a whole look since others began. */
function afterPart(before: WatchedCase, news: readonly string[], isGap: boolean, askedAt: Instant): WatchedCase {
  if (news.length === 0 && !isGap) return before;
  const { stubsSince } = before;
  const isLooked = before.checks.some(({ completeAt }) => stubsSince !== null && (completeAt ?? '') >= stubsSince);
  return {
    ...before,
    stubs: [...before.stubs, ...news].slice(-MOST_STUBS),
    stubsSince: stubsSince === null || isLooked ? askedAt : stubsSince,
  };
}

function without(before: WatchedCase, filingId: string): WatchedCase {
  if (!before.stubs.includes(filingId)) return before;
  const stubs = before.stubs.filter((one) => one !== filingId);
  return { ...before, stubs, stubsSince: stubs.length === 0 ? null : before.stubsSince };
}

const idOf = ({ filingId }: { readonly filingId: string }): string => filingId;

const foldWant = (before: WantedCase | null, { data }: EventOf<typeof CaseWanted>, at: Instant): WantedCase => ({
  ...data,
  since: before?.since ?? at,
  wantedAt: latest(before?.wantedAt ?? at, at),
});

/** A wanted case that was found counts as asked for at that time. */
const foldFound = (before: WatchedCase, why: 'found' | 'expired', at: Instant): WatchedCase =>
  why === 'found' ? { ...before, askedAt: latest(before.askedAt ?? at, at) } : before;

function foldBackfill(before: Backfill | null, { type, data }: OnBackfill, at: Instant): Backfill | null {
  if (type === 'BackfillEnded') {
    return before && { ...before, status: data.outcome, endedAt: at, looked: data.looked };
  }
  const { courts, since, by, reason } = data;
  return before ?? { courts, since, by, reason, orderedAt: at, status: 'open', endedAt: null, looked: 0 };
}
