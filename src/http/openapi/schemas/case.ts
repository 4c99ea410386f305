/** The answers about one case (docs/design/interface.md#2.3 and #2.4). */
import { z } from 'zod';
import { FilingType } from '../../../dockets/filing-type.ts';
import { CaseMeta, MonitorMeta, Timestamp } from './meta.ts';

const Text = z.string().nullable();
const Moment = Timestamp.nullable();
const Count = z.int().min(0);
export const Country = z.enum(['US', 'CA']);
export const CourtLanguage = z.enum(['en', 'fr', 'bilingual']);

export const DocumentIdentifierType = z.enum([
  'pacer_doc_id',
  'acms_document_guid',
  'fct_recorded_entry_id',
  'tyler_envelope_id',
  'tyler_event_id',
  'tyler_document_id',
  'none',
]);

export const Attachment = z.object({
  attachment_number: z.int().nullable(),
  description: Text,
  document_identifier: Text,
  page_count: z.int().nullable(),
});

export const Filing = z.object({
  filing_id: z.string().describe('Never changes, even if the entry does.'),
  entry_number: z.int().nullable(),
  filed_at: Moment.describe('With `day` precision, the start of that day in the court’s time zone.'),
  filed_at_precision: z.enum(['day', 'second']).nullable(),
  entered_at: Moment,
  available_at: Timestamp.describe('When this service could first return the filing. The delta uses this time.'),
  backfilled: z
    .boolean()
    .describe(
      'True if the filing was found by the first complete look at the case, so it may be much older than `available_at`.',
    ),
  revised_at: Moment,
  filing_type: FilingType,
  filing_types: z.array(FilingType).describe('All types that apply, the primary one first.'),
  filed_by: Text,
  description: Text,
  document_identifier: Text,
  document_identifier_type: DocumentIdentifierType,
  external_url: Text,
  attachments: z.array(Attachment),
  sealed: z.boolean(),
});

const PrimaryParty = z.object({ name: Text, role: Text });
export const Attorney = z.object({ name: Text, role: Text, firm: Text });
export const Party = z.object({ name: Text, role: Text, terminated_at: Text, attorneys: z.array(Attorney) });

export const CrossReference = z.object({
  case_id: z.string(),
  court_code: Text,
  relationship: z.enum([
    'consolidated_with',
    'appealed_from',
    'appealed_to',
    'related_to',
    'member_case_of_mdl',
    'same_party',
    'other',
  ]),
});

/** The members that versions 1 and 2 share. */
export const CASE_BEFORE_NATURE = {
  case_number: z.string().describe('The canonical form.'),
  case_name: Text,
};
export const CaseType = z.enum(['civil', 'criminal', 'bankruptcy', 'adversary', 'appellate', 'mdl', 'tax', 'other']);
export const CaseStatus = z.enum(['open', 'closed', 'unknown']);
export const CASE_AFTER_NATURE = {
  cause: Text,
  assigned_judge: Text,
  referred_judge: Text,
  filed_at: Moment,
  closed_at: Moment,
  filing_count: Count,
  latest_activity_at: Moment,
  primary_parties: z.array(PrimaryParty),
};

export const Case = z.object({
  ...CASE_BEFORE_NATURE,
  case_name_secondary: Text,
  case_name_secondary_language: Text,
  case_type: CaseType,
  case_status: CaseStatus,
  court_name: z.string(),
  jurisdiction_country: Country,
  language: CourtLanguage,
  nature_of_proceeding: Text,
  ...CASE_AFTER_NATURE,
  parties: z.array(Party).optional().describe('With `context=full`.'),
  cross_references: z.array(CrossReference).optional().describe('With `context=full`.'),
  docket_history: z.array(Filing).optional().describe('With `context=full`: the whole docket, oldest first.'),
});

export const Delta = z.object({
  changed: z.boolean(),
  since: Timestamp.describe('The `last_checked` that was sent.'),
  change_count: Count.describe('Number of new filings, including any that were truncated.'),
  new_filings: z.array(Filing).describe('Oldest first.'),
  updated_filings: z.array(Filing).describe('Known entries that changed; not counted in `change_count`.'),
});

export const CaseAnswer = z.object({
  meta: CaseMeta,
  case_id: z.string().describe('As sent.'),
  court_code: z.string().describe('As sent.'),
  case: Case,
  delta: Delta.optional().describe('Only if `last_checked` was sent.'),
});

export const MonitorAnswer = z.object({
  meta: MonitorMeta,
  case_id: z.string().describe('As sent.'),
  court_code: z.string().describe('As sent.'),
  changed: z.boolean(),
  change_count: Count.describe('Number of new filings.'),
  latest_activity_at: Moment.describe('Time of the newest new filing; null if there is none.'),
});
