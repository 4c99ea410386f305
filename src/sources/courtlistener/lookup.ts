/**
 * Finds a case on CourtListener by its number: exactly, then by the number's core or by the search, whose index has other
 * spellings. Several dockets may be one case; several cases are not merged.
 */
import { canBeSameCase, parseCaseNumber } from '../../courts/case-number.ts';
import type { CaseNumber, Court } from '../../courts/court.ts';
import { findCourt } from '../../courts/registry.ts';
import { textKey } from '../../dockets/text.ts';
import { isJsonObject, type Json, type JsonObject } from '../../events/event.ts';
import type { Fault, SourceFault } from '../source.ts';
import { type CourtListenerClient, fault, isFault, type RequestAsking } from './client.ts';
import { idOf } from './courtlistener.ts';
import { courtListenerId } from './courts.ts';
import { keptDocket } from './kept-rows.ts';

export interface FoundDocket {
  readonly id: string;
  readonly row: JsonObject;
  /** As the court writes it. */
  readonly caseNumber: string;
}

export type Lookup =
  /** Every docket of the one case. */
  | { readonly dockets: readonly FoundDocket[] }
  /** A number without its office means several cases: one docket of each. */
  | { readonly ambiguous: readonly FoundDocket[] }
  | Fault;

/** @throws StorageFailure */
export async function lookUp(
  client: CourtListenerClient,
  court: Court,
  number: CaseNumber,
  asking: RequestAsking,
): Promise<Lookup> {
  const id = courtListenerId(court);
  const core = docketNumberCore(court, number);
  const exact = await docketsBy({ court: id, docket_number: number.canonical });
  if (isFault(exact) || exact.length > 0) return isFault(exact) ? exact : divided(exact);
  if (core !== null) {
    const alike = await docketsBy({ court: id, docket_number_core: core });
    return isFault(alike) ? alike : divided(alike);
  }
  const searched = await bySearch();
  return isFault(searched) ? searched : divided(searched);

  async function docketsBy(query: Readonly<Record<string, string>>): Promise<readonly FoundDocket[] | Fault> {
    const reply = await client.send({ path: 'dockets/', query }, asking);
    if (isFault(reply)) return reply;
    if (!('ok' in reply)) return [];
    const rows = resultsIn(reply.ok);
    return rows === null ? fault('unreadable', 'not a list of dockets') : rows.flatMap((row) => sameCase(row));
  }

  /** The search fails more often than the database. Then there is only what the database said: no such number. */
  async function bySearch(): Promise<readonly FoundDocket[] | Fault> {
    // Its numbers are written in many ways; all have the digits.
    const written = number.caseType === 'mdl' ? number.canonical.replace(/\D+/g, '') : number.canonical;
    const query = { type: 'r', court: id, docket_number: written };
    const reply = await client.send({ path: 'search/', query, totalMs: SEARCH_MS }, asking);
    if (isFault(reply)) return OF_THE_SEARCH.has(reply.fault) ? [] : reply;
    const hits = 'ok' in reply ? (resultsIn(reply.ok) ?? []) : [];
    const hit = hits.find((row) => namesCase(row.docketNumber, row.court_id));
    const docket = hit ? idOf(hit.docket_id) : null;
    if (docket === null) return [];
    const found = await client.send({ path: `dockets/${docket}/` }, asking);
    if (isFault(found)) return found;
    return 'ok' in found && isJsonObject(found.ok) ? sameCase(found.ok) : [];
  }

  function namesCase(written: Json | undefined, courtId: Json | undefined): boolean {
    if (typeof written !== 'string' || typeof courtId !== 'string' || findCourt(courtId)?.code !== court.code)
      return false;
    const own = parseCaseNumber(court, written.slice(0, 200));
    return own !== null && canBeSameCase(own, number);
  }

  function sameCase(row: JsonObject): readonly FoundDocket[] {
    const docket = idOf(row.id);
    if (docket === null || !namesCase(row.docket_number, row.court_id)) return [];
    const own = parseCaseNumber(court, String(row.docket_number).slice(0, 200));
    return own ? [{ id: docket, row: keptDocket(row), caseNumber: own.canonical }] : [];
  }
}

const MOST_DOCKETS = 20;
/** So that a query still learns in time what the database said. */
const SEARCH_MS = 8_000;
/** Any other is of the account, the budget or this service, and would meet every request. */
const OF_THE_SEARCH: ReadonlySet<SourceFault> = new Set([
  'connection',
  'timeout',
  'too_large',
  'refused_address',
  'unavailable',
  'unreadable',
]);

function resultsIn(value: unknown): readonly JsonObject[] | null {
  if (!isJsonObject(value) || !Array.isArray(value.results)) return null;
  return value.results.filter(isJsonObject).slice(0, MOST_DOCKETS);
}

/** `2602417` of `1:26-cv-02417`; null where CourtListener has no such form. */
function docketNumberCore({ system, level }: Court, { core }: CaseNumber): string | null {
  if (system !== 'US federal district courts' && level !== 'bankruptcy') return null;
  const [, year, sequence] = /^(\d\d)-(?:[a-z]{1,5}-)?(\d{5})$/i.exec(core) ?? [];
  return year === undefined || sequence === undefined ? null : `${year}${sequence}`;
}

/** Dockets of one number are one case, unless their offices, or their days and names, tell them apart. */
function divided(found: readonly FoundDocket[]): Lookup {
  const unique = [...new Map(found.map((docket) => [docket.id, docket])).values()];
  const [first] = unique;
  if (!first) return { dockets: [] };
  const numbers = new Map(unique.map((docket) => [docket.caseNumber, docket]));
  if (numbers.size > 1) return { ambiguous: [...numbers.values()] };
  const newestFirst = unique.toSorted((a, b) => (modified(a) < modified(b) ? 1 : -1));
  const [newest = first] = newestFirst;
  return { dockets: newestFirst.filter((one) => one === newest || looksAlike(newest, one)) };
}

const modified = ({ row }: FoundDocket): string => (typeof row.date_modified === 'string' ? row.date_modified : '');

function looksAlike({ row: a }: FoundDocket, { row: b }: FoundDocket): boolean {
  if (a.date_filed === b.date_filed || a.date_filed === null || b.date_filed === null) return true;
  const words = wordsOf(a.case_name);
  return [...wordsOf(b.case_name)].some((word) => words.has(word));
}

/** A word shorter than this is in many names. */
const DISTINCTIVE_WORD = 4;
const wordsOf = (name: Json | undefined): ReadonlySet<string> =>
  new Set(
    (typeof name === 'string' ? textKey(name) : '')
      .split(/[^\p{L}\p{N}]+/u)
      .filter(({ length }) => length >= DISTINCTIVE_WORD),
  );
