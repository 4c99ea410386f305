/** The `meta` block of each kind of answer (docs/design/interface.md#2.2). */
import { z } from 'zod';

/** A point in time: ISO-8601 with an offset. */
export const Timestamp = z.string().meta({ format: 'date-time' });
/** US dollars in exact cents. */
export const Dollars = z.number().min(0);
const Count = z.int().min(0);

const CONTEXT = z.enum(['basic', 'full']);
const LANGUAGE_DELIVERED = z.enum(['en', 'fr', 'bilingual']);
export const COVERED = z.enum(['full', 'partial']);

const META = {
  request_id: z.uuid().describe('Id of this call, also in `X-Request-Id`.'),
  queried_at: Timestamp.describe('Send it back, unchanged, as the next `last_checked`.'),
  query_cost_usd: Dollars.describe('Amount that this call settled; 0 in the sandbox and for free calls.'),
  sandbox: z.boolean(),
  coverage_status: COVERED.nullable(),
  cache_age_seconds: Count.nullable().describe(
    'Seconds since a source last showed the whole docket; if none has, since one last showed a part.',
  ),
  context_delivered: CONTEXT.nullable(),
  language_delivered: LANGUAGE_DELIVERED.nullable(),
  truncated: z.boolean().describe('Whether the answer was cut to fit 2 MiB.'),
  tag: z.string().nullable().describe('`X-Service-Tag` as sent.'),
  withdrawn_filings: z
    .array(z.string())
    .optional()
    .describe('In a stored answer: filing_ids of filings whose text was withdrawn later.'),
};

export const Meta = z.object(META).describe('Every success has all ten keys; a key that does not apply is null.');

export const TruncationDetails = z.object({
  omitted_fields: z.array(z.string()),
  total_entries: Count,
  entries_included: Count,
  continuation_hint: z.string(),
});

const ABOUT_A_CASE = {
  ...META,
  data_as_of: Timestamp.nullable().describe('When a source last showed the whole docket; if none has, a part.'),
};

export const CaseMeta = z.object({
  ...ABOUT_A_CASE,
  truncation_details: TruncationDetails.optional().describe(
    'If the answer was truncated: what is missing and how to continue.',
  ),
});

export const MonitorMeta = z.object(ABOUT_A_CASE);

export const BatchMeta = z.object({
  ...META,
  batch_size: Count.describe('Queries submitted.'),
  successful: Count.describe('Queries that returned data.'),
  failed: Count.describe('Queries that returned errors.'),
  total_cost_usd: Dollars.describe('batch_size × 0.99; 0 in the sandbox.'),
});

export const ErrorMeta = z.object({ request_id: z.uuid(), queried_at: Timestamp });
