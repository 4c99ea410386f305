/**
 * The docket that the paid query is about: fictional, in the JSON that juriscraper writes for a district docket report.
 */

const COURT = 'cand';
const NUMBER = '3:25-cv-04417';

const ENTRIES = [
  [
    '2025-05-23',
    'COMPLAINT against Harbor Freightways Cooperative. Filed by Marisol Tanager. (Attachments: # 1 Civil Cover Sheet)',
  ],
  ['2025-05-23', 'Proposed Summons. (Filed on 5/23/2025)'],
  ['2025-05-27', 'Summons Issued as to Harbor Freightways Cooperative.'],
  [
    '2025-05-28',
    'Initial Case Management Scheduling Order with ADR Deadlines: Case Management Statement due by 8/20/2025.',
  ],
  ['2025-06-11', 'NOTICE of Appearance by Quentin Loosestrife on behalf of Harbor Freightways Cooperative'],
  ['2025-06-18', 'STIPULATION to extend time to respond to 1 Complaint by Harbor Freightways Cooperative.'],
  [
    '2025-07-09',
    'MOTION to Dismiss for Failure to State a Claim filed by Harbor Freightways Cooperative. Motion Hearing set for 8/28/2025.',
  ],
  ['2025-07-23', 'RESPONSE (re 7 MOTION to Dismiss for Failure to State a Claim) filed by Marisol Tanager.'],
  [
    '2025-07-30',
    'REPLY (re 7 MOTION to Dismiss for Failure to State a Claim) filed by Harbor Freightways Cooperative.',
  ],
  ['2025-08-20', 'JOINT CASE MANAGEMENT STATEMENT filed by Harbor Freightways Cooperative and Marisol Tanager.'],
  ['2025-09-04', 'ORDER by Judge Imogen Fairweather granting in part 7 Motion to Dismiss with leave to amend.'],
  ['2025-09-25', 'AMENDED COMPLAINT against Harbor Freightways Cooperative. Filed by Marisol Tanager.'],
];

const entry = ([date, description], index) => ({
  date_entered: date,
  date_filed: date,
  document_number: String(index + 1),
  description,
  pacer_doc_id: `0350266${String(41_000 + index * 7).padStart(6, '0')}`,
  pacer_seq_no: String(3 + index * 4),
});

const party = (name, type, attorney) => ({
  name,
  type,
  date_terminated: null,
  extra_info: '',
  attorneys: [{ name: attorney, roles: ['LEAD ATTORNEY', 'ATTORNEY TO BE NOTICED'], contact: '' }],
});

export const docket = {
  court_id: COURT,
  docket_number: NUMBER,
  case_name: 'Tanager v. Harbor Freightways Cooperative',
  date_filed: '2025-05-23',
  date_terminated: null,
  assigned_to_str: 'Imogen Fairweather',
  referred_to_str: '',
  cause: '28:1332 Diversity-Breach of Contract',
  nature_of_suit: '190 Contract: Other',
  jurisdiction: 'Diversity',
  jury_demand: 'Plaintiff',
  demand: '',
  federal_dn_case_type: 'cv',
  federal_dn_office_code: '3',
  parties: [
    party('Marisol Tanager', 'Plaintiff', 'Beatrix Yarrow'),
    party('Harbor Freightways Cooperative', 'Defendant', 'Quentin Loosestrife'),
  ],
  docket_entries: ENTRIES.map(entry),
};

/** A typical poll: the case, and the four filings since the middle of July. */
export const query = new URLSearchParams({
  case_id: NUMBER,
  court_code: COURT,
  last_checked: '2025-07-15T00:00:00Z',
}).toString();
