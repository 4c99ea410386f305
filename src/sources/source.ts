/**
 * The source port (docs/design/sources.md#port): a source is asked about one case, or brings what is new by itself. What
 * it shows always ends in the one normal form, and in the one command that ingests.
 */
import type { Court } from '../courts/court.ts';
import type { DocketSnapshot } from '../dockets/snapshot.ts';
import type { LiveSourceName } from '../events/source.ts';
import type { Instant, Micros } from '../runtime/instant.ts';

/**
 * Whose work a request is, most urgent first. The budget of a source is spent in this order. `unknown_case` is a query
 * about a case that is not known here, which may end without an answer and so without pay; `wanted` the watch's repetition
 * of such a query that has found nothing.
 */
export const PRIORITIES = ['paid', 'unknown_case', 'watched', 'wanted', 'backfill'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Why a source did not answer as it should; also the label of metrics and the `why` of its standing. */
const SOURCE_FAULTS = [
  /** No connection, or it broke off. */
  'connection',
  'timeout',
  /** More bytes than the limit. */
  'too_large',
  /** The address, or that of a redirect, must not be called. */
  'refused_address',
  /** 5xx, or a page for people where data was expected: maintenance. */
  'unavailable',
  /** 429 with a time at which to ask again. */
  'throttled',
  /** 429 without such a time: the account is blocked. */
  'blocked',
  /** Our own limit: the budget for requests of this priority is spent. */
  'budget',
  /** 401: the credential is missing or wrong. */
  'unauthorised',
  /** 403: this service, or its credential, may not see that. */
  'forbidden',
  /** 400: a request that the source does not understand is a fault of this service. */
  'bad_request',
  /** Not in the documented form, cut off, or empty. */
  'unreadable',
  /** It has the head of the docket and none of its entries. */
  'no_entries',
  /** The circuit breaker is open. */
  'open',
  /** An operator has paused it. */
  'paused',
  /** This service ended the request, or was out of a resource: it says nothing about the source. */
  'interrupted',
] as const;
export type SourceFault = (typeof SOURCE_FAULTS)[number];

/** They say nothing about the case that was asked for, and any other case would meet them, too. */
export const FAULTS_BEFORE_ANY_CASE: ReadonlySet<SourceFault> = new Set<SourceFault>([
  'throttled',
  'blocked',
  'budget',
  'unauthorised',
  'open',
  'paused',
  'interrupted',
]);

export interface Fault {
  readonly fault: SourceFault;
  /** For operators: no secret, no text of the source longer than 200 characters. */
  readonly reason: string;
  /** When to ask again; null if unknown. */
  readonly retryAt: Micros | null;
}

export interface AskedCase {
  readonly court: Court;
  /** In the canonical form. */
  readonly caseNumber: string;
  /** What is known of it; null for a case that no source has shown. */
  readonly known: {
    readonly stream: string;
    /** When a complete look was last begun; null if there was none. Only what changed since then is asked for. */
    readonly completeSince: Instant | null;
  } | null;
}

/** Records what a source shows. Throws only if storage fails or others keep writing; then the look is to be repeated. */
export type Ingest = (snapshot: DocketSnapshot) => Promise<{ readonly stream: string } | { readonly refused: string }>;

export interface Asking {
  /** Read it for each request: it becomes more urgent if somebody more urgent waits for the same look. */
  readonly priority: Priority;
  /** Ends the look at once, between two requests or in the middle of one. What was ingested stays. */
  readonly signal: AbortSignal;
  readonly ingest: Ingest;
}

/** The result of a look at a source. Everything that was shown has been ingested before it is returned. */
export type Look =
  /** The source showed the whole docket, or all that changed since the last complete look. */
  | { readonly look: 'complete'; readonly stream: string }
  /** It showed a part, because of its budget or a fault; the next look continues there. */
  | { readonly look: 'partial'; readonly stream: string; readonly because: Fault }
  /** Nothing changed, which the source itself says. */
  | { readonly look: 'unchanged'; readonly stream: string }
  /** The source knows no such case. */
  | { readonly look: 'not_found' }
  /** It showed nothing. */
  | { readonly look: 'failed'; readonly because: Fault };

/** A source that can be asked about a case. */
export interface AskableSource {
  readonly name: LiveSourceName;
  covers(court: Court): boolean;
  /**
   * Never rejects because of what the source does. Everything that it shows goes through `ingest`, which writes
   * `DocketChecked`; the caller records the looks that failed.
   */
  ask(asked: AskedCase, asking: Asking): Promise<Look>;
}
