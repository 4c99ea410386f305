/** Filters, orderings and both kinds of pages of CourtListener's API v4. */
import type { Fields } from './rows.ts';
import { readMicros, utc } from './times.ts';

/** One row of a list: what filters and orderings look at, and what is shown. */
export interface Listed {
  readonly id: number;
  /** Values by the name of a filter without its suffix, several for a related object. */
  values(name: string): readonly unknown[];
  show(): Fields;
}

export interface Endpoint {
  readonly path: string;
  /** Names of filters without suffixes, and the type of their values. */
  readonly filters: ReadonlyMap<string, 'number' | 'date' | 'time' | 'text' | 'bool'>;
  readonly orderings: readonly string[];
  readonly rows: readonly Listed[];
  readonly pageSize: number;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const ALWAYS = new Set(['page', 'page_size', 'cursor', 'order_by', 'format', 'fields', 'omit', 'count']);
const OWN = new Set(['filter_nested_results']);
const SUFFIXES = ['gte', 'gt', 'lte', 'lt', 'in', 'isnull', 'iexact', 'startswith', 'istartswith'] as const;
const CURSOR_FIELDS = new Set(['id', 'date_created', 'date_modified']);

const invalid = (detail: string): Answer => ({ status: 404, body: { detail } });

/** Answers one list. @param base the API's address */
export function answerList(endpoint: Endpoint, base: string, query: URLSearchParams): Answer {
  const tests: { readonly key: string; readonly matches: (row: Listed) => number }[] = [];
  const unknown: string[] = [];
  for (const [key, value] of query) {
    if (ALWAYS.has(key) || OWN.has(key)) continue;
    const test = testOf(endpoint, key, value);
    if (test === 'unknown') unknown.push(key);
    else if (test === 'invalid') return { status: 400, body: { [key]: ['Enter a valid value.'] } };
    else if (test !== null) tests.push({ key, matches: test });
  }
  if (unknown.length > 0) {
    return { status: 400, body: { detail: 'Unknown filter parameters are not allowed.', unknown_params: unknown } };
  }
  const joins = tests.filter(({ key }) => key.startsWith('recap_documents__'));
  // A filter through a related list repeats a row for each match.
  const rows = endpoint.rows
    .filter((row) => tests.every(({ matches }) => matches(row) > 0))
    .flatMap((row) => new Array<Listed>(Math.max(1, ...joins.map(({ matches }) => matches(row)))).fill(row));
  if (query.get('count') === 'on') return { status: 200, body: { count: rows.length } };
  const orders = (query.get('order_by') ?? '-id').split(',').filter((order) => order !== '');
  if (orders.some((order) => !endpoint.orderings.includes(order.replace(/^-/, '')))) {
    return { status: 400, body: { order_by: ['Select a valid choice.'] } };
  }
  const [only = '-id'] = orders;
  return endpoint.path !== 'courts' && orders.length === 1 && CURSOR_FIELDS.has(only.replace(/^-/, ''))
    ? cursorPage(endpoint, base, query, rows, only)
    : numberedPage(endpoint, base, query, rows, orders);
}

function testOf({ filters }: Endpoint, key: string, value: string) {
  const negated = key.endsWith('!');
  const name = negated ? key.slice(0, -1) : key;
  const suffix = SUFFIXES.find((one) => name.endsWith(`__${one}`)) ?? null;
  const field = suffix === null ? name : name.slice(0, -suffix.length - 2);
  const type = filters.get(field);
  if (type === undefined) return 'unknown' as const;
  if (value === '') return null;
  const read = (text: string): number | string | boolean | null => {
    if (type === 'number') return /^-?\d+$/.test(text) ? Number(text) : null;
    if (type === 'time') return readMicros(text);
    if (type === 'bool') return /^(?:true|1|on)$/i.test(text);
    return text;
  };
  const wanted = suffix === 'in' ? value.split(',').map(read) : [suffix === 'isnull' ? value : read(value)];
  if (wanted.includes(null)) return 'invalid' as const;
  const compare = (have: unknown): boolean => {
    const [want] = wanted as (string | number | boolean)[];
    if (suffix === 'isnull') return (have === null || have === undefined) === /^(?:true|1|on)$/i.test(value);
    if (have === null || have === undefined || want === undefined) return false;
    const one = have as string | number;
    if (suffix === 'gt') return one > want;
    if (suffix === 'gte') return one >= want;
    if (suffix === 'lt') return one < want;
    if (suffix === 'lte') return one <= want;
    if (suffix === 'startswith') return String(one).startsWith(String(want));
    if (suffix === 'istartswith') return String(one).toLowerCase().startsWith(String(want).toLowerCase());
    if (suffix === 'iexact') return String(one).toLowerCase() === String(want).toLowerCase();
    return (wanted as unknown[]).includes(one);
  };
  return (row: Listed): number => {
    const matches = row.values(field).filter(compare).length;
    return negated ? Number(matches === 0) : matches;
  };
}

interface Cursor {
  readonly position: number | null;
  readonly offset: number;
  readonly reverse: boolean;
}

function cursorPage(
  endpoint: Endpoint,
  base: string,
  query: URLSearchParams,
  rows: readonly Listed[],
  order: string,
): Answer {
  const field = order.replace(/^-/, '');
  const isTime = field !== 'id';
  const cursor = readCursor(query.get('cursor'), isTime);
  if (cursor === null) return invalid('Invalid cursor');
  const placeOf = (row: Listed): number => row.values(field)[0] as number;
  const descending = order.startsWith('-') !== cursor.reverse;
  const sign = descending ? -1 : 1;
  const sorted = [...rows].sort((a, b) => sign * (placeOf(a) - placeOf(b)));
  const { position, offset } = cursor;
  const after = sorted.filter((row) => position === null || sign * (placeOf(row) - position) > 0).slice(offset);
  const shown = after.slice(0, endpoint.pageSize);
  const follows = after[endpoint.pageSize];
  const ahead = follows === undefined ? null : linkAfter(shown, placeOf(follows), placeOf, cursor, endpoint.pageSize);
  const first = shown[0];
  // From the first row backwards: everything before its value, nearest first.
  const hasBefore = first !== undefined && sorted.some((row) => sign * (placeOf(row) - placeOf(first)) < 0);
  const behind: Cursor | null =
    first !== undefined && position !== null && hasBefore
      ? { position: placeOf(first), offset: 0, reverse: !cursor.reverse }
      : null;
  const link = (to: Cursor | null): string | null =>
    to === null ? null : address(endpoint, base, query, { cursor: writeCursor(to, isTime) });
  const results = cursor.reverse ? shown.toReversed() : shown;
  return {
    status: 200,
    body: {
      count: address(endpoint, base, query, { count: 'on' }),
      next: link(cursor.reverse ? behind : ahead),
      previous: link(cursor.reverse ? ahead : behind),
      results: results.map((row) => row.show()),
    },
  };
}

/** The place after a page: the last value that differs from the following row's, and how many equal rows came since. */
function linkAfter(
  shown: readonly Listed[],
  following: number,
  placeOf: (row: Listed) => number,
  cursor: Cursor,
  pageSize: number,
): Cursor {
  for (let index = shown.length - 1, offset = 0; index >= 0; index--, offset++) {
    const row = shown[index];
    if (row !== undefined && placeOf(row) !== following) {
      return { position: placeOf(row), offset, reverse: cursor.reverse };
    }
  }
  return { ...cursor, offset: cursor.offset + pageSize };
}

function writeCursor({ position, offset, reverse }: Cursor, isTime: boolean): string {
  const parts = new URLSearchParams();
  if (offset > 0) parts.set('o', String(offset));
  if (reverse) parts.set('r', '1');
  if (position !== null) parts.set('p', isTime ? utc(position) : String(position));
  return Buffer.from(parts.toString()).toString('base64');
}

/** Null if it is none of this ordering. */
function readCursor(text: string | null, isTime: boolean): Cursor | null {
  if (text === null || text === '') return { position: null, offset: 0, reverse: false };
  const parts = new URLSearchParams(Buffer.from(text, 'base64').toString());
  const position = parts.get('p');
  const value =
    position === null ? null : isTime ? readMicros(position) : /^\d+$/.test(position) ? Number(position) : null;
  if (value === null && (position !== null || parts.get('o') === null)) return null;
  return { position: value, offset: Number(parts.get('o') ?? 0), reverse: parts.get('r') === '1' };
}

const LAST_PAGE = 100;

function numberedPage(
  endpoint: Endpoint,
  base: string,
  query: URLSearchParams,
  rows: readonly Listed[],
  orders: readonly string[],
): Answer {
  const asked = query.get('page') ?? '1';
  if (!/^\d+$/.test(asked)) return invalid('Invalid page: That page number is not an integer');
  const page = Number(asked);
  if (page > LAST_PAGE && endpoint.path !== 'courts') {
    return invalid('Invalid page: Deep API pagination is not allowed. Please review API documentation.');
  }
  const size = endpoint.pageSize;
  if (page < 1 || (page > 1 && (page - 1) * size >= rows.length))
    return invalid('Invalid page: That page contains no results');
  const key = (row: Listed, name: string): string | number => (row.values(name)[0] ?? '') as string | number;
  const sorted = [...rows].sort((a, b) => {
    for (const order of orders) {
      const name = order.replace(/^-/, '');
      const [x, y] = [key(a, name), key(b, name)];
      if (x !== y) return (x < y ? -1 : 1) * (order.startsWith('-') ? -1 : 1);
    }
    return a.id - b.id;
  });
  const link = (to: number): string => address(endpoint, base, query, { page: String(to) });
  return {
    status: 200,
    body: {
      count: rows.length,
      next: page * size < rows.length ? link(page + 1) : null,
      previous: page > 1 ? link(page - 1) : null,
      results: sorted.slice((page - 1) * size, page * size).map((row) => row.show()),
    },
  };
}

/** Links hold their parameters in alphabetical order. */
function address(endpoint: Endpoint, base: string, query: URLSearchParams, more: Record<string, string>): string {
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(more)) parameters.set(name, value);
  parameters.sort();
  return `${base}${endpoint.path}/?${parameters}`;
}
