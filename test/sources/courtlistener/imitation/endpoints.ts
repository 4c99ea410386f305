/** The lists of the imitation: which filters and orderings each has, and what its rows are. */
import type { Answer, Endpoint, Listed } from './query.ts';
import type { DocumentRow, Fields, Row, Rows } from './rows.ts';
import type { Shapes } from './shapes.ts';

type Types = Endpoint['filters'];
type Type = Types extends ReadonlyMap<string, infer One> ? One : never;

const types = (of: Readonly<Record<string, Type>>): Types => new Map(Object.entries(of));

const OWN = { id: 'number', date_created: 'time', date_modified: 'time' } as const;
const DOCUMENT = {
  ...OWN,
  pacer_doc_id: 'text',
  document_type: 'number',
  document_number: 'text',
  is_available: 'bool',
  is_free_on_pacer: 'bool',
  sha1: 'text',
  date_upload: 'time',
} as const;
const within = (prefix: string, of: Readonly<Record<string, Type>>): Readonly<Record<string, Type>> =>
  Object.fromEntries(Object.entries(of).map(([name, type]) => [`${prefix}__${name}`, type]));

const DOCKETS = types({
  ...OWN,
  docket_number: 'text',
  docket_number_core: 'text',
  pacer_case_id: 'text',
  court: 'text',
  court__id: 'text',
  source: 'number',
  date_filed: 'date',
  date_terminated: 'date',
  date_last_filing: 'date',
  nature_of_suit: 'text',
  blocked: 'bool',
});
const ENTRIES = types({
  ...OWN,
  docket: 'number',
  docket__id: 'number',
  docket__court: 'text',
  entry_number: 'number',
  pacer_sequence_number: 'number',
  date_filed: 'date',
  ...within('recap_documents', DOCUMENT),
});
const DOCUMENTS = types({
  ...DOCUMENT,
  docket_entry: 'number',
  docket_entry__id: 'number',
  docket_entry__docket: 'number',
  docket_entry__docket__id: 'number',
  docket_entry__docket__court: 'text',
});
const PEOPLE = types({ ...OWN, name: 'text', docket: 'number', docket__id: 'number' });

const DATES = ['id', 'date_created', 'date_modified'];

const MISSING: Readonly<Record<string, string>> = {
  dockets: 'Docket',
  'docket-entries': 'DocketEntry',
  'recap-documents': 'RECAPDocument',
  parties: 'Party',
  attorneys: 'Attorney',
  courts: 'Court',
};

