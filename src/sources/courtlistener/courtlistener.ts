/**
 * Source adapter for saved pages of CourtListener's REST API v4 (docs/design/dockets.md#sources): dockets, docket
 * entries with their RECAP documents, parties, attorneys. A docket is assembled from its pages in the shape of a docket
 * report, so that all rules for reports apply. Total on any JSON value.
 */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../events/event.ts';
import { withoutDoubles } from './doubled-entries.ts';

export type PageKind = 'dockets' | 'entries' | 'parties' | 'attorneys';

export interface CourtListenerPage {
  readonly kind: PageKind;
  readonly results: readonly JsonObject[];
  /** Null for a single object, which is not a page. */
  readonly links: PageLinks | null;
}

/** What a page shows about its list. */
export interface PageLinks {
  readonly next: string | null;
  readonly previous: string | null;
  /** The address that counts the list, which also names the page itself; a number if pages are numbered. */
  readonly count: string | number | null;
}

const Page = z.object({
  next: z.string().nullish(),
  previous: z.string().nullish(),
  count: z.union([z.string(), z.number()]).nullish().catch(null),
  results: z.array(z.unknown()),
});

/** Reads one saved answer: a page, or a single object. Null for anything else, and for a page without results. */
export function readCourtListenerPage(value: unknown): CourtListenerPage | null {
  const page = Page.safeParse(value);
  const results = (page.success ? page.data.results : [value]).filter(isJsonObject);
  const kind = results[0] ? kindOf(results[0]) : null;
  if (kind === null) return null;
  return {
    kind,
    results: results.filter((result) => kindOf(result) === kind),
    links: page.success
      ? { next: page.data.next || null, previous: page.data.previous || null, count: page.data.count ?? null }
      : null,
  };
}

function kindOf(result: JsonObject): PageKind | null {
  if ('party_types' in result) return 'parties';
  if ('recap_documents' in result || 'recap_sequence_number' in result) return 'entries';
  if ('parties_represented' in result || 'contact_raw' in result) return 'attorneys';
  return 'docket_number' in result && ('court_id' in result || 'court' in result) ? 'dockets' : null;
}

/** An id, from a number or from the address of a resource. */
export function idOf(value: Json | undefined): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return null;
  return /^(\d{1,15})$/.exec(value)?.[1] ?? /\/(\d{1,15})\/?(?:\?.{0,500})?$/.exec(value.slice(-600))?.[1] ?? null;
}

/** The dockets that a result belongs to. */
export function docketIdsOf(kind: PageKind, result: JsonObject): readonly string[] {
  switch (kind) {
    case 'dockets':
      return ids(result.id);
    case 'entries':
      return ids(result.docket);
    case 'parties':
      return list(result.party_types).flatMap((type) => ids(type.docket_id ?? type.docket));
    case 'attorneys':
      return list(result.parties_represented).flatMap((party) => ids(party.docket_id ?? party.docket));
  }
}

const ids = (value: Json | undefined): string[] => {
  const id = idOf(value);
  return id === null ? [] : [id];
};
const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const text = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null);

export interface DocketParts {
  readonly id: string;
  readonly docket: JsonObject;
  /** Results of any docket; those of others are ignored. */
  readonly entries: readonly JsonObject[];
  readonly parties: readonly JsonObject[];
  readonly attorneys: readonly JsonObject[];
}

/** The docket in the form of a docket report. */
export function composeDocket({ id, docket, entries, parties, attorneys }: DocketParts): JsonObject {
  const own = (kind: PageKind, results: readonly JsonObject[]) =>
    results.filter((result) => docketIdsOf(kind, result).includes(id));
  const origin = isJsonObject(docket.original_court_info) ? docket.original_court_info : null;
  return {
    court_id: text(docket.court_id) ?? courtIn(docket.court),
    docket_number: text(docket.docket_number) ?? '',
    case_name: text(docket.case_name) ?? text(docket.case_name_full),
    date_filed: text(docket.date_filed),
    date_terminated: text(docket.date_terminated),
    assigned_to_str: text(docket.assigned_to_str),
    referred_to_str: text(docket.referred_to_str),
    cause: text(docket.cause),
    nature_of_suit: text(docket.nature_of_suit),
    mdl_status: text(docket.mdl_status),
    federal_dn_case_type: text(docket.federal_dn_case_type),
    federal_dn_office_code: text(docket.federal_dn_office_code),
    panel: text(docket.panel_str) === null ? null : [text(docket.panel_str)],
    originating_court_information:
      origin === null ? null : { docket_number: text(origin.docket_number), court_id: courtIn(docket.appeal_from) },
    docket_entries: inDocketOrder(own('entries', entries)).map(composeEntry),
    parties: own('parties', parties).flatMap((party) => composeParty(id, party, own('attorneys', attorneys))),
  };
}

const courtIn = (value: Json | undefined): string =>
  /(?:^|\/)([a-z0-9_]{1,40})\/?$/.exec(text(value)?.slice(-200) ?? '')?.[1] ?? '';

