/** Synthetic dockets as juriscraper writes them. */
export interface RawEntryFields {
  readonly [field: string]: unknown;
}

/** An entry with ids, or without any if `number` is null or `ids` false. */
export function rawEntry(
  number: number | null,
  date: string,
  description: string,
  { ids = number !== null, ...more }: RawEntryFields & { readonly ids?: boolean } = {},
) {
  return {
    date_filed: date,
    date_entered: date,
    description,
    document_number: number === null ? null : String(number),
    pacer_doc_id: ids ? `035000${String(10_000 + (number ?? 0))}` : null,
    pacer_seq_no: ids ? String((number ?? 0) * 3) : null,
    ...more,
  };
}

export function rawDocket(entries: readonly unknown[], more: RawEntryFields = {}) {
  return {
    court_id: 'cand',
    docket_number: '3:24-cv-01234',
    case_name: 'Sample Person v. Example Corporation',
    date_filed: '2024-02-01',
    date_terminated: null,
    assigned_to_str: 'Robin Judge',
    referred_to_str: '',
    cause: '28:1331 Federal Question',
    nature_of_suit: '440 Civil Rights: Other',
    federal_dn_case_type: 'cv',
    federal_dn_office_code: '3',
    parties: ['Plaintiff', 'Defendant'].map((type, index) => ({
      name: ['Sample Person', 'Example Corporation'][index],
      type,
      date_terminated: null,
      extra_info: '12 Secret Street\nHiddenville, CA 94100',
      attorneys: [
        {
          name: ['Sam Solicitor', 'Alex Attorney'][index],
          roles: ['LEAD ATTORNEY', 'ATTORNEY TO BE NOTICED'],
          contact: '12 Secret Street\nHiddenville, CA 94100\n415-555-0199\nEmail: hidden@example.com\n',
        },
      ],
    })),
    docket_entries: entries,
    ...more,
  };
}