export function createEndpoints(rows: Rows, shapes: Shapes) {
  const own = (row: Row, name: string): readonly unknown[] => {
    if (name === 'id') return [row.id];
    if (name === 'date_created') return [row.created];
    if (name === 'date_modified') return [row.modified];
    return [row.fields[name] ?? null];
  };
  const courtOf = (docket: number): unknown => rows.dockets.get(docket)?.fields.court_id;

  const documentValues = (row: DocumentRow, name: string): readonly unknown[] => {
    if (name === 'docket_entry' || name === 'docket_entry__id') return [row.entry];
    const docket = rows.entries.get(row.entry)?.docket ?? 0;
    if (name === 'docket_entry__docket' || name === 'docket_entry__docket__id') return [docket];
    return name === 'docket_entry__docket__court' ? [courtOf(docket)] : own(row, name);
  };

  /** Only to be quick, as below. */
  const documentsIn = (docket: string | null): readonly DocumentRow[] =>
    docket ? rows.entriesOf(Number(docket)).flatMap(({ id }) => rows.documentsOf(id)) : [...rows.documents.values()];

  const lists: Readonly<Record<string, (query: URLSearchParams) => Omit<Endpoint, 'path' | 'pageSize'>>> = {
    dockets: () => ({
      filters: DOCKETS,
      orderings: [...DATES, 'date_blocked', 'date_filed', 'date_terminated', 'date_last_filing'],
      rows: [...rows.dockets.values()].map((row) => ({
        id: row.id,
        values: (name) => (name === 'court' || name === 'court__id' ? [row.fields.court_id] : own(row, name)),
        show: () => shapes.docket(row),
      })),
    }),
    'docket-entries': (query) => ({
      filters: ENTRIES,
      orderings: [...DATES, 'date_filed', 'recap_sequence_number', 'entry_number'],
      // Only to be quick: the filter itself is applied later.
      rows: (query.get('docket') ? rows.entriesOf(Number(query.get('docket'))) : [...rows.entries.values()]).map(
        (row): Listed => ({
          id: row.id,
          values: (name) => {
            if (name === 'docket' || name === 'docket__id') return [row.docket];
            if (name === 'docket__court') return [courtOf(row.docket)];
            const [, field] = /^recap_documents__(.+)$/.exec(name) ?? [];
            if (field === undefined) return own(row, name);
            return rows.documentsOf(row.id).flatMap((document) => own(document, field));
          },
          show: () => shapes.entry(row),
        }),
      ),
    }),
    'recap-documents': (query) => ({
      filters: DOCUMENTS,
      orderings: [...DATES, 'date_upload'],
      rows: documentsIn(query.get('docket_entry__docket')).map((row) => ({
        id: row.id,
        values: (name) => documentValues(row, name),
        show: () => shapes.document(row),
      })),
    }),
    parties: (query) => ({
      filters: PEOPLE,
      orderings: DATES,
      rows: [...rows.parties.values()].map((row) => ({
        id: row.id,
        values: (name) =>
          name === 'docket' || name === 'docket__id' ? row.types.map(({ docket }) => docket) : own(row, name),
        show: () => shapes.party(row, nestedOf(query)),
      })),
    }),
    attorneys: (query) => ({
      filters: PEOPLE,
      orderings: DATES,
      rows: [...rows.attorneys.values()].map((row) => ({
        id: row.id,
        values: (name) =>
          name === 'docket' || name === 'docket__id'
            ? [...rows.parties.values()].flatMap(({ attorneys }) =>
                attorneys.filter(({ attorney }) => attorney === row.id).map(({ docket }) => docket),
              )
            : own(row, name),
        show: () => shapes.attorney(row, nestedOf(query)),
      })),
    }),
    courts: () => ({
      filters: types({ id: 'text', jurisdiction: 'text' }),
      orderings: ['id', 'position'],
      rows: [...new Set([...rows.dockets.values()].map(({ fields }) => String(fields.court_id)))].map((id, index) => ({
        id: index,
        values: (name) => [name === 'id' ? id : (shapes.court(id)[name] ?? null)],
        show: () => shapes.court(id),
      })),
    }),
  };

  /** Without `filter_nested_results` the nested lists span every docket. */
  const nestedOf = (query: URLSearchParams): number | null => {
    const docket = query.get('docket') ?? query.get('docket__id');
    return /^true$/i.test(query.get('filter_nested_results') ?? '') && docket ? Number(docket) : null;
  };

  function one(name: string, id: string, query: URLSearchParams): Fields | null {
    if (name === 'courts') return shapes.court(id);
    const found = lists[name]?.(query).rows.find((row) => String(row.id) === id);
    return found ? found.show() : null;
  }

  function search(query: URLSearchParams): Answer {
    const asked = query.get('docket_number') ?? '';
    const [, wanted] = /^docket_id:(\d+)$/.exec(query.get('q') ?? '') ?? [];
    const plain = (text: unknown): string =>
      String(text)
        .toLowerCase()
        .replace(/[^a-z0-9]/g, '');
    const results = [...rows.dockets.values()].filter(({ id, fields }) => {
      if (query.get('court') && query.get('court') !== fields.court_id) return false;
      return wanted === undefined ? plain(fields.docket_number).includes(plain(asked)) : String(id) === wanted;
    });
    return {
      status: 200,
      body: {
        count: results.length,
        document_count: 0,
        next: null,
        previous: null,
        results: results.slice(0, 20).map(({ id, fields }) => ({
          docket_id: id,
          docketNumber: fields.docket_number,
          caseName: fields.case_name,
          court_id: fields.court_id,
          dateFiled: fields.date_filed,
          pacer_case_id: fields.pacer_case_id,
          docket_absolute_url: `/docket/${id}/`,
          recap_documents: [],
        })),
      },
    };
  }

  return {
    list: (name: string, query: URLSearchParams): Endpoint | null => {
      const made = lists[name]?.(query);
      return made ? { ...made, path: name, pageSize: 20 } : null;
    },
    one,
    search,
    missing: (name: string): string => `No ${MISSING[name] ?? 'object'} matches the given query.`,
    alerts: (): Fields => ({
      count: rows.alerts.size,
      next: null,
      previous: null,
      results: [...rows.alerts.values()].map((alert) => shapes.alert(alert)),
    }),
  };
}
