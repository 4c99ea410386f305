/**
 * The used parts of the JSON that juriscraper writes for docket reports and docket history. Every schema is loose:
 * unknown keys are ignored, and lists are read item by item, so that one bad item does not affect the others.
 */
import { z } from 'zod';

const Text = z.string().nullish();
const Identifier = z.union([z.string(), z.number().int()]).nullish();

/** An unreadable value in the docket's head counts as not stated. */
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
  /** From a case query: if present, the docket has entries, whether the file lists them or not. */
  date_last_filing: HeadText,
  /** From a claims register. */
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
  /** From entries that came through CourtListener. */
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

/** A schema's first error, in a few words. */
export function faultOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (!issue) return 'cannot be read';
  const where = issue.path.map(String).join('../../dockets');
  return where === '' ? issue.message : `${where}: ${issue.message}`;
}
