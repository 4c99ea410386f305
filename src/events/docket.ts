/**
 * The history of a docket as courts publish it (docs/design/dockets.md#delta-rule). An event contains what proves
 * order, identity and time. Texts, names and document ids are in the payload store, one blob for each event that needs
 * one.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event } from './event.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Version of the rules that masked the content; absent in events older than the second version. */
const Masking = z.int().positive().optional();
const Day = z.string().regex(/^\d{4}-\d\d-\d\d$/);

/**
 * A number of a court means this docket's stream. A number with its office is claimed once, in its own alias stream. A
 * number without its office may mean several dockets: its alias stream has one claim for each.
 */
export const AliasClaimed = event(
  'AliasClaimed',
  1,
  z.strictObject({
    court: z.string(),
    number: z.string(),
    /** The number without its office; null for an alias that is not a case number, such as a source's own case id. */
    core: z.string().nullable(),
    stream: z.string(),
  }),
);

export const DocketOpened = event('DocketOpened', 1, z.strictObject({ court: z.string(), caseNumber: z.string() }));

/** A source was checked. The age of an answer counts from the newest of these events that is complete. */
export const DocketChecked = event(
  'DocketChecked',
  1,
  z.strictObject({
    source: z.string(),
    askedAt: Instant,
    /** Whether the source showed the whole docket, or all that changed since the last look that was complete. */
    complete: z.boolean(),
    /**
     * `abandoned`: an ingest died while the outcome of its append was unknown. This event makes that append conflict
     * permanently.
     */
    outcome: z.enum(['complete', 'partial', 'unchanged', 'stale', 'failed', 'abandoned']),
    /** A feed said nothing of this time, so entries may be missing until a complete look after it. */
    gap: z.strictObject({ from: Instant, to: Instant }).optional(),
    /** The ingest whose last event this is. Once a case document shows it, its claim on the case clock ends. */
    ingestId: z.string().nullable(),
  }),
);

/** Header, parties or cross-references changed. `content` holds all of them in their current form. */
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
  /** The exact time entered, if the source knows it. */
  enteredAt: Instant.nullable(),
  /** The exact time filed, if the source knows it. */
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
    /** Old filings that a first look has shown before it was complete: they are as old as those of a baseline. */
    backlog: z.boolean().optional(),
    filings: z.array(RecordedFiling).min(1),
  }),
);

/** The first complete snapshot of the docket is fully recorded. */
export const BaselineCompleted = event(
  'BaselineCompleted',
  1,
  z.strictObject({ askedAt: Instant, filingCount: z.int() }),
);

/** A known filing changed. `content` holds its whole current text. */
export const FilingRevised = event(
  'FilingRevised',
  1,
  z.strictObject({
    askedAt: Instant,
    content: Sha256,
    /** Null if nothing that is served changed, only the source's ids for the filing. */
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

/** Removed or sealed at the source. Its text is no longer served, but the filing stays listed. */
export const FilingWithdrawn = event(
  'FilingWithdrawn',
  1,
  z.strictObject({ filingId: z.string(), reason: z.enum(['removed', 'sealed']), revisedAt: Instant }),
);

/**
 * An order to forget the docket: its texts and names are removed, nothing of it is served, and no snapshot is recorded
 * in it any more. Always the last event of its stream.
 */
export const DocketForgotten = event(
  'DocketForgotten',
  1,
  z.strictObject({
    forgetId: z.uuid(),
    /** The numbers that mean the docket. */
    numbers: z.array(z.string()),
    by: z.string().min(1),
    reason: z.string().min(1),
  }),
);

/** The events in a docket's own stream. */
const DOCKET_STREAM_EVENTS = [
  DocketOpened,
  DocketChecked,
  DocketDetailsChanged,
  FilingsRecorded,
  BaselineCompleted,
  FilingRevised,
  FilingsMerged,
  FilingWithdrawn,
  DocketForgotten,
] as const;

export type DocketEvent = EventOf<(typeof DOCKET_STREAM_EVENTS)[number]>;
export type DocketAliasEvent = EventOf<typeof AliasClaimed>;

export const DOCKET_EVENTS = [AliasClaimed, ...DOCKET_STREAM_EVENTS] as const;

export const docketStream = (court: string, caseNumber: string): string => `docket-${court}-${caseNumber}`;
/** The court of a docket's stream. Court codes contain no hyphen, so the first hyphen ends the code. */
export const courtOfDocket = (stream: string): string | undefined => /^docket-([a-z0-9_]+)-/.exec(stream)?.[1];
export const docketAliasStream = (court: string, number: string): string => `docket-alias-${court}-${number}`;

/** The filings whose content an event names. */
export function filingsIn({ type, data }: DocketEvent): readonly string[] {
  if (type === 'FilingsRecorded') return data.filings.map(({ filingId }) => filingId);
  return type === 'FilingRevised' ? [data.filing.filingId] : [];
}
