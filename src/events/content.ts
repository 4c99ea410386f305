/** Why content that events name was removed, and what replaced it. */
import { z } from 'zod';
import { event } from './event.ts';

export const ContentRedacted = event(
  'ContentRedacted',
  1,
  z.strictObject({
    name: z.string(),
    replacement: z.string().nullable(),
    /** The event that names the content. */
    stream: z.string(),
    revision: z.int(),
    filingIds: z.array(z.string()),
    reason: z.string(),
    /** The operator or the process that removed it; absent in events of earlier versions, where `reason` may name it. */
    by: z.string().min(1).optional(),
    /** Version of the masking rules that produced the replacement; absent if there was another reason. */
    masking: z.int().positive().optional(),
    /** The order to forget that it obeys, and what kind of content it was; absent if there was another reason. */
    forget: z.strictObject({ forgetId: z.uuid(), kind: z.enum(['docket', 'answer', 'target', 'envelope']) }).optional(),
  }),
);

export const CONTENT_EVENTS = [ContentRedacted] as const;
export const contentStream = (name: string): string => `content-${name}`;
