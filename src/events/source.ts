/**
 * What live sources have shown, and what was arranged with them (docs/design/sources.md#events). What a source showed of
 * a docket is in the docket's own stream; these events are about the sources themselves.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event } from './event.ts';

const Text = z.string().min(1);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A source of this service's own, by the name that it has everywhere. */
export const LiveSourceName = z.enum(['courtlistener', 'rss', 'scotus']);
export type LiveSourceName = z.infer<typeof LiveSourceName>;

const CaseOf = {
  court: Text,
  /** In the canonical form. */
  caseNumber: Text,
};

/** A source has an id of its own for a case; one case may have several. */
export const SourceCaseFound = event(
  'SourceCaseFound',
  1,
  z.strictObject({ source: LiveSourceName, sourceCaseId: Text, ...CaseOf }),
);

/** The source has deleted that id, e.g. after merging two dockets; the case is looked up again by its number. */
export const SourceCaseGone = event(
  'SourceCaseGone',
  1,
  z.strictObject({ source: LiveSourceName, sourceCaseId: Text }),
);

/** A case was asked for that no source has shown yet. Sources are asked about it in the background. */
export const CaseWanted = event(
  'CaseWanted',
  1,
  z.strictObject({ ...CaseOf, wantedBy: z.enum(['query', 'operator']) }),
);

/** The case is not sought any longer: a source has shown it, or nobody has asked for it again in time. */
export const CaseNoLongerWanted = event(
  'CaseNoLongerWanted',
  1,
  z.strictObject({ ...CaseOf, why: z.enum(['found', 'expired']) }),
);

/** A message that a source pushed is durable. Whatever follows from it happens later, and once. */
export const WebhookReceived = event(
  'WebhookReceived',
  1,
  z.strictObject({
    source: LiveSourceName,
    /** SHA-256 of the key by which the source repeats a message. */
    keyHash: Sha256,
    /** As the source numbers its messages; null if it did not say. */
    eventType: z.int().nullable(),
    receivedAt: Instant,
    /** The body in the payload store; null if the message has no effect. Removed once applied. */
    content: Sha256.nullable(),
  }),
);

/** What became of it. */
export const WebhookApplied = event(
  'WebhookApplied',
  1,
  z.strictObject({
    source: LiveSourceName,
    keyHash: Sha256,
    outcome: z.enum(['recorded', 'unchanged', 'ignored', 'unknown_case', 'unreadable']),
  }),
);

/** The source notifies this service of new entries of a case. */
export const AlertSubscribed = event(
  'AlertSubscribed',
  1,
  z.strictObject({
    source: LiveSourceName,
    sourceCaseId: Text,
    alertId: Text,
    ...CaseOf,
    /** `watched`: by the service for a watched case; otherwise who decided it. */
    by: Text,
    renewed: z.boolean(),
  }),
);

export const AlertEnded = event(
  'AlertEnded',
  1,
  z.strictObject({
    source: LiveSourceName,
    sourceCaseId: Text,
    alertId: Text,
    why: z.enum(['unsubscribed', 'disabled_by_source', 'case_gone', 'no_longer_watched']),
    by: Text,
  }),
);

/** An operator had no more requests sent to a source, or only to one court of it. */
export const SourcePaused = event(
  'SourcePaused',
  1,
  z.strictObject({ source: LiveSourceName, court: Text.nullable(), by: Text, reason: Text }),
);

export const SourceResumed = event(
  'SourceResumed',
  1,
  z.strictObject({ source: LiveSourceName, court: Text.nullable(), by: Text, reason: Text }),
);

/** Whether a source works, whenever that changes: for all its courts (`court` null), or for one. */
export const SourceStandingChanged = event(
  'SourceStandingChanged',
  1,
  z.strictObject({
    source: LiveSourceName,
    court: Text.nullable(),
    standing: z.enum(['working', 'degraded', 'failing', 'misconfigured']),
    /** Why, in the words of `SourceFault` or a short sentence; null if it works. */
    why: Text.nullable(),
    at: Instant,
  }),
);

/** Cases of courts are looked at from their beginning, with what budget is left. */
export const BackfillOrdered = event(
  'BackfillOrdered',
  1,
  z.strictObject({
    backfillId: z.uuid(),
    /** Null: every court that a source covers. */
    courts: z.array(Text).nullable(),
    /** Only cases with a filing since this day; null: all known cases. */
    since: z.string().nullable(),
    by: Text,
    reason: Text,
  }),
);

export const BackfillEnded = event(
  'BackfillEnded',
  1,
  z.strictObject({
    backfillId: z.uuid(),
    outcome: z.enum(['completed', 'cancelled']),
    looked: z.int().nonnegative(),
    /** Who cancelled it, and why; absent if it was completed. */
    by: Text.optional(),
    reason: Text.optional(),
  }),
);

export const SOURCE_EVENTS = [
  SourceCaseFound,
  SourceCaseGone,
  CaseWanted,
  CaseNoLongerWanted,
  WebhookReceived,
  WebhookApplied,
  AlertSubscribed,
  AlertEnded,
  SourcePaused,
  SourceResumed,
  SourceStandingChanged,
  BackfillOrdered,
  BackfillEnded,
] as const;
export type SourceEvent = EventOf<(typeof SOURCE_EVENTS)[number]>;

/** All streams of this family begin so. */
export const sourceStream = {
  /** Pauses of a source and its courts, and its standing. */
  itself: (source: LiveSourceName): string => `source-${source}`,
  /** The standing of one court of a source. */
  court: (source: LiveSourceName, court: string): string => `source-${source}-${court}`,
  /** One id of a source for a case. */
  sourceCase: (source: LiveSourceName, sourceCaseId: string): string => `source-case-${source}-${sourceCaseId}`,
  /** A case that was asked for before any source showed it. */
  wanted: (court: string, caseNumber: string): string => `source-wanted-${court}-${caseNumber}`,
  /** One message that a source pushed. */
  webhook: (source: LiveSourceName, keyHash: string): string => `source-webhook-${source}-${keyHash}`,
  /** The alerts for one id of a source. */
  alert: (source: LiveSourceName, sourceCaseId: string): string => `source-alert-${source}-${sourceCaseId}`,
  backfill: (backfillId: string): string => `source-backfill-${backfillId}`,
} as const;
