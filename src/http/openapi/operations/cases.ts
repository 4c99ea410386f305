/** The endpoints that answer about cases. */
import type { Operation } from '../operation.ts';
import { BatchAnswer, BatchRequest } from '../schemas/batch.ts';
import { CaseAnswer, MonitorAnswer } from '../schemas/case.ts';
import { CASE_QUERY, PAID, PAID_HEADERS } from './codes.ts';

const SANDBOX_HEADERS = ['X-Service-Tag', 'X-Service-Test'] as const;

export const caseOperation: Operation = {
  method: 'get',
  path: '/v2/case',
  id: 'getCase',
  tag: 'Cases',
  summary: 'One case and its new filings',
  description:
    'The current state of a case and, with `last_checked`, a `delta`: exactly the filings that are new since then, oldest first. `context=full` adds parties, attorneys, cross-references and the whole docket. A case that is unknown or whose data is too old is looked up at its court’s source while the call waits (15 s at most); if the source does not answer, a known case is returned as it is, with its age in `meta`.',
  price: '0.99',
  required: ['case_id', 'court_code'],
  optional: ['last_checked', 'context', 'language', 'filing_types', 'callback_url', 'test'],
  requestHeaders: SANDBOX_HEADERS,
  success: {
    description: 'The case.',
    headers: [...PAID_HEADERS, 'X-Service-Delivery'],
    content: { schema: CaseAnswer },
  },
  pending: true,
  errors: [...PAID, ...CASE_QUERY],
};

export const monitorOperation: Operation = {
  method: 'get',
  path: '/v2/monitor',
  id: 'getMonitor',
  tag: 'Cases',
  summary: 'Whether anything is new in a case',
  description:
    'A short answer that uses the same rule as the delta of `GET /v2/case`: whether anything is new since `last_checked`, how many filings, and when the newest arrived. The case is looked up as for `GET /v2/case`.',
  price: '0.99',
  required: ['case_id', 'court_code', 'last_checked'],
  optional: ['test'],
  requestHeaders: SANDBOX_HEADERS,
  success: { description: 'Whether anything is new.', headers: PAID_HEADERS, content: { schema: MonitorAnswer } },
  pending: true,
  errors: [...PAID, ...CASE_QUERY],
};

export const batchOperation: Operation = {
  method: 'post',
  path: '/v2/cases/batch',
  id: 'postCasesBatch',
  tag: 'Cases',
  summary: 'Up to 50 cases in one call',
  description:
    'One payment covers all queries: 0.99 USD times their number. Results keep the order of the queries. All cases are looked up side by side, as for `GET /v2/case`. A failed query becomes an entry with its `error`. The full amount is still settled, unless every query fails; then nothing is charged. A batch counts as one request of the limit per minute.',
  price: '0.99',
  optional: ['test'],
  requestHeaders: SANDBOX_HEADERS,
  body: {
    schema: BatchRequest,
    example: {
      queries: [
        { case_id: '3:24-cv-01234', court_code: 'cand', last_checked: '2026-03-01T12:00:00Z' },
        { case_id: '24-10123', court_code: 'deb', context: 'full' },
      ],
    },
  },
  success: {
    description: 'One result per query.',
    headers: [...PAID_HEADERS, 'X-Service-Delivery'],
    content: { schema: BatchAnswer },
  },
  pending: true,
  errors: [
    ...PAID,
    'missing_required_parameter',
    'invalid_timestamp',
    'last_checked_in_future',
    'invalid_batch_request',
    'batch_too_large',
    'unsupported_media_type',
    'court_unavailable',
  ],
};
