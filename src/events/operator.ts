/** Recorded actions on the service itself, by an operator or by an upgrade. */
import { z } from 'zod';
import { event } from './event.ts';

/** A person skipped a failing event, for one projection. */
export const EventSkipped = event(
  'EventSkipped',
  1,
  z.strictObject({
    projection: z.string(),
    position: z.string(),
    reason: z.string(),
    /** Absent in events of earlier versions. */
    by: z.string().min(1).optional(),
  }),
);

/** Stored content was masked again: everything up to a position, by the rules of one version. */
export const MaskingApplied = event(
  'MaskingApplied',
  1,
  z.strictObject({
    version: z.int().positive(),
    /** Position in the log up to which content was examined. */
    through: z.string(),
    /** Contents masked by older rules, those in which the new rules hide more, and the filings in those. */
    examined: z.int(),
    replaced: z.int(),
    filings: z.int(),
  }),
);

export const OPERATOR_EVENTS = [EventSkipped, MaskingApplied] as const;

/** The subject of actions on the masking of stored content. */
export const MASKING_SUBJECT = 'masking';

/** Stream of an operator's actions on one subject. */
export const operatorStream = (subject: string): string => `operator-${subject}`;
/** The subject of actions on a projection. */
export const projectionSubject = (projection: string): string => `projection-${projection}`;
