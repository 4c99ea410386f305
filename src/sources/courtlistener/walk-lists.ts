/**
 * Reads the lists of a case page by page until they end, or a fault does. Every page is kept before the next is asked for, and what
 * a look that is cut off has shown is ingested as a part of the docket.
 */
import type { CaseNumber } from '../../courts/court.ts';
import type { JsonObject } from '../../events/event.ts';
import {
  type Clock,
  type Instant,
  MICROS_PER_SECOND,
  type Micros,
  toInstant,
  toMicros,
} from '../../runtime/instant.ts';
import type { AskedCase, Asking, Fault, Look } from '../source.ts';
import {
  allShown,
  type CaseLook,
  type Headers,
  headersIn,
  type ListPlace,
  listsOf,
  nextList,
  withList,
} from './case-look.ts';
import { type CourtListenerClient, fault, isFault } from './client.ts';
import { type Claims, composeCase } from './compose-case.ts';
import { idOf } from './courtlistener.ts';
import type { ListName } from './kept-rows.ts';
import type { KeptLook, LookedPage, LookStore } from './look-store.ts';
import { readListPage } from './read-list.ts';

export interface Walk {
  readonly asked: AskedCase;
  readonly number: CaseNumber;
  readonly asking: Asking;
  readonly kept: KeptLook & { readonly partiesAt: Instant | null };
  readonly look: CaseLook;
  /** Whether no docket's own date has moved since the last complete look. */
  readonly isUnchanged?: boolean;
  /** The heads of those dockets that are still there. */
  confirm(): Promise<Headers | Fault>;
}

export interface WalkPorts {
  readonly client: CourtListenerClient;
  readonly looks: LookStore;
  readonly clock: Clock;
}

/** A look that makes more is cut off, and the next one continues it. */
const MOST_REQUESTS = 500;
/** No docket has so many. */
const MOST_PAGES = 10_000;
/** For this long, a docket is assumed to be there still when its lists end. Those of a deleted one end as well. */
const CONFIRMED_FOR: Micros = 60 * MICROS_PER_SECOND;
/** A list that shows nothing new on this many pages in turn would never end. */
const MOST_IDLE_PAGES = 3;

const NO_ENTRIES: Fault = fault('no_entries', 'it has the head of the docket and none of its entries');

const keyOf = ({ id, name }: ListPlace): string => `${id} ${name}`;

