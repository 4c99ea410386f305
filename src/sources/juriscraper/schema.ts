/**
 * The JSON that juriscraper writes for docket reports and docket history, as far as it is used. Every schema is loose:
 * keys nobody knows are left out, and lists are read item by item, so that one bad item costs no other.
 */
import { z } from 'zod';

const Text = z.string().nullish();
const Identifier = z.union([z.string(), z.number().int()]).nullish();

/** A value of the docket's head that cannot be read counts as not stated. */
const HeadText = Text.catch(null);

export const RawDocket = z.object({
  court_id: z.string(),
  docket_number: z.string(),
  case_name: HeadText,
  date_filed: HeadText,
  date_terminated: HeadText,
  assigned_to_str: HeadText,
  referred_to_str: HeadText,
  cause: HeadText,
  nature_of_suit: HeadText,
  case_type_information: HeadText,
  chapter: z.union([z.string(), z.number()]).nullish().catch(null),
  mdl_status: HeadText,
  federal_dn_case_type: HeadText,
  federal_dn_office_code: HeadText,
  panel: z.array(z.unknown()).nullish().catch(null),
  originating_court_information: z.unknown().optional(),
  docket_entries: z.array(z.unknown()).nullish(),
  /** Of a case query: the docket has entries, whether the file lists them or not. */
  date_last_filing: HeadText,
  /** Of a claims register. */
  claims: z.unknown().optional(),
  parties: z.array(z.unknown()).nullish(),
});
export type RawDocket = z.infer<typeof RawDocket>;

export const RawEntry = z.object({
  document_number: Identifier,
  date_filed: Text,
  date_entered: Text,
  description: Text,
  short_description: Text,
  pacer_doc_id: Identifier,
  pacer_seq_no: Identifier,
  /** Of entries that came by CourtListener. */
  courtlistener_id: Identifier,
  is_sealed: z.boolean().nullish(),
  attachments: z.array(z.unknown()).nullish(),
});
export type RawEntry = z.infer<typeof RawEntry>;

export const RawAttachment = z.object({
  attachment_number: Identifier,
  description: Text,
  pacer_doc_id: Identifier,
  acms_document_guid: Text,
  page_count: z.number().nullish(),
});

export const RawParty = z.object({
  name: z.string(),
  type: Text,
  date_terminated: Text,
  attorneys: z.array(z.unknown()).nullish(),
});

export const RawAttorney = z.object({
  name: z.string(),
  roles: z.array(z.unknown()).nullish(),
  contact: Text,
});

export const RawOriginatingCourt = z.object({ docket_number: Text, court_id: Text });

/** A schema's first fault, in a few words. */
export function faultOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (!issue) return 'cannot be read';
  const where = issue.path.map(String).join('../../dockets');
  return where === '' ? issue.message : `${where}: ${issue.message}`;
}
