/** The answers of version 1, which ends on 2027-04-28 (docs/design/interface.md#9 and #v1). */
import { z } from 'zod';
import { FilingType } from '../../../dockets/filing-type.ts';
import { CASE_AFTER_NATURE, CASE_BEFORE_NATURE, CaseStatus, CaseType, CrossReference } from './case.ts';
import { COVERED, Dollars, Timestamp } from './meta.ts';
import { CoverageSummary, STATUS_BODY, V1Court } from './status.ts';

const Text = z.string().nullable();

const ENVELOPE = {
  case_id: z.string(),
  court_code: z.string(),
  queried_at: Timestamp,
  query_cost: Dollars,
  coverage_status: COVERED,
  changed: z.boolean(),
};

export const V1Filing = z.object({
  filing_id: z.string(),
  filing_type: FilingType,
  filed_at: Timestamp.nullable(),
  filed_by: Text,
  description: Text,
  pacer_doc_id: Text,
  pacer_link: Text,
  document_url: z.null(),
  document_access: z.enum(['sealed', 'none', 'court']),
});

export const V1CaseAnswer = z.object({
  ...ENVELOPE,
  case: z.object({
    ...CASE_BEFORE_NATURE,
    case_type: CaseType,
    case_status: CaseStatus,
    court_name: z.string(),
    nature_of_suit: Text,
    ...CASE_AFTER_NATURE,
    related_cases: z.array(CrossReference),
  }),
  new_filings: z.array(V1Filing),
});

export const V1MonitorAnswer = z.object(ENVELOPE);

export const V1StatusAnswer = z.object({
  queried_at: Timestamp,
  query_cost: z.literal(0),
  ...STATUS_BODY,
  courts: z.array(V1Court),
  coverage_summary: CoverageSummary,
});
