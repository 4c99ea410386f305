/** Recorded acts on the service itself, by an operator or by an upgrade. */
import { z } from 'zod';
import { event } from './event.ts';

/** A failing event was skipped by a person, for one projection. */
export const EventSkipped = event(
  'EventSkipped',
  1,
  z.strictObject({ projection: z.string(), position: z.string(), reason: z.string() }),
);

/** Stored content was masked again: everything up to a position by the rules of a version. */
export const MaskingApplied = event(
  'MaskingApplied',
  1,
  z.strictObject({
    version: z.int().positive(),
    /** Position in the log up to which content was examined. */
    through: z.string(),
    /** Contents that older rules had masked, those in which the rules hide more, and the filings in those. */
    examined: z.int(),
    replaced: z.int(),
    filings: z.int(),
  }),
);

export const OPERATOR_EVENTS = [EventSkipped, MaskingApplied] as const;

/** The subject of what is done to the masking of stored content. */
export const MASKING_SUBJECT = 'masking';

/** Stream of an operator's acts on one subject. */
export const operatorStream = (subject: string): string => `operator-${subject}`;
/** The subject of what is done to a projection. */
export const projectionSubject = (projection: string): string => `projection-${projection}`;
