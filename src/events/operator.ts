/** Operators' recorded acts. */
import { z } from 'zod';
import { event } from './event.ts';

/** A failing event was skipped by a person, for one projection. */
export const EventSkipped = event(
  'EventSkipped',
  1,
  z.strictObject({ projection: z.string(), position: z.string(), reason: z.string() }),
);

export const OPERATOR_EVENTS = [EventSkipped] as const;

/** Stream of an operator's acts on one subject. */
export const operatorStream = (subject: string): string => `operator-${subject}`;
/** The subject of what is done to a projection. */
export const projectionSubject = (projection: string): string => `projection-${projection}`;
