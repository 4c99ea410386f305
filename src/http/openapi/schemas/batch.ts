/** `POST /v2/cases/batch` (specification 2.5; `http-api.md`). */
import { z } from 'zod';
import { PARAMETERS } from '../../parameters/described-parameters.ts';
import { CaseAnswer } from './case.ts';
import { ErrorObject } from './errors.ts';
import { BatchMeta } from './meta.ts';

/** Most queries of one batch (specification 8). */
export const MAX_QUERIES = 50;

const described = <Name extends keyof typeof PARAMETERS>(name: Name) =>
  PARAMETERS[name].schema.meta({
    ...PARAMETERS[name].schema.meta(),
    description: PARAMETERS[name].description,
    examples: [PARAMETERS[name].example],
  });

export const BatchQuery = z.object({
  case_id: described('case_id'),
  court_code: described('court_code'),
  last_checked: described('last_checked').optional(),
  context: described('context').optional(),
  language: described('language').optional(),
  filing_types: described('filing_types').optional(),
  callback_url: described('callback_url').optional(),
});

export const BatchRequest = z.object({ queries: z.array(BatchQuery).min(1).max(MAX_QUERIES) });

const ECHO = { case_id: z.string().nullable(), court_code: z.string().nullable() };

export const BatchResult = z
  .union([
    z.object({ ...ECHO, status: z.literal('success'), response: CaseAnswer }),
    z.object({ ...ECHO, status: z.literal('error'), error: ErrorObject }),
  ])
  .describe('In the order of the queries.');

export const BatchAnswer = z.object({ meta: BatchMeta, results: z.array(BatchResult) });
