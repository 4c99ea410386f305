/** The answer to a case query (docs/design/interface.md#2.3): case, context and delta, only from read models. */
import type { Court } from '../courts/court.ts';
import { type CaseDocument, isWhole, lookAnswered } from '../dockets/case-document.ts';
import { dayAsTimestamp } from '../dockets/court-time.ts';
import type { FilingType } from '../dockets/filing-type.ts';
import { isProblem, type Problem } from '../errors.ts';
import type { JsonObject } from '../events/event.ts';
import { type Clock, type Instant, MICROS_PER_SECOND, toMicros } from '../runtime/instant.ts';
import { countNew, type Delta, readDelta } from './case-delta.ts';
import { type FullContext, readCrossReferences, readFullContext } from './case-history.ts';
import type { LookupPorts } from './case-lookup.ts';
import type { QueryPorts } from './case-moment.ts';
import { readKnownCase } from './known-case.ts';

export interface CaseQuery {
  readonly court: Court;
  /** As sent; both are echoed. */
  readonly courtCode: string;
  readonly caseId: string;
  readonly lastChecked: Instant | null;
  /** `last_checked` as sent, for `delta.since`. */
  readonly since: string | null;
  readonly context: 'basic' | 'full';
  /** Null: the case's own. */
  readonly language: 'en' | 'fr' | null;
  /** Null: all. Filters only the delta. */
  readonly filingTypes: readonly FilingType[] | null;
  /** With no `lastChecked`, every filing is new: the delta starts at the beginning of the docket (version 1 of the API). */
  readonly fromTheBeginning?: boolean;
  /** Most bytes of the answer, if less than the limit of a single answer. */
  readonly maxBytes?: number;
  /** Also adds cross-references to the basic context (version 1 of the API). */
  readonly crossReferences?: boolean;
}

/** Before every filing. */
const BEGINNING: Instant = '0001-01-01T00:00:00.000000Z';

export interface TruncationDetails {
  readonly omitted_fields: readonly string[];
  readonly total_entries: number;
  readonly entries_included: number;
  readonly continuation_hint: string;
}

/** What case and monitor answers say about the moment that they describe. */
export interface CaseAnswerMeta {
  /** What the caller sends as its next `last_checked`. */
  readonly queriedAt: Instant;
  /** When a source last showed the whole docket; if none has, when one last showed a part. */
  readonly dataAsOf: Instant | null;
  readonly cacheAgeSeconds: number | null;
  readonly coverageStatus: 'full' | 'partial';
}

export interface CaseAnswer extends CaseAnswerMeta {
  readonly contextDelivered: 'basic' | 'full';
  readonly languageDelivered: 'en' | 'fr' | 'bilingual';
  readonly truncated: boolean;
  readonly truncationDetails: TruncationDetails | null;
  /** The answer without its `meta`. It has a `delta` only if `last_checked` was sent. */
  readonly body: JsonObject;
}

export interface MonitorAnswer extends CaseAnswerMeta {
  readonly changed: boolean;
  readonly changeCount: number;
  /** `available_at` of the newest new filing; null if there is none. */
  readonly latestActivityAt: Instant | null;
}

/** The docket that an answer is about, and what decides whether it is still fresh. */
export interface OfDocket {
  readonly stream: string;
  /** In its most complete form. */
  readonly caseNumber: string;
  /** Whether a source has shown the whole docket, and no feed has missed anything since. */
  readonly isComplete: boolean;
  /** When the newest look at the whole docket began; null if there was none, or if it is not known. */
  readonly wholeAsOf: Instant | null;
  /** When its newest filing or visible change became available. */
  readonly activeAt: Instant | null;
  /** Whether the court has closed the case. */
  readonly closed: boolean;
}

export interface CaseQueries {
  /**
   * Problems: `case_not_found`, `ambiguous_case_id`, `invalid_case_id`; `court_unavailable` for a case that is not complete
   * yet; `service_unavailable` if the case may exist but the read model does not show it yet.
   */
  answerCase(query: CaseQuery): Promise<(CaseAnswer & OfDocket) | Problem>;
  /**
   * Whether anything is new, by the rule of the delta of `answerCase`; with no `lastChecked`, whether there is any filing
   * at all.
   */
  answerMonitor(
    query: Pick<CaseQuery, 'court' | 'caseId' | 'filingTypes' | 'lastChecked'>,
  ): Promise<(MonitorAnswer & OfDocket) | Problem>;
}

/** A single result has at most 2 MiB, including `meta` and the envelope. */
export const MAX_RESULT_BYTES = 2 * 1024 * 1024;
const RESERVED_BYTES = 16 * 1024;
const PATIENCE_MS = 2_000;

export function createCaseQueries({
  readStore,
  freshness,
  clock,
  sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  patienceMs = PATIENCE_MS,
}: LookupPorts & {
  readonly clock: Clock;
  readonly sleep?: (ms: number) => Promise<void>;
  /** How long a query waits while a baseline is being recorded. */
  readonly patienceMs?: number;
}): CaseQueries {
  const ports: QueryPorts = { readStore, freshness, clock, sleep, patienceMs };
  return {
    answerCase: (query) => answerCase(ports, query),
    answerMonitor: async ({ court, caseId, filingTypes, lastChecked }) => {
      const known = await readKnownCase(ports, { court, caseId, lastChecked });
      if (isProblem(known)) return known;
      const { stream, document, queriedAt } = known;
      const { changeCount, latestNewAt } = await countNew(known.readStore, {
        stream,
        timeZone: court.timeZone,
        after: lastChecked ?? BEGINNING,
        upTo: document.newestTime,
        filingTypes,
      });
      return {
        ...docketOf(stream, document),
        ...metaOf(document, court, queriedAt, clock),
        changed: changeCount > 0,
        changeCount,
        latestActivityAt: latestNewAt,
      };
    },
  };
}