/** One entry for each id, the most recently modified one, without doubles, in the order of the docket sheet. */
function inDocketOrder(entries: readonly JsonObject[]): readonly JsonObject[] {
  const newest = new Map<string, JsonObject>();
  for (const [index, entry] of entries.entries()) {
    const key = idOf(entry.id) ?? `at ${index}`;
    const known = newest.get(key);
    if (!known || (text(known.date_modified) ?? '') <= (text(entry.date_modified) ?? '')) newest.set(key, entry);
  }
  const place = (entry: JsonObject): string => text(entry.recap_sequence_number) ?? text(entry.date_filed) ?? '';
  const number = (entry: JsonObject): number => (typeof entry.entry_number === 'number' ? entry.entry_number : 0);
  return [...withoutDoubles([...newest.values()])].sort((a, b) =>
    place(a) === place(b) ? number(a) - number(b) : place(a) < place(b) ? -1 : 1,
  );
}

/** RECAP's kinds of documents: the entry's own, and its attachments. */
const ATTACHMENT = 2;

/** A longer number is not one of the court's: where entries have no numbers, PACER's id of the document is in its place. */
const MAX_NUMBER = 999_999_999;

/** An entry has one main document, or only attachments, as in appellate courts. */
function composeEntry(entry: JsonObject): JsonObject {
  const documents = list(entry.recap_documents);
  const main = documents.find(({ document_type: type }) => type !== ATTACHMENT) ?? null;
  const number = entry.entry_number;
  return {
    courtlistener_id: idOf(entry.id),
    document_number: typeof number === 'number' && number <= MAX_NUMBER ? number : null,
    ...datesOf(entry),
    description: text(entry.description),
    short_description: text(main?.description),
    pacer_doc_id: documentIdOf(main),
    pacer_seq_no: typeof entry.pacer_sequence_number === 'number' ? entry.pacer_sequence_number : null,
    is_sealed: typeof main?.is_sealed === 'boolean' ? main.is_sealed : null,
    attachments: documents.filter(({ document_type: type }) => type === ATTACHMENT).map(composeAttachment),
  };
}

/** The time is that of the entry's making. Before a docket sheet has brought its text, the day is not that of filing either. */
function datesOf(entry: JsonObject): JsonObject {
  const day = text(entry.date_filed);
  const time = text(entry.time_filed);
  if (day === null || time === null) return { date_filed: day, date_entered: null };
  return { date_filed: text(entry.description) === null ? null : day, date_entered: `${day}T${time}` };
}

const documentIdOf = (document: JsonObject | null): string | null =>
  text(document?.pacer_doc_id) ?? text(document?.acms_document_guid);

/** Nothing of a sealed document is shown but that it is there. */
function composeAttachment(document: JsonObject): JsonObject {
  const isSealed = document.is_sealed === true;
  return {
    attachment_number: typeof document.attachment_number === 'number' ? document.attachment_number : null,
    description: isSealed ? null : text(document.description),
    pacer_doc_id: isSealed ? null : documentIdOf(document),
    page_count: !isSealed && typeof document.page_count === 'number' ? document.page_count : null,
  };
}

/** CourtListener's numbers for the roles of attorneys. 10 is an unknown one, and so is any other. */
const ROLES: Readonly<Record<number, string>> = {
  1: 'ATTORNEY TO BE NOTICED',
  2: 'LEAD ATTORNEY',
  3: 'ATTORNEY IN SEALED GROUP',
  4: 'PRO HAC VICE',
  5: 'SELF- TERMINATED',
  6: 'TERMINATED',
  7: 'SUSPENDED',
  8: 'INACTIVE',
  9: 'DISBARRED',
};

/** A party once for each of its roles in this docket. An attorney whose page was not saved has no name to show. */
function composeParty(id: string, party: JsonObject, attorneys: readonly JsonObject[]): JsonObject[] {
  const named = new Map(attorneys.map((attorney) => [idOf(attorney.id), attorney]));
  const rolesOf = new Map<string, string[]>();
  for (const role of list(party.attorneys)) {
    if ((idOf(role.docket_id) ?? idOf(role.docket) ?? id) !== id) continue;
    const attorney = idOf(role.attorney_id) ?? idOf(role.attorney);
    if (attorney === null || !named.has(attorney)) continue;
    const roles = rolesOf.get(attorney) ?? [];
    rolesOf.set(attorney, roles);
    const name = typeof role.role === 'number' ? ROLES[role.role] : undefined;
    if (name !== undefined) roles.push(name);
  }
  return list(party.party_types)
    .filter((type) => (idOf(type.docket_id) ?? idOf(type.docket)) === id)
    .map((type) => ({
      name: text(party.name) ?? '',
      type: text(type.name),
      date_terminated: text(type.date_terminated),
      attorneys: [...rolesOf].map(([attorney, roles]) => ({
        name: text(named.get(attorney)?.name) ?? '',
        roles,
        contact: text(named.get(attorney)?.contact_raw) ?? '',
      })),
    }));
}
