/** `POST /v2/cases/batch` (docs/design/interface.md#2.5). */
import { z } from 'zod';
import { MAX_BATCH_SIZE } from '../../parameters/batch-request.ts';
import { PARAMETERS } from '../../parameters/described-parameters.ts';
import { CaseAnswer } from './case.ts';
import { ERROR_CODES } from './errors.ts';
import { BatchMeta, Dollars } from './meta.ts';

const described = <Name extends keyof typeof PARAMETERS>(name: Name) =>
  PARAMETERS[name].schema.meta({
    ...PARAMETERS[name].schema.meta(),
    description: PARAMETERS[name].description,
    examples: [PARAMETERS[name].example],
  });

/** Null counts as no value, as in every answer of the service. */
export const BatchQuery = z.object({
  case_id: described('case_id'),
  court_code: described('court_code'),
  last_checked: described('last_checked').nullish(),
  context: described('context').nullish(),
  language: described('language').nullish(),
  filing_types: described('filing_types').nullish(),
  callback_url: described('callback_url').nullish(),
});

export const BatchRequest = z.object({ queries: z.array(BatchQuery).min(1).max(MAX_BATCH_SIZE) });

const ECHO = { case_id: z.string(), court_code: z.string() };

/** The error of one query: details are as in single calls, except for `charged`. */
const FailedQuery = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  documentation_url: z.url(),
  details: z.looseObject({
    charged: z
      .boolean()
      .describe('True if another query of the batch succeeded: one payment covers all queries and is settled in full.'),
    query_cost_usd: Dollars.describe('What this query cost: 0.99 if `charged` is true, else 0.'),
    hint: z.string().describe('What to do.'),
  }),
});

export const BatchSuccess = z.object({ ...ECHO, status: z.literal('success'), response: CaseAnswer });
export const BatchFailure = z.object({ ...ECHO, status: z.literal('error'), error: FailedQuery });

/** Both variants are named components, because client generators lose the type of inline ones. */
export const BatchResult = z.union([BatchSuccess, BatchFailure]).meta({
  description: 'In the order of the queries.',
  discriminator: {
    propertyName: 'status',
    mapping: { success: '#/components/schemas/BatchSuccess', error: '#/components/schemas/BatchFailure' },
  },
});

export const BatchAnswer = z.object({ meta: BatchMeta, results: z.array(BatchResult) });
