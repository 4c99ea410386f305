/** The rows of the imitation of CourtListener, and what can happen to them. Every change says which row's date moves. */
export type Fields = Record<string, unknown>;

export interface Row {
  readonly id: number;
  /** Microseconds. */
  readonly created: number;
  modified: number;
  fields: Fields;
}

export interface DocketRow extends Row {
  readonly kind: 'docket';
}
export interface EntryRow extends Row {
  readonly docket: number;
}
export interface DocumentRow extends Row {
  readonly entry: number;
}
export interface PartyRow extends Row {
  /** One for each docket and type: the nested lists of a party span dockets. */
  readonly types: { readonly docket: number; readonly fields: Fields }[];
  readonly attorneys: { readonly docket: number; readonly attorney: number; readonly fields: Fields }[];
}
export interface AlertRow extends Row {
  readonly docket: number;
}

export interface NewDocket {
  readonly court: string;
  readonly number: string;
  readonly name?: string;
  readonly dateFiled?: string | null;
  readonly pacerCaseId?: string | null;
  /** Any other field, in the API's own spelling. */
  readonly fields?: Fields;
}

export interface NewDocument {
  readonly description?: string;
  readonly pacerDocId?: string;
  readonly attachmentNumber?: number | null;
  readonly sealed?: boolean | null;
  readonly pageCount?: number | null;
  readonly fields?: Fields;
}

export interface NewEntry {
  readonly number?: number | null;
  /** Empty: only RSS has seen it. */
  readonly description?: string;
  readonly dateFiled?: string | null;
  readonly timeFiled?: string | null;
  readonly sequence?: number | null;
  /** One document by default; none if empty. */
  readonly documents?: readonly NewDocument[];
  readonly fields?: Fields;
}

export interface NewParty {
  readonly name: string;
  readonly type?: string;
  readonly attorneys?: readonly {
    readonly name: string;
    readonly roles?: readonly (number | null)[];
    readonly contact?: string;
  }[];
}

/** `2602417` of `1:26-cv-02417`; empty outside district and bankruptcy forms. */
function coreOf(number: string): string {
  const [, year, , sequence] = /(?:^|[:-])(\d\d)-([a-z]{2,4}-)?(\d{5})(?:$|-)/i.exec(number) ?? [];
  return year === undefined || sequence === undefined ? '' : `${year}${sequence}`;
}

