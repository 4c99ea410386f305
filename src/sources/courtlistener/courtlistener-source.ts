/**
 * The source `courtlistener` (docs/design/sources.md#courtlistener): asks CourtListener's REST API about one case. A look that the
 * budget cannot finish is kept and continued by the next, on any node.
 */
import { canBeSameCase, parseCaseNumber } from '../../courts/case-number.ts';
import type { CaseNumber, Court } from '../../courts/court.ts';
import { findCourt } from '../../courts/registry.ts';
import { isJsonObject, type JsonObject } from '../../events/event.ts';
import {
  type Clock,
  type Instant,
  MICROS_PER_SECOND,
  type Micros,
  plus,
  toInstant,
  toMicros,
} from '../../runtime/instant.ts';
import type { AskableSource, AskedCase, Asking, Fault, Look } from '../source.ts';
import { type Headers, headersIn, newLook, withHeaders } from './case-look.ts';
import { type CourtListenerClient, fault, isFault } from './client.ts';
import { composeCase } from './compose-case.ts';
import { isOnCourtListener } from './courts.ts';
import { keptDocket, type ListName } from './kept-rows.ts';
import type { KeptLook, LookStore } from './look-store.ts';
import { type FoundDocket, lookUp } from './lookup.ts';
import type { SourceCases } from './source-cases.ts';
import { walkLists } from './walk-lists.ts';

export interface CourtListenerSourceOptions {
  readonly client: CourtListenerClient;
  readonly cases: SourceCases;
  readonly looks: LookStore;
  readonly clock: Clock;
}

/** Clocks differ, and CourtListener may show a change some minutes late. */
const OVERLAP: Micros = 15 * 60 * MICROS_PER_SECOND;
/** For this long, a docket that was found is assumed to be there still. */
const HEADERS_HOLD: Micros = 3_600 * MICROS_PER_SECOND;
/** Parties change rarely, and the docket's date moves for many other reasons. */
const PARTIES_EVERY: Micros = 7 * 86_400 * MICROS_PER_SECOND;
/** CourtListener may open another docket for a number that it has. */
const LOOKED_UP_EVERY: Micros = 7 * 86_400 * MICROS_PER_SECOND;

const NONE: Headers = new Map();
const WHOLE: readonly ListName[] = ['entries', 'parties', 'attorneys'];
const CHANGES: readonly ListName[] = ['entries', 'documents'];