/** @throws StorageFailure, and what `ingest` throws; the next look continues there */
export async function walkLists(ports: WalkPorts, walk: Walk): Promise<Look> {
  const { client, looks, clock } = ports;
  const { asked, number, asking } = walk;
  let { look, kept } = walk as { look: CaseLook; kept: KeptLook };
  /** Pages that are not kept yet. */
  let loose: LookedPage[] = [];
  /** Kept pages that no position names any more. */
  const dropped: string[] = [];
  const known = new Map<string, LookedPage>();
  /** How often each row has come, by list and id. */
  const seen = new Map<string, Map<string, number>>();
  const restarted = new Set<string>();
  let forbidden: Fault | null = null;
  let idle = 0;

  for (let requests = 0; ; requests++) {
    const place = nextList(look);
    if (!place || isEmpty()) return finish();
    if (requests === MOST_REQUESTS) return cutOff(fault('budget', `a look makes at most ${MOST_REQUESTS} requests`));
    const at = toInstant(clock.now());
    const page = await readListPage(client, place, look.since, asking);
    const key = keyOf(place);
    if (isFault(page)) {
      if (page.fault !== 'forbidden') return cutOff(page, page.fault === 'unreadable' ? place : null);
      if (place.name === 'entries' || place.name === 'documents') forbidden ??= page;
      look = withList(look, place, { done: true });
      continue;
    }
    if ('again' in page) {
      if (restarted.has(key)) return cutOff(fault('unreadable', 'its cursors are not valid'), place);
      restarted.add(key);
      restart(place);
      continue;
    }
    idle = showsNews(key, place.name, page.rows) ? 0 : idle + 1;
    if (page.rows.length > 0) loose.push({ docket: place.id, list: place.name, at, rows: [...new Set(page.rows)] });
    if (page.broken) return cutOff(page.broken, place);
    if (page.cursor !== null && (idle >= MOST_IDLE_PAGES || place.list.pages.length >= MOST_PAGES))
      return cutOff(fault('unreadable', 'a list without end'), place);
    if (page.cursor === null) idle = 0;
    look = withList(look, place, { cursor: page.cursor, done: page.cursor === null });
    // A short look at changes is not worth a place in storage.
    if ((look.since === null || page.cursor !== null) && !(await keep())) return overtaken();
  }

  /** The list is read from its start; what was read of it before has been shown, or comes again. */
  function restart(place: ListPlace): void {
    const own = listsOf(look).find(({ id, name }) => id === place.id && name === place.name);
    dropped.push(...(own?.list.pages ?? []));
    look = withList(look, place, { cursor: null, pages: [], shown: 0 });
    seen.delete(keyOf(place));
    idle = 0;
  }

  function showsNews(key: string, list: ListName, rows: readonly JsonObject[]): boolean {
    const times = seen.get(key) ?? new Map<string, number>();
    seen.set(key, times);
    let isNews = false;
    for (const { id, recap_documents: documents } of rows) {
      const row = String(idOf(id));
      const count = (times.get(row) ?? 0) + 1;
      times.set(row, count);
      // An entry comes once for each of its documents that changed.
      const most = list === 'documents' && Array.isArray(documents) ? Math.max(1, documents.length) : 1;
      if (count <= most) isNews = true;
    }
    return isNews;
  }

  /** False if another process has moved the look; its pages are the ones that count. */
  async function keep(): Promise<boolean> {
    const names: string[] = [];
    let next = look;
    for (const page of loose) {
      const name = await looks.putPage(kept, page);
      names.push(name);
      known.set(name, page);
      const list = listsOf(next).find((place) => place.id === page.docket && place.name === page.list);
      if (list) next = withList(next, list, { pages: [...list.list.pages, name] });
    }
    const written = await looks.write(kept, next, walk.kept.partiesAt);
    if (!written) {
      await looks.remove(names);
      return false;
    }
    [kept, look, loose] = [written, next, []];
    await looks.remove(dropped.splice(0));
    return true;
  }

  function overtaken(): Look {
    return { look: 'failed', because: fault('interrupted', 'another process looks at the case') };
  }

  /** @param again the list is read from its start next time */
  async function cutOff(because: Fault, again: ListPlace | null = null): Promise<Look> {
    if (loose.length > 0 && !(await keep())) return overtaken();
    const stream = await show();
    if (isFault(stream)) return giveUp(stream);
    if (again) restart(again);
    const isKept = looks.namesIn(look).length + dropped.length > 0;
    if (isKept && !(await keep())) return overtaken();
    if (stream === null) return { look: 'failed', because };
    return { look: 'partial', stream, because };
  }

  /** Ingests what was read and not shown yet. Null if there is nothing. */
  async function show(): Promise<string | Fault | null> {
    const pages = await unshown(false);
    if (pages === null) return fault('unreadable', 'pages that were kept are missing; the look begins again');
    const entries = pages.filter(({ list }) => list === 'entries' || list === 'documents');
    // A head alone is no docket: a caller would pay to learn that it has no filings.
    if (entries.length === 0 && forbidden === null) return null;
    const askedAt = entries.map(({ at }) => at).toSorted()[0] ?? toInstant(clock.now());
    const shown = await ingest(pages, { askedAt, shows: look.since === null ? 'start' : 'part' });
    if (!isFault(shown)) look = allShown(look);
    return isFault(shown) ? shown : shown.stream;
  }

  /** Parties are one list, which takes the place of the one before it: they are shown once all are known. */
  async function unshown(all: boolean): Promise<readonly LookedPage[] | null> {
    const chosen = listsOf(look).filter(
      ({ id, name }) => name === 'entries' || name === 'documents' || arePartiesRead(id),
    );
    const names = chosen.flatMap(({ name, list }) =>
      all || name === 'parties' || name === 'attorneys' ? list.pages : list.pages.slice(list.shown),
    );
    const missing = names.filter((name) => !known.has(name));
    const found = missing.length === 0 ? [] : await looks.pages(missing);
    if (found === null) {
      await looks.write(kept, null, walk.kept.partiesAt);
      return null;
    }
    for (const [index, page] of found.entries()) known.set(missing[index] as string, page);
    const own = loose.filter(({ docket, list }) => chosen.some(({ id, name }) => id === docket && name === list));
    return [...names.flatMap((name) => known.get(name) ?? []), ...own];
  }

  /** Whether its entries were read and there are none: then its parties are not worth requests. */
  function isEmpty(): boolean {
    return look.since === null && forbidden === null && hasNone('entries');
  }

  function hasNone(list: ListName): boolean {
    return listsOf(look).every((place) => place.name !== list || (place.list.done && place.list.pages.length === 0));
  }

  function arePartiesRead(docket: string): boolean {
    return listsOf(look).every(
      ({ id, name, list }) => id !== docket || list.done || (name !== 'parties' && name !== 'attorneys'),
    );
  }

  async function ingest(pages: readonly LookedPage[], claims: Claims): Promise<{ readonly stream: string } | Fault> {
    const snapshot = composeCase({ court: asked.court, number, headers: headersIn(look), pages }, claims);
    if (snapshot === null) return fault('unreadable', 'the docket cannot be read');
    const isAlone = claims.shows === 'whole' && snapshot.entries.length === 0;
    // Every case has filings: CourtListener has none of them yet. Those that come later are no news.
    const recorded = isAlone ? { ...snapshot, complete: false, ofFirstLook: true as const, parties: [] } : snapshot;
    if (isAlone && asked.known !== null) return NO_ENTRIES;
    const ingested = await asking.ingest(recorded);
    // That this service must not record it says nothing of the source.
    if (!('stream' in ingested)) return fault('interrupted', ingested.refused);
    return isAlone ? NO_ENTRIES : ingested;
  }

  async function finish(): Promise<Look> {
    // Parts that were shown on other days were read on other days; what is newer must not look as old as they are.
    const isContinued = look.isShown;
    if (forbidden !== null || isContinued) {
      const part = await show();
      if (isFault(part)) return giveUp(part);
      if (forbidden !== null) {
        const isAlone = look.since === null && hasNone('entries') && hasNone('parties');
        await end(false);
        // The head was not forbidden, so the source works.
        if (isAlone) return { look: 'failed', because: { ...forbidden, fault: 'no_entries' } };
        return part === null
          ? { look: 'failed', because: forbidden }
          : { look: 'partial', stream: part, because: forbidden };
      }
    }
    const isWhole = look.since === null;
    if (isWhole && clock.now() - toMicros(look.headersAt) > CONFIRMED_FOR) {
      const there = await walk.confirm();
      if (isFault(there)) return cutOff(there);
      if (there.size < look.dockets.length) return giveUp(fault('interrupted', 'a docket was deleted meanwhile'));
    }
    const pages = isContinued && !isWhole ? [] : await unshown(true);
    if (pages === null) return { look: 'failed', because: fault('unreadable', 'pages that were kept are missing') };
    const done = await ingest(pages, { askedAt: look.startedAt, shows: isWhole ? 'whole' : 'changes' });
    if (isFault(done)) return giveUp(done);
    await end(true);
    const isUnchanged = walk.isUnchanged === true && pages.length === 0 && !isContinued;
    return { look: isUnchanged ? 'unchanged' : 'complete', stream: done.stream };
  }

  /** What was read cannot be recorded, so continuing would not help. */
  async function giveUp(because: Fault): Promise<Look> {
    await end(false);
    return { look: 'failed', because };
  }

  /** The look is over: nothing of it is kept but when parties were read. */
  async function end(isComplete: boolean): Promise<void> {
    const hasParties = isComplete && listsOf(look).some(({ name }) => name === 'parties');
    const names = [...looks.namesIn(look), ...dropped];
    if (names.length === 0 && !hasParties && kept.look === null) return;
    const partiesAt = hasParties ? look.startedAt : walk.kept.partiesAt;
    if (await looks.write(kept, null, partiesAt)) await looks.remove(names);
  }
}
