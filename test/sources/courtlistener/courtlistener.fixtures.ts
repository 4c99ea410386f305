/** Pages as CourtListener's API v4 documents them: invented cases, ids in no real range, every field that is used. */
const API = 'https://www.courtlistener.com/api/rest/v4';
export const DOCKET_ID = 900_000_001;
export const OTHER_ID = 900_000_002;

export const page = (results: object[], neighbours: { next?: string; previous?: string } = {}) => ({
  count: `${API}/?count=on`,
  next: neighbours.next ?? null,
  previous: neighbours.previous ?? null,
  results,
});

export const docket = (id: number, more: object = {}) => ({
  resource_uri: `${API}/dockets/${id}/`,
  id,
  court: `${API}/courts/cand/`,
  court_id: 'cand',
  original_court_info: null,
  date_modified: '2024-04-02T08:00:00.000000-07:00',
  source: 1,
  appeal_from_str: '',
  assigned_to_str: 'Robin Sample',
  referred_to_str: '',
  panel_str: '',
  date_filed: '2024-02-01',
  date_terminated: null,
  case_name_short: '',
  case_name: 'Sample Orchard v. Example Mill',
  case_name_full: '',
  docket_number: '3:24-cv-04321',
  docket_number_core: '2404321',
  federal_dn_office_code: '3',
  federal_dn_case_type: 'cv',
  pacer_case_id: '999001',
  cause: '28:1331 Federal Question',
  nature_of_suit: '440 Civil Rights: Other',
  mdl_status: '',
  ...more,
});

export const recapDocument = (more: object) => ({
  resource_uri: `${API}/recap-documents/1/`,
  document_type: 1,
  document_number: '1',
  attachment_number: null,
  pacer_doc_id: '999000000001',
  description: '',
  page_count: 3,
  is_available: false,
  is_sealed: null,
  ...more,
});

export const entry = (docketId: number, number: number | null, description: string, more: object = {}) => ({
  resource_uri: `${API}/docket-entries/${9_000 + (number ?? 0)}/`,
  id: 9_000 + (number ?? 0),
  docket: `${API}/dockets/${docketId}/`,
  date_modified: '2024-04-02T08:00:00.000000-07:00',
  date_filed: `2024-02-0${number ?? 9}`,
  time_filed: null,
  entry_number: number,
  recap_sequence_number: `2024-02-0${number ?? 9}.00${number ?? 1}`,
  pacer_sequence_number: number === null ? null : number * 3,
  description,
  recap_documents: [
    recapDocument({ document_number: String(number ?? ''), pacer_doc_id: `99900000000${number ?? 9}` }),
  ],
  ...more,
});

export const party = (docketId: number, id: number, name: string, type: string, attorneys: object[] = []) => ({
  resource_uri: `${API}/parties/${id}/`,
  id,
  attorneys,
  party_types: [
    {
      docket: `${API}/dockets/${docketId}/`,
      docket_id: docketId,
      name: type,
      date_terminated: null,
      extra_info: '',
      criminal_counts: [],
      criminal_complaints: [],
    },
  ],
  name,
  extra_info: '',
});

export const role = (docketId: number, attorneyId: number, code: number) => ({
  attorney: `${API}/attorneys/${attorneyId}/`,
  attorney_id: attorneyId,
  date_action: null,
  docket: `${API}/dockets/${docketId}/`,
  docket_id: docketId,
  role: code,
});

export const attorney = (docketId: number, id: number, name: string) => ({
  resource_uri: `${API}/attorneys/${id}/`,
  id,
  parties_represented: [{ docket: `${API}/dockets/${docketId}/`, docket_id: docketId, role: 2 }],
  name,
  contact_raw: 'Sample Firm LLP\n1 Hidden Lane\nAnytown, CA 90000\n(555) 555-0142\nEmail: alex@mail.example\n',
  phone: '(555) 555-0142',
  fax: '',
  email: 'alex@mail.example',
});