export function createRows(now: () => number) {
  const dockets = new Map<number, DocketRow>();
  const entries = new Map<number, EntryRow>();
  const documents = new Map<number, DocumentRow>();
  /** Documents of each entry, and entries of each docket. */
  const ofEntry = new Map<number, DocumentRow[]>();
  const ofDocket = new Map<number, Set<EntryRow>>();
  const parties = new Map<number, PartyRow>();
  const attorneys = new Map<number, Row>();
  const alerts = new Map<number, AlertRow>();
  let lastId = 71_900_000;
  /** Times are unique, as with microseconds they nearly are. */
  let lastTime = 0;
  const stamp = (): number => {
    lastTime = Math.max(now(), lastTime + 1);
    return lastTime;
  };
  const row = (fields: Fields) => {
    const at = stamp();
    return { id: ++lastId, created: at, modified: at, fields };
  };
  const found = <One>(rows: ReadonlyMap<number, One>, id: number): One => {
    const one = rows.get(id);
    if (one === undefined) throw new Error(`the imitation has no row ${id}`);
    return one;
  };

  function addDocket({ court, number, name, dateFiled, pacerCaseId, fields }: NewDocket): number {
    const [, office = '', type = ''] = /^(?:(\d):)?\d\d-([a-z]{2,3})-/.exec(number) ?? [];
    const made = row({
      court_id: court,
      docket_number: number,
      docket_number_core: coreOf(number),
      case_name: name ?? 'Harrowgate Tile Works, LLC v. Pellworth',
      date_filed: dateFiled === undefined ? '2026-03-02' : dateFiled,
      pacer_case_id: pacerCaseId ?? '489903',
      federal_dn_office_code: office,
      federal_dn_case_type: type,
      ...fields,
    });
    dockets.set(made.id, { ...made, kind: 'docket' });
    return made.id;
  }

  function addDocument(entry: number, number: number | null, document: NewDocument): number {
    const { description, pacerDocId, attachmentNumber, sealed, pageCount, fields } = document;
    const made = row({
      document_number: number === null ? '' : String(number),
      attachment_number: attachmentNumber ?? null,
      document_type: attachmentNumber == null ? 1 : 2,
      description: description ?? '',
      pacer_doc_id: pacerDocId ?? '',
      is_sealed: sealed ?? null,
      page_count: pageCount ?? null,
      ...fields,
    });
    putDocument({ ...made, entry });
    return made.id;
  }

  function addEntry(docket: number, entry: NewEntry = {}): number {
    found(dockets, docket);
    const { number = null, description, dateFiled, timeFiled, sequence, fields } = entry;
    const day = dateFiled === undefined ? '2026-03-02' : dateFiled;
    const before = entriesOf(docket).filter((one) => one.fields.date_filed === day);
    const made = row({
      entry_number: number,
      description: description ?? '',
      date_filed: day,
      time_filed: timeFiled ?? null,
      pacer_sequence_number: sequence ?? null,
      recap_sequence_number: day === null ? '' : `${day}.${String(before.length + 1).padStart(3, '0')}`,
      ...fields,
    });
    putEntry({ ...made, docket });
    for (const document of entry.documents ?? [{}]) addDocument(made.id, number, document);
    touchDocket(docket);
    return made.id;
  }

  const touchDocket = (id: number): void => {
    const docket = dockets.get(id);
    if (docket) docket.modified = stamp();
  };

  function addParty(docket: number, { name, type = 'Plaintiff', attorneys: named = [] }: NewParty): number {
    const made = row({ name, extra_info: '' });
    const rows = named.flatMap(({ name: attorneyName, roles = [2], contact = '' }) => {
      const attorney = row({ name: attorneyName, contact_raw: contact, phone: '', fax: '', email: '' });
      attorneys.set(attorney.id, attorney);
      return roles.map((role) => ({ docket, attorney: attorney.id, fields: { role, date_action: null } }));
    });
    parties.set(made.id, { ...made, types: [{ docket, fields: { name: type } }], attorneys: rows });
    return made.id;
  }

  /** The party appears in another docket too, with an attorney of its own there. */
  function alsoIn(
    party: number,
    docket: number,
    { type = 'Defendant', attorney }: { type?: string; attorney: string },
  ) {
    const one = found(parties, party);
    const counsel = row({ name: attorney, contact_raw: '', phone: '', fax: '', email: '' });
    attorneys.set(counsel.id, counsel);
    one.types.push({ docket, fields: { name: type } });
    one.attorneys.push({ docket, attorney: counsel.id, fields: { role: 2, date_action: null } });
  }

  const change = (one: Row, fields: Fields): void => {
    one.fields = { ...one.fields, ...fields };
    one.modified = stamp();
  };
  const documentsOf = (entry: number): readonly DocumentRow[] => ofEntry.get(entry) ?? [];
  const entriesOf = (docket: number): readonly EntryRow[] => [...(ofDocket.get(docket) ?? [])];

  function putDocument(row: DocumentRow): void {
    documents.set(row.id, row);
    ofEntry.set(row.entry, [...documentsOf(row.entry), row]);
  }

  function putEntry(row: EntryRow): void {
    entries.set(row.id, row);
    const known = ofDocket.get(row.docket);
    if (known) known.add(row);
    else ofDocket.set(row.docket, new Set([row]));
  }

  function deleteEntry(id: number): void {
    for (const document of documentsOf(id)) documents.delete(document.id);
    ofEntry.delete(id);
    const row = entries.get(id);
    if (row) ofDocket.get(row.docket)?.delete(row);
    entries.delete(id);
  }

  return {
    dockets,
    entries,
    documents,
    parties,
    attorneys,
    alerts,
    documentsOf,
    entriesOf,
    addDocket,
    addEntry,
    addParty,
    alsoIn,
    addDocument: (entry: number, document: NewDocument): number =>
      addDocument(entry, (found(entries, entry).fields.entry_number as number | null) ?? null, document),
    changeDocket: (id: number, fields: Fields): void => change(found(dockets, id), fields),
    /** Moves the entry's date, not its documents'. */
    changeEntry: (id: number, fields: Fields): void => change(found(entries, id), fields),
    /** Moves the document's date, not its entry's. */
    changeDocument: (id: number, fields: Fields): void => change(found(documents, id), fields),
    /** Seals every document of an entry. The entry's date does not move. */
    seal: (entry: number): void => {
      for (const one of documentsOf(entry)) change(one, { is_sealed: true, is_available: false, filepath_local: null });
    },
    /** The same entry again under another id, as from another source. */
    doubleEntry: (id: number, fields: Fields = {}): number => {
      const { docket, fields: known } = found(entries, id);
      const made = row({ ...known, ...fields });
      putEntry({ ...made, docket });
      for (const document of documentsOf(id)) {
        const copy = row({ ...document.fields });
        putDocument({ ...copy, entry: made.id });
      }
      return made.id;
    },
    deleteEntry,
    deleteDocket: (id: number): void => {
      for (const entry of entriesOf(id)) deleteEntry(entry.id);
      dockets.delete(id);
    },
    addAlert: (docket: number): AlertRow => {
      const alert = { ...row({ alert_type: 1, date_last_hit: null, secret_key: 'k'.repeat(40) }), docket };
      alerts.set(alert.id, alert);
      return alert;
    },
    changeAlert: (id: number, fields: Fields): void => change(found(alerts, id), fields),
  };
}

export type Rows = ReturnType<typeof createRows>;
