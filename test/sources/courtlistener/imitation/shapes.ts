/** Rows as CourtListener's API shows them: every field that the service may see, and some that it must ignore. */
import type { AlertRow, DocketRow, DocumentRow, EntryRow, Fields, PartyRow, Row, Rows } from './rows.ts';
import { pacific } from './times.ts';

export interface Shapes {
  docket(row: DocketRow): Fields;
  entry(row: EntryRow): Fields;
  document(row: DocumentRow): Fields;
  /** @param only nested rows of this docket alone; null: of every docket */
  party(row: PartyRow, only: number | null): Fields;
  attorney(row: Row, only: number | null): Fields;
  alert(row: AlertRow): Fields;
  court(id: string): Fields;
}

const dates = ({ created, modified }: Row): Fields => ({
  date_created: pacific(created),
  date_modified: pacific(modified),
});

export function createShapes(base: string, rows: Rows): Shapes {
  const uri = (kind: string, id: number | string): string => `${base}${kind}/${id}/`;
  const slug = (id: number): string =>
    String(rows.dockets.get(id)?.fields.case_name ?? '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-');

  const document = (row: DocumentRow): Fields => {
    const docket = rows.entries.get(row.entry)?.docket ?? 0;
    const { document_number: number, attachment_number: attachment } = row.fields;
    const path = `/docket/${docket}/${number}/${attachment == null ? '' : `${attachment}/`}${slug(docket)}/`;
    return {
      resource_uri: uri('recap-documents', row.id),
      id: row.id,
      tags: [],
      absolute_url: number === '' ? '' : path,
      ...dates(row),
      sha1: '',
      page_count: null,
      file_size: null,
      filepath_local: null,
      filepath_ia: '',
      ia_upload_failure_count: null,
      thumbnail: null,
      thumbnail_status: 0,
      plain_text: 'The whole text of the document. '.repeat(50),
      ocr_status: null,
      date_upload: null,
      is_available: false,
      is_free_on_pacer: null,
      is_sealed: null,
      acms_document_guid: '',
      ...row.fields,
    };
  };

  return {
    docket: (row) => ({
      resource_uri: uri('dockets', row.id),
      id: row.id,
      court: uri('courts', String(row.fields.court_id)),
      original_court_info: null,
      idb_data: null,
      clusters: [],
      audio_files: [],
      assigned_to: null,
      referred_to: null,
      bankruptcy_information: null,
      absolute_url: `/docket/${row.id}/${slug(row.id)}/`,
      ...dates(row),
      source: 1,
      appeal_from_str: '',
      assigned_to_str: 'Ottoline R. Vandermeer',
      referred_to_str: '',
      panel_str: '',
      date_last_index: pacific(row.modified),
      date_terminated: null,
      date_last_filing: null,
      case_name_short: '',
      case_name_full: '',
      docket_number_raw: row.fields.docket_number,
      docket_number_source: 0,
      federal_defendant_number: null,
      cause: '28:1332 Diversity-Breach of Contract',
      nature_of_suit: '190 Contract: Other',
      jury_demand: '',
      jurisdiction_type: 'Diversity',
      mdl_status: '',
      blocked: false,
      date_blocked: null,
      appeal_from: null,
      parent_docket: null,
      tags: [],
      panel: [],
      ...row.fields,
    }),
    entry: (row) => ({
      resource_uri: uri('docket-entries', row.id),
      id: row.id,
      docket: uri('dockets', row.docket),
      recap_documents: rows.documentsOf(row.id).map(document),
      ...dates(row),
      tags: [],
      ...row.fields,
    }),
    document,
    party: (row, only) => ({
      resource_uri: uri('parties', row.id),
      id: row.id,
      attorneys: row.attorneys
        .filter(({ docket }) => only === null || docket === only)
        .map(({ docket, attorney, fields }) => ({
          attorney: uri('attorneys', attorney),
          attorney_id: attorney,
          docket: uri('dockets', docket),
          docket_id: docket,
          ...fields,
        })),
      party_types: row.types
        .filter(({ docket }) => only === null || docket === only)
        .map(({ docket, fields }) => ({
          docket: uri('dockets', docket),
          docket_id: docket,
          date_terminated: null,
          extra_info: '',
          highest_offense_level_opening: '',
          highest_offense_level_terminated: '',
          criminal_counts: [],
          criminal_complaints: [],
          ...fields,
        })),
      ...dates(row),
      ...row.fields,
    }),
    attorney: (row, only) => ({
      resource_uri: uri('attorneys', row.id),
      id: row.id,
      parties_represented: [...rows.parties.values()].flatMap((party) =>
        party.attorneys
          .filter(({ attorney, docket }) => attorney === row.id && (only === null || docket === only))
          .map(({ docket, fields }) => ({
            ...fields,
            docket: uri('dockets', docket),
            party: uri('parties', party.id),
          })),
      ),
      ...dates(row),
      ...row.fields,
    }),
    alert: (row) => ({ id: row.id, ...dates(row), ...row.fields, docket: row.docket }),
    court: (id) => ({
      resource_uri: uri('courts', id),
      id,
      pacer_court_id: null,
      pacer_has_rss_feed: true,
      pacer_rss_entry_types: 'all',
      in_use: true,
      jurisdiction: id.endsWith('b') ? 'FB' : /^ca\d|^cad|^cafc/.test(id) ? 'F' : 'FD',
      short_name: id,
      full_name: id,
    }),
  };
}

/** Leaves out `omit`, or all but `fields`; nested names with `__`. */
export function select(value: Fields, fields: readonly string[], omit: readonly string[]): Fields {
  const inner = (names: readonly string[], key: string): string[] =>
    names.flatMap((name) => (name.startsWith(`${key}__`) ? [name.slice(key.length + 2)] : []));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      const nested = inner(fields, key);
      if (omit.includes(key) || (fields.length > 0 && !fields.includes(key) && nested.length === 0)) return [];
      const within = (item: unknown): unknown =>
        typeof item === 'object' && item !== null ? select(item as Fields, nested, inner(omit, key)) : item;
      return [[key, Array.isArray(one) ? one.map(within) : within(one)]];
    }),
  );
}
