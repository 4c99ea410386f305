/** `service_court_list`: finds courts. All 2,150 would fill a model's context, so the list has pages and a search. */
import { createHash } from 'node:crypto';
import type { Court } from '../../../courts/court.ts';
import { rankCourts } from '../../../courts/nearest-courts.ts';
import { isLive } from '../../../courts/registry.ts';
import { courtNow, type StatusCourt, statusCourts } from '../../../courts/status-courts.ts';
import type { CourtStandings } from '../../../queries/court-standings.ts';
import { echo, type Issue } from '../../parameters/issues.ts';
import type { StatusDependencies } from '../../v2/status.ts';
import { freeTool } from '../free-tool.ts';
import type { Argument, Parameters } from '../parameters.ts';
import type { Tool } from '../tool.ts';

const PRESET_LIMIT = 50;
const MOST = 500;
/** Maximum length of a search. */
const MAX_SEARCH_LENGTH = 200;
const SUGGESTED = 5;

const PARAMETERS: Parameters = {
  include_planned: {
    type: 'boolean',
    description: 'Also list courts that are planned and cannot be queried yet.',
    default: true,
    example: 'false',
  },
  country: { type: 'string', description: 'Only courts of this country.', values: ['US', 'CA'], example: 'US' },
  region: {
    type: 'string',
    description: 'Only courts of this state, province or territory: its two letters, e.g. OK or QC.',
    example: 'OK',
  },
  search: {
    type: 'string',
    description: 'Words that must all occur in code or name, e.g. "northern california" or "quebec superior".',
    example: 'northern california',
  },
  limit: { type: 'integer', description: `Courts in one page, 1 to ${MOST}.`, default: PRESET_LIMIT, example: '50' },
  cursor: {
    type: 'string',
    description: 'next_cursor of the previous page, unchanged, with the other arguments unchanged too.',
    example: 'next_cursor of the previous page',
  },
};

interface Filters {
  readonly includePlanned: boolean;
  readonly country: string | null;
  readonly region: string | null;
  readonly search: string;
}

interface Listed {
  readonly court: Court;
  readonly listed: StatusCourt;
  /** The searchable text, with a space around each word. */
  readonly words: string;
}

export function courtListTool({ service, courts, sourceOf, standings }: StatusDependencies): Tool {
  const shown = statusCourts(courts, sourceOf).courts;
  const all = courts.flatMap((court, index): Listed[] => {
    const status = shown[index];
    return status ? [{ court, listed: status, words: searchable(court) }] : [];
  });
  const regions = new Set(courts.flatMap(({ region }) => region ?? []));

  return freeTool(service, {
    name: 'service_court_list',
    title: 'Find courts',
    description:
      'Finds courts and their court_code, with the pattern and an example of their case numbers: what the other tools need. Free. Give search, region or country; without them you page through all 2,150. Returns courts, total and next_cursor (null on the last page).',
    parameters: PARAMETERS,
    returns: {
      courts: { type: 'array', items: { type: 'object' } },
      total: { type: 'number', description: 'How many courts match.' },
    },
    answer(values, meta) {
      const issues: Issue[] = [];
      const filters = readFilters(values, regions, issues);
      const limit = readLimit(values.get('limit'), issues);
      const offset = readCursor(values.get('cursor'), filters, issues);
      if (issues.length) return issues;
      const found = matching(all, filters);
      const page = found.slice(offset, offset + limit);
      const next = offset + page.length < found.length ? cursorOf(filters, offset + page.length) : null;
      const rest = { total: found.length, next_cursor: next, ...advice(filters, found, courts) };
      const known = standings.latest();
      const list = page.map(({ listed }) => JSON.stringify(shortly(listed, known))).join(',');
      return `{"meta":${JSON.stringify(meta)},"courts":[${list}],${JSON.stringify(rest).slice(1)}`;
    },
  });
}

/** Fewer members per court than in the status. @param known null if nothing is known yet */
function shortly(listed: StatusCourt, known: CourtStandings | null) {
  const standing = known?.get(listed.court_code);
  const { refresh_cadence_seconds: _, case_management_system: __, ...court } = courtNow(listed, standing);
  return { ...court, cases_known: known && (standing?.casesKnown ?? 0) };
}