export function createCourtListenerSource(options: CourtListenerSourceOptions): AskableSource {
  const { client, cases, looks, clock } = options;
  return { name: 'courtlistener', covers: isOnCourtListener, ask };

  async function ask(asked: AskedCase, asking: Asking): Promise<Look> {
    const number = parseCaseNumber(asked.court, asked.caseNumber);
    if (!number || !isOnCourtListener(asked.court)) return { look: 'not_found' };
    const completeSince = asked.known?.completeSince ?? null;
    let kept = await looks.of(asked.court, number.canonical);
    if (kept.look !== null && completeSince !== null && completeSince > kept.look.startedAt) {
      const forgotten = await forget(kept, kept.partiesAt);
      if (!forgotten) return failed(fault('interrupted', 'another process looks at the case'));
      kept = { ...forgotten, partiesAt: kept.partiesAt };
    }
    const continued = kept.look;
    const ids = continued ? [...headersIn(continued).keys()] : await cases.idsOf(asked.court, number.canonical);
    const hasFresh = continued !== null && clock.now() - toMicros(continued.headersAt) < HEADERS_HOLD;
    const askedAt = hasFresh ? continued.headersAt : toInstant(clock.now());
    const headers = hasFresh ? headersIn(continued) : await headersOf(ids, asked, number, asking);
    if (isFault(headers)) return failed(headers);
    // A number without its office may mean several cases, each with ids of its own.
    const isOne = areOneCase(asked.court, headers);
    const isWhole = headers.size === ids.length && ids.length > 0 && isOne;
    if (continued !== null && isWhole) {
      const look = await walkLists(options, {
        asked,
        number,
        asking,
        kept,
        look: withHeaders(continued, headers, askedAt),
        confirm: () => headersOf(ids, asked, number, asking),
      });
      // What changed while the lists were read over days.
      const isLong = clock.now() - toMicros(continued.startedAt) > OVERLAP;
      if (look.look === 'complete' && continued.since === null && isLong)
        await lookAtChanges(asked, number, asking, headers, plus(continued.startedAt, -OVERLAP));
      return look;
    }
    if (kept.look !== null) {
      const forgotten = await forget(kept, kept.partiesAt);
      if (!forgotten) return failed(fault('interrupted', 'another process looks at the case'));
    }
    if (isWhole && completeSince !== null) {
      const more = isLookupDue(number, completeSince) ? await othersOf(headers, asked, number, asking) : NONE;
      if (isFault(more)) return failed(more);
      if (more.size > 0) return begin(asked, number, asking, new Map([...headers, ...more]), null, WHOLE);
      return lookAtChanges(asked, number, asking, headers, plus(completeSince, -OVERLAP));
    }
    // A docket that is left after another was merged into it may have more than it had.
    const lostSome = headers.size < ids.length;
    const found = headers.size > 0 && !lostSome && isOne ? headers : await lookedUp(asked, number, asking);
    if (isFault(found)) return failed(found);
    if (found.size === 0) return { look: 'not_found' };
    if (completeSince !== null && !lostSome)
      return lookAtChanges(asked, number, asking, found, plus(completeSince, -OVERLAP));
    return begin(asked, number, asking, found, null, WHOLE);
  }

  /** Whether a period of the case ended after its last complete look, so that no state says when it was last looked up. */
  function isLookupDue({ canonical }: CaseNumber, completeSince: Instant): boolean {
    const begins = [...canonical].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 10_007, 7);
    const periodAt = (at: Micros): number => Math.floor(at / LOOKED_UP_EVERY + begins / 10_007);
    return periodAt(clock.now()) > periodAt(toMicros(completeSince));
  }

  /** Dockets of the case that CourtListener has besides those that are known. */
  async function othersOf(
    headers: Headers,
    asked: AskedCase,
    number: CaseNumber,
    asking: Asking,
  ): Promise<Headers | Fault> {
    const found = await lookedUp(asked, number, asking);
    return isFault(found) ? found : new Map([...found].filter(([id]) => !headers.has(id)));
  }

  async function lookAtChanges(
    asked: AskedCase,
    number: CaseNumber,
    asking: Asking,
    headers: Headers,
    since: Instant,
  ): Promise<Look> {
    const { partiesAt } = await looks.of(asked.court, number.canonical);
    const isMoved = [...headers.values()].some((header) => !isUnmoved(header, since));
    const areOld = partiesAt === null || clock.now() - toMicros(partiesAt) > PARTIES_EVERY;
    return begin(
      asked,
      number,
      asking,
      headers,
      since,
      isMoved && areOld ? [...CHANGES, 'parties', 'attorneys'] : CHANGES,
    );
  }

  async function begin(
    asked: AskedCase,
    number: CaseNumber,
    asking: Asking,
    headers: Headers,
    since: Instant | null,
    lists: readonly ListName[],
  ): Promise<Look> {
    const kept = await looks.of(asked.court, number.canonical);
    const look = newLook(headers, toInstant(clock.now()), since, lists);
    const isUnchanged = since !== null && [...headers.values()].every((header) => isUnmoved(header, since));
    const confirm = () => headersOf([...headers.keys()], asked, number, asking);
    return walkLists(options, { asked, number, asking, kept, look, isUnchanged, confirm });
  }

  /** The dockets that are still there. Those that are not, or are another case's by now, are lost. */
  async function headersOf(
    ids: readonly string[],
    { court }: AskedCase,
    number: CaseNumber,
    asking: Asking,
  ): Promise<Headers | Fault> {
    const headers = new Map<string, JsonObject>();
    for (const id of ids) {
      const reply = await client.send({ path: `dockets/${id}/` }, asking);
      if (isFault(reply)) return reply;
      const row = 'ok' in reply && isJsonObject(reply.ok) ? keptDocket(reply.ok) : null;
      if ('ok' in reply && row === null) return fault('unreadable', 'not a docket');
      const written =
        typeof row?.docket_number === 'string' ? parseCaseNumber(court, row.docket_number.slice(0, 200)) : null;
      const isOfCourt = typeof row?.court_id === 'string' && findCourt(row.court_id)?.code === court.code;
      if (row && isOfCourt && (written === null || canBeSameCase(written, number))) headers.set(id, row);
      else await cases.gone(id);
    }
    return headers;
  }

  /** Empty if there is no such case, or more than one: then the head of each is recorded, so that callers may choose. */
  async function lookedUp(asked: AskedCase, number: CaseNumber, asking: Asking): Promise<Headers | Fault> {
    const lookup = await lookUp(client, asked.court, number, asking);
    if (isFault(lookup)) return lookup;
    const found = 'dockets' in lookup ? lookup.dockets : lookup.ambiguous;
    for (const { id, caseNumber } of found) await cases.found(id, asked.court, caseNumber);
    if ('dockets' in lookup) return new Map(found.map(({ id, row }) => [id, row]));
    for (const docket of found) await ingestHead(asked, asking, docket);
    return new Map();
  }

  async function ingestHead(
    { court }: AskedCase,
    { ingest }: Asking,
    { id, row, caseNumber }: FoundDocket,
  ): Promise<void> {
    const number = parseCaseNumber(court, caseNumber);
    if (!number) return;
    const parts = { court, number, headers: new Map([[id, row]]), pages: [] };
    const snapshot = composeCase(parts, { askedAt: toInstant(clock.now()), shows: 'part' });
    if (snapshot) await ingest(snapshot);
  }

  async function forget(kept: KeptLook, partiesAt: Instant | null): Promise<KeptLook | null> {
    const names = looks.namesIn(kept.look);
    const written = await looks.write(kept, null, partiesAt);
    if (written) await looks.remove(names);
    return written;
  }
}

const failed = (because: Fault): Look => ({ look: 'failed', because });

function areOneCase(court: Court, headers: Headers): boolean {
  const numbers = [...headers.values()].flatMap(({ docket_number: written }) => {
    const number = typeof written === 'string' ? parseCaseNumber(court, written.slice(0, 200)) : null;
    return number?.complete ? [number.canonical] : [];
  });
  return new Set(numbers).size <= 1;
}

function isUnmoved({ date_modified: modified }: JsonObject, since: Instant): boolean {
  const at = typeof modified === 'string' ? Date.parse(modified) : Number.NaN;
  return !Number.isNaN(at) && at * 1_000 <= toMicros(since);
}
