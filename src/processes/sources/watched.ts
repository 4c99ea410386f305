/** The watched cases, as everything that watches needs them (docs/design/sources.md#watched-cases). */
import type { Court } from '../../courts/court.ts';
import { findCourt } from '../../courts/registry.ts';
import { CASES, type CaseDocument } from '../../dockets/case-document.ts';
import { WANTED_CASES, WATCHED_CASES, type WantedCase, type WatchedCase } from '../../projections/watched-cases.ts';
import { MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import type { Find, ReadStore, Stored } from '../../storage/read-store.ts';

export type KnownCase = Omit<WatchedCase, 'court'> & {
  readonly stream: string;
  readonly court: Court;
  /** Whether the court has closed it. */
  readonly closed: boolean;
};

export type SoughtCase = Omit<WantedCase, 'court'> & {
  /** Of its want. */
  readonly stream: string;
  readonly court: Court;
};

export interface Watching {
  readonly now: Micros;
  /** `config.sources.watchDays`. */
  readonly watchDays: number;
  /** Only the cases of this court. */
  readonly court?: string;
}

const PAGE = 500;
const DAY: Micros = 86_400 * MICROS_PER_SECOND;

/** What was asked for before this moment is watched no longer. */
export const watchedSince = ({ now, watchDays }: Watching): string => toInstant(Math.max(0, now - watchDays * DAY));

/** The known cases that somebody has asked for in time, longest ago first. */
export async function* watchedCases(
  readStore: Pick<ReadStore, 'find' | 'load'>,
  watching: Watching,
): AsyncGenerator<KnownCase> {
  const found = pages<WatchedCase>(readStore, {
    collection: WATCHED_CASES,
    ...(watching.court === undefined ? {} : { equals: { court: watching.court } }),
    range: { field: 'askedAt', from: watchedSince(watching) },
    order: { field: 'askedAt', direction: 'ascending' },
    limit: PAGE,
  });
  for await (const page of found) yield* await withHeads(readStore, page);
}

/** Every known case of a court, by stream, after `after`; at most one page. */
export async function knownCasesOf(
  readStore: Pick<ReadStore, 'find' | 'load'>,
  court: string,
  after: string | null,
): Promise<readonly KnownCase[]> {
  const found = await readStore.find<WatchedCase>({
    collection: WATCHED_CASES,
    equals: { court },
    limit: PAGE,
    ...(after === null ? {} : { after: { id: after } }),
  });
  return withHeads(readStore, found);
}

/** The cases that were asked for and that no source has shown, those wanted longest ago first. */
export async function* soughtCases(readStore: Pick<ReadStore, 'find'>): AsyncGenerator<SoughtCase> {
  const found = pages<WantedCase>(readStore, {
    collection: WANTED_CASES,
    order: { field: 'wantedAt', direction: 'ascending' },
    limit: PAGE,
  });
  for await (const page of found) {
    for (const { id, document } of page) {
      const court = findCourt(document.court);
      if (court) yield { ...document, stream: id, court };
    }
  }
}

async function* pages<Document>(
  readStore: Pick<ReadStore, 'find'>,
  query: Find & { readonly order: NonNullable<Find['order']> },
): AsyncGenerator<readonly Stored<Document>[]> {
  let after: Find['after'];
  for (;;) {
    const page = await readStore.find<Document>({ ...query, ...(after ? { after } : {}) });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (!last || page.length < query.limit) return;
    const value = (last.document as Record<string, unknown>)[query.order.field] as string;
    after = { value, id: last.id };
  }
}

async function withHeads(
  readStore: Pick<ReadStore, 'load'>,
  page: readonly Stored<WatchedCase>[],
): Promise<readonly KnownCase[]> {
  if (page.length === 0) return [];
  const heads = await readStore.load<CaseDocument>(
    CASES,
    page.map(({ id }) => id),
  );
  return page.flatMap(({ id, document }) => {
    const court = findCourt(document.court);
    // Its case document goes first when it is forgotten.
    const head = heads.get(id)?.document;
    if (!court || !head) return [];
    return [{ ...document, stream: id, court, closed: (head.header?.dateClosed ?? null) !== null }];
  });
}
