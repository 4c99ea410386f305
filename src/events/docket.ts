/**
 * What happened to a docket as courts publish it (docs/design/dockets.md#delta-rule). An event holds what proves order,
 * identity and time; texts, names and document ids lie in the payload store, one blob for each event that needs one.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event } from './event.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Version of the rules that masked the content; absent in events from before there was more than one. */
const Masking = z.int().positive().optional();
const Day = z.string().regex(/^\d{4}-\d\d-\d\d$/);

/**
 * A number of a court means this docket's stream. A number that names its office is claimed once, in its own alias
 * stream. The alias stream of a number without its office lists every docket that the number can mean: one claim each.
 */
export const AliasClaimed = event(
  'AliasClaimed',
  1,
  z.strictObject({
    court: z.string(),
    number: z.string(),
    /** The number without its office; null for an alias that is no case number, such as a source's own case id. */
    core: z.string().nullable(),
    stream: z.string(),
  }),
);

export const DocketOpened = event('DocketOpened', 1, z.strictObject({ court: z.string(), caseNumber: z.string() }));

/** A source was looked at. `cacheAge` of every answer counts from the newest of these. */
export const DocketChecked = event(
  'DocketChecked',
  1,
  z.strictObject({
    source: z.string(),
    askedAt: Instant,
    /** Whether the source showed the whole docket. */
    complete: z.boolean(),
    /** `abandoned`: an ingest died with its append unknown; this event makes that append conflict for good. */
    outcome: z.enum(['complete', 'partial', 'unchanged', 'stale', 'failed', 'abandoned']),
    /** The ingest whose last event this is: once a case document shows it, its claim on the case clock is over. */
    ingestId: z.string().nullable(),
  }),
);

/** Header, parties or cross-references changed. `content` holds all of them as they are now. */
export const DocketDetailsChanged = event(
  'DocketDetailsChanged',
  1,
  z.strictObject({ askedAt: Instant, content: Sha256, masking: Masking }),
);

/** What proves order, identity and time of one filing. */
export const RecordedFiling = z.strictObject({
  filingId: z.string(),
  entryNumber: z.int().nullable(),
  dateFiled: Day.nullable(),
  dateEntered: Day.nullable(),
  /** The exact time entered, where the source knows it. */
  enteredAt: Instant.nullable(),
  /** The exact time filed, where the source knows it. */
  filedAt: Instant.nullable(),
  filingType: z.string(),
  filingTypes: z.array(z.string()),
  sealed: z.boolean(),
  availableAt: Instant,
  backfilled: z.boolean(),
});
export type RecordedFiling = z.infer<typeof RecordedFiling>;

/** Filings were seen for the first time. `content` holds their texts, by filing id. */
export const FilingsRecorded = event(
  'FilingsRecorded',
  1,
  z.strictObject({
    askedAt: Instant,
    content: Sha256,
    masking: Masking,
    baseline: z.boolean(),
    filings: z.array(RecordedFiling).min(1),
  }),
);

/** The first complete snapshot of the docket is recorded whole. */
export const BaselineCompleted = event(
  'BaselineCompleted',
  1,
  z.strictObject({ askedAt: Instant, filingCount: z.int() }),
);

/** The same filing, with something of it changed. `content` holds its whole text as it is now. */
export const FilingRevised = event(
  'FilingRevised',
  1,
  z.strictObject({
    askedAt: Instant,
    content: Sha256,
    /** Null where nothing changed that is served, only what the source calls the filing. */
    revisedAt: Instant.nullable(),
    changed: z.array(z.string()).min(1),
    masking: Masking,
    filing: RecordedFiling,
  }),
);

/** Two known filings turned out to be one; the earlier `availableAt` stays. */
export const FilingsMerged = event(
  'FilingsMerged',
  1,
  z.strictObject({ kept: z.string(), merged: z.string(), availableAt: Instant, revisedAt: Instant }),
);

/** Removed or sealed at the source: its text is no longer served, its place is. */
export const FilingWithdrawn = event(
  'FilingWithdrawn',
  1,
  z.strictObject({ filingId: z.string(), reason: z.enum(['removed', 'sealed']), revisedAt: Instant }),
);

/** What a docket's own stream holds. */
const DOCKET_STREAM_EVENTS = [
  DocketOpened,
  DocketChecked,
  DocketDetailsChanged,
  FilingsRecorded,
  BaselineCompleted,
  FilingRevised,
  FilingsMerged,
  FilingWithdrawn,
] as const;

export type DocketEvent = EventOf<(typeof DOCKET_STREAM_EVENTS)[number]>;
export type DocketAliasEvent = EventOf<typeof AliasClaimed>;

export const DOCKET_EVENTS = [AliasClaimed, ...DOCKET_STREAM_EVENTS] as const;

export const docketStream = (court: string, caseNumber: string): string => `docket-${court}-${caseNumber}`;
export const docketAliasStream = (court: string, number: string): string => `docket-alias-${court}-${number}`;