async function answerCase(ports: QueryPorts, query: CaseQuery): Promise<(CaseAnswer & OfDocket) | Problem> {
  const { court } = query;
  const known = await readKnownCase(ports, query);
  if (isProblem(known)) return known;
  const { stream, document, queriedAt, readStore } = known;

  const { fields, languageDelivered } = caseFields(document, court, query.language);
  const room = (query.maxBytes ?? MAX_RESULT_BYTES) - RESERVED_BYTES - Buffer.byteLength(JSON.stringify(fields));
  const references =
    query.crossReferences && query.context === 'basic'
      ? { cross_references: await readCrossReferences(readStore, stream, room) }
      : null;
  const budget = room - (references === null ? 0 : Buffer.byteLength(JSON.stringify(references)));
  const after = query.lastChecked ?? (query.fromTheBeginning ? BEGINNING : null);
  const delta =
    after === null
      ? null
      : await readDelta(readStore, {
          stream,
          timeZone: court.timeZone,
          after,
          upTo: document.newestTime,
          filingTypes: query.filingTypes,
          budget,
        });
  const full =
    query.context === 'basic'
      ? null
      : await readFullContext(readStore, stream, court.timeZone, document.newestTime, budget - (delta?.bytes ?? 0));
  const truncationDetails = truncationOf(document, delta, full);
  return {
    ...docketOf(stream, document),
    ...metaOf(document, court, delta?.cutAt ?? queriedAt, ports.clock),
    contextDelivered: query.context,
    languageDelivered,
    truncated: truncationDetails !== null,
    truncationDetails,
    body: {
      case_id: query.caseId,
      court_code: query.courtCode,
      case: { ...fields, ...full?.fields, ...references },
      ...(delta === null
        ? {}
        : {
            delta: {
              changed: delta.changeCount > 0,
              since: query.since ?? query.lastChecked,
              change_count: delta.changeCount,
              new_filings: delta.newFilings,
              updated_filings: delta.updatedFilings,
            },
          }),
    },
  };
}

const docketOf = (stream: string, document: CaseDocument): OfDocket => ({
  stream,
  caseNumber: document.caseNumber,
  isComplete: isWhole(document),
  wholeAsOf: document.whole?.asOf ?? null,
  activeAt: document.newestTime,
  closed: (document.header?.dateClosed ?? null) !== null,
});

function metaOf(document: CaseDocument, court: Court, queriedAt: Instant, clock: Clock): CaseAnswerMeta {
  const { asOf } = lookAnswered(document);
  const age = asOf === null ? null : (clock.now() - toMicros(asOf)) / MICROS_PER_SECOND;
  return {
    queriedAt,
    dataAsOf: asOf,
    cacheAgeSeconds: age === null ? null : Math.max(0, Math.floor(age)),
    coverageStatus: isWhole(document) && court.coverage === 'full' ? 'full' : 'partial',
  };
}

function caseFields(document: CaseDocument, court: Court, language: CaseQuery['language']) {
  const { header } = document;
  const name = header?.caseName ?? null;
  const secondary = header?.caseNameSecondary ?? null;
  const swapped = language !== null && secondary !== null && header?.caseNameSecondaryLanguage === language;
  const first = court.language === 'bilingual' ? (language === 'fr' ? 'en' : 'fr') : court.language;
  const day = (date: string | null | undefined): string | null => (date ? dayAsTimestamp(court.timeZone, date) : null);
  const fields: JsonObject = {
    case_number: document.caseNumber,
    case_name: swapped ? secondary : name,
    case_name_secondary: swapped ? name : secondary,
    case_name_secondary_language: swapped ? first : (header?.caseNameSecondaryLanguage ?? null),
    case_type: header?.caseType ?? 'other',
    case_status: statusOf(document),
    court_name: court.name,
    jurisdiction_country: court.country,
    language: court.language,
    nature_of_proceeding: header?.natureOfProceeding ?? null,
    cause: header?.cause ?? null,
    assigned_judge: header?.assignedJudge ?? null,
    referred_judge: header?.referredJudge ?? null,
    filed_at: day(header?.dateFiled),
    closed_at: day(header?.dateClosed),
    filing_count: document.filingCount,
    latest_activity_at: document.latestFilingAt,
    primary_parties: document.primaryParties.map(({ name, role }) => ({ name, role })),
  };
  return { fields, languageDelivered: swapped && language !== null ? language : court.language };
}

function statusOf({ header, baseline }: CaseDocument): 'open' | 'closed' | 'unknown' {
  if (header?.dateClosed) return 'closed';
  return baseline === 'completed' || header?.dateFiled ? 'open' : 'unknown';
}

function truncationOf(document: CaseDocument, delta: Delta | null, full: FullContext | null): TruncationDetails | null {
  if (delta !== null && delta.cutAt !== null) {
    return {
      omitted_fields: ['delta.new_filings', 'delta.updated_filings', ...(full?.omitted ?? [])],
      total_entries: delta.changeCount,
      entries_included: delta.newFilings.length,
      continuation_hint: 'Send meta.queried_at of this answer as the next last_checked: the delta continues there.',
    };
  }
  if (full === null || full.omitted.length === 0) return null;
  return {
    omitted_fields: full.omitted,
    total_entries: document.filingCount,
    entries_included: full.fields.docket_history.length,
    continuation_hint:
      'The newest entries are included. For older ones, query with an earlier last_checked: the delta returns the oldest first.',
  };
}
