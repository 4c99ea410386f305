/** Version 1, until it ends. */
import { z } from 'zod';
import { FilingType } from '../../../dockets/filing-type.ts';
import type { Operation, OtherParameter } from '../operation.ts';
import { V1CaseAnswer, V1MonitorAnswer, V1StatusAnswer } from '../schemas/v1.ts';
import { ANYWHERE, CASE_QUERY, PAID, PAID_HEADERS, V1_HEADERS, V1_ONLY } from './codes.ts';

const list = (name: string): OtherParameter => ({
  name,
  required: false,
  description: 'Filters the new filings: repeat the parameter for each type, or send a JSON array of types.',
  schema: z.union([FilingType, z.string()]),
  example: ['motion', 'order'],
  repeated: true,
});

export const V1_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/v1/case',
    id: 'getV1Case',
    tag: 'Version 1',
    summary: 'One case and its new filings, in the shape of version 1',
    description:
      'Until 2027-04-28. Use `GET /v2/case`. Without `last_checked`, every filing is new, oldest first. An answer holds at most 2 MiB: query again with `queried_at` as `last_checked` until `changed` is false. There is no sandbox.',
    price: '0.99',
    required: ['case_id', 'court_code'],
    optional: ['last_checked'],
    otherwise: [list('filing_types'), list('document_types')],
    success: {
      description: 'The case.',
      headers: [...PAID_HEADERS, ...V1_HEADERS],
      content: { schema: V1CaseAnswer },
    },
    pending: true,
    errors: [...PAID, ...CASE_QUERY, ...V1_ONLY],
    deprecated: true,
  },
  {
    method: 'get',
    path: '/v1/monitor',
    id: 'getV1Monitor',
    tag: 'Version 1',
    summary: 'Whether anything is new, in the shape of version 1',
    description: 'Until 2027-04-28. Use `GET /v2/monitor`. Without `last_checked`, says whether there is any filing.',
    price: '0.99',
    required: ['case_id', 'court_code'],
    optional: ['last_checked'],
    success: {
      description: 'Whether anything is new.',
      headers: [...PAID_HEADERS, ...V1_HEADERS],
      content: { schema: V1MonitorAnswer },
    },
    pending: true,
    errors: [...PAID, ...CASE_QUERY, ...V1_ONLY],
    deprecated: true,
  },
  {
    method: 'get',
    path: '/v1/status',
    id: 'getV1Status',
    tag: 'Version 1',
    summary: 'Courts and health, in the shape of version 1',
    description: 'Until 2027-04-28. Use `GET /v2/status`.',
    price: null,
    success: { description: 'The status.', headers: ['ETag', ...V1_HEADERS], content: { schema: V1StatusAnswer } },
    cached: true,
    errors: [...ANYWHERE, ...V1_ONLY],
    deprecated: true,
  },
];