const searchable = ({ code, aliases, name, region, system }: Court): string =>
  ` ${plain([code, code.replaceAll('_', ' '), ...aliases, name, region ?? '', system].join(' '))} `;

/** Lower-case words without accents. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_]+/gu, ' ')
    .trim();

function matching(all: readonly Listed[], { includePlanned, country, region, search }: Filters): readonly Listed[] {
  // A search word matches the beginning of a word: "calif" finds California.
  const beginnings = search === '' ? [] : search.split(' ').map((word) => ` ${word}`);
  return all.filter(
    ({ court, words }) =>
      (includePlanned || isLive(court)) &&
      (country === null || court.country === country) &&
      (region === null || court.region === region) &&
      beginnings.every((beginning) => words.includes(beginning)),
  );
}

function readFilters(values: ReadonlyMap<string, Argument>, regions: ReadonlySet<string>, issues: Issue[]): Filters {
  const text = (name: string): string => String(values.get(name) ?? '').trim();
  const country = text('country').toUpperCase();
  const region = text('region').toUpperCase();
  const search = text('search');
  if (country !== '' && country !== 'US' && country !== 'CA') {
    issues.push(fault('country', text('country'), 'One of US, CA.', 'US'));
  }
  if (region !== '' && !regions.has(region)) {
    const rule = `The two letters of a state, province or territory: one of ${[...regions].sort().join(', ')}.`;
    issues.push(fault('region', text('region'), rule, 'OK'));
  }
  if (search.length > MAX_SEARCH_LENGTH) {
    issues.push(fault('search', search, `At most ${MAX_SEARCH_LENGTH} characters.`, 'northern california'));
  }
  return {
    includePlanned: values.get('include_planned') !== false,
    country: country || null,
    region: region || null,
    search: plain(search.slice(0, MAX_SEARCH_LENGTH)),
  };
}

function readLimit(value: Argument | undefined, issues: Issue[]): number {
  const limit = typeof value === 'number' ? value : PRESET_LIMIT;
  if (limit < 1 || limit > MOST) {
    issues.push(fault('limit', String(limit), `A whole number from 1 to ${MOST}.`, String(PRESET_LIMIT)));
  }
  return limit;
}

const fault = (parameter: string, received: string, rule: string, example: string | null): Issue => ({
  parameter,
  code: 'invalid_parameter',
  received: echo(received),
  rule,
  example,
});

/** Courts do not change while the service runs, so an offset is enough. It is valid only with the same filters. */
const cursorOf = (filters: Filters, offset: number): string =>
  Buffer.from(`${listName(filters)}:${offset}`).toString('base64url');

const listName = (filters: Filters): string =>
  createHash('sha256').update(JSON.stringify(filters)).digest('base64url').slice(0, 8);

function readCursor(value: Argument | undefined, filters: Filters, issues: Issue[]): number {
  const sent = typeof value === 'string' ? value.trim() : '';
  if (sent === '') return 0;
  const [list, offset] = Buffer.from(sent, 'base64url').toString('utf8').split(':');
  if (list === listName(filters) && offset !== undefined && /^\d{1,5}$/.test(offset)) return Number(offset);
  const rule = 'next_cursor of an answer to the same arguments, unchanged; leave it out to start again.';
  issues.push(fault('cursor', sent, rule, null));
  return 0;
}

/** What to try if nothing matches. */
function advice(
  { search, includePlanned }: Filters,
  found: readonly Listed[],
  courts: readonly Court[],
): { readonly next_step?: string; readonly suggestions?: readonly string[] } {
  if (found.length > 0) return {};
  const suggestions =
    search === '' ? [] : rankCourts(courts, search.replaceAll(' ', '_'), SUGGESTED).map(({ code }) => code);
  const planned = includePlanned ? '' : ' include_planned true also lists courts that are planned.';
  return {
    next_step: `No court matches. Use fewer words, or only region or country.${planned}`,
    ...(suggestions.length ? { suggestions } : {}),
  };
}
