/**
 * As much of CourtListener's rows as is used, so that nothing else is ever stored: no addresses of attorneys, and texts
 * with personal details masked. Total on any JSON value.
 */
import { firmOf } from '../../dockets/attorneys.ts';
import { maskedName, maskedText } from '../../dockets/mask.ts';
import { MAX_TEXT } from '../../dockets/text.ts';
import { isJsonObject, type Json, type JsonObject } from '../../events/event.ts';
import { idOf } from './courtlistener.ts';

/** The lists of a docket. `documents`: entries of which a document changed. */
export type ListName = 'entries' | 'documents' | 'parties' | 'attorneys';

/** Of an entry, from its list or from a message. */
export const ENTRY_FIELDS = [
  'id',
  'docket',
  'entry_number',
  'date_filed',
  'time_filed',
  'description',
  'pacer_sequence_number',
  'recap_sequence_number',
  'date_created',
  'date_modified',
] as const;
const DOCUMENT = [
  'id',
  'document_type',
  'attachment_number',
  'pacer_doc_id',
  'acms_document_guid',
  'description',
  'page_count',
  'is_sealed',
] as const;
const DOCKET = [
  'id',
  'court',
  'court_id',
  'docket_number',
  'case_name',
  'case_name_full',
  'date_filed',
  'date_terminated',
  'date_modified',
  'assigned_to_str',
  'referred_to_str',
  'panel_str',
  'cause',
  'nature_of_suit',
  'mdl_status',
  'federal_dn_case_type',
  'federal_dn_office_code',
  'appeal_from',
  'pacer_case_id',
] as const;

/** Short texts of people, which may hold what identifies a person: `John Doe, Reg. No. 12345-678`. */
const NAMES: ReadonlySet<string> = new Set([
  'name',
  'case_name',
  'case_name_full',
  'assigned_to_str',
  'referred_to_str',
  'panel_str',
  'cause',
  'nature_of_suit',
]);

const MAX_VALUE = 2_000;
/** More than any real entry or party has. */
const MAX_NESTED = 2_000;
const list = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.slice(0, MAX_NESTED).filter(isJsonObject) : [];

function fieldsOf(from: JsonObject, names: readonly string[]): Record<string, Json> {
  const fields: Record<string, Json> = {};
  for (const name of names) {
    const value = from[name];
    if (name === 'description' && typeof value === 'string') fields[name] = maskedText(value, MAX_TEXT, 'US');
    else if (NAMES.has(name) && typeof value === 'string') fields[name] = maskedName(value, MAX_VALUE);
    else if (typeof value === 'string') fields[name] = value.slice(0, MAX_VALUE);
    else if (value === null || typeof value === 'number' || typeof value === 'boolean') fields[name] = value;
  }
  return fields;
}

export function keptDocket(row: JsonObject): JsonObject {
  const origin = isJsonObject(row.original_court_info) ? fieldsOf(row.original_court_info, ['docket_number']) : null;
  return { ...fieldsOf(row, DOCKET), original_court_info: origin };
}

/** @param docket id of the docket whose list it is; nested rows of other dockets are left out */
export function keptRow(name: ListName, row: JsonObject, docket: string): JsonObject {
  const isOwn = (nested: JsonObject): boolean => (idOf(nested.docket_id) ?? idOf(nested.docket)) === docket;
  switch (name) {
    case 'entries':
    case 'documents':
      return {
        ...fieldsOf(row, ENTRY_FIELDS),
        recap_documents: list(row.recap_documents).map((document) => fieldsOf(document, DOCUMENT)),
      };
    case 'parties':
      return {
        ...fieldsOf(row, ['id', 'name']),
        attorneys: list(row.attorneys)
          .filter(isOwn)
          .map((nested) => fieldsOf(nested, ['attorney', 'attorney_id', 'docket', 'docket_id', 'role', 'date_action'])),
        party_types: list(row.party_types)
          .filter(isOwn)
          .map((nested) => fieldsOf(nested, ['docket', 'docket_id', 'name', 'date_terminated'])),
      };
    case 'attorneys':
      return {
        ...fieldsOf(row, ['id', 'name']),
        contact_raw: typeof row.contact_raw === 'string' ? (firmOf(row.contact_raw) ?? '') : '',
        parties_represented: list(row.parties_represented)
          .filter(isOwn)
          .slice(0, 1)
          .map((nested) => fieldsOf(nested, ['docket', 'docket_id'])),
      };
  }
}
