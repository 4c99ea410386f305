/**
 * Where an unfinished look at a case is kept: its position in a cell, its pages as blobs (docs/design/sources.md#courtlistener).
 * A page is stored before the position that names it, so a crash loses at most one request.
 */
import { z } from 'zod';
import type { Court } from '../../courts/court.ts';
import { isJsonObject, type Json, type JsonObject } from '../../events/event.ts';
import { type Clock, Instant, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import type { BlobName, PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { CaseLook, listsOf } from './case-look.ts';
import type { ListName } from './kept-rows.ts';

export interface LookStorePorts {
  readonly readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>;
  readonly payloads: Pick<PayloadStore, 'put' | 'getMany' | 'remove' | 'list' | 'get'>;
  readonly clock: Clock;
}

/** Whether a case must be forgotten, by its court's code and its number. */
export type IsForgotten = (court: string, caseNumber: string) => Promise<boolean>;

export interface KeptLook {
  readonly cell: string;
  readonly version: number;
  /** Null if no look is unfinished. */
  readonly look: CaseLook | null;
}

export interface LookedPage {
  readonly docket: string;
  readonly list: ListName;
  /** When it was asked for. */
  readonly at: Instant;
  readonly rows: readonly JsonObject[];
}

const Page = z.object({
  look: z.string(),
  docket: z.string(),
  list: z.enum(['entries', 'documents', 'parties', 'attorneys']),
  at: Instant,
  rows: z.array(z.custom<JsonObject>(isJsonObject)),
});

const Kept = z.object({ look: CaseLook.nullable(), partiesAt: Instant.nullable(), at: Instant });

const CELL = /^courtlistener-look-([a-z0-9_]+)-(.+)$/;
const cellOf = (court: string, caseNumber: string): string => `courtlistener-look-${court}-${caseNumber}`;

/** A look that was not continued for this long is given up: its cursors mean little by then. */
const EXPIRED_AFTER: Micros = 30 * 86_400 * MICROS_PER_SECOND;
/** No look writes a page so much before its position. */
const ORPHANED_AFTER: Micros = 86_400 * MICROS_PER_SECOND;
const MOST_REMOVED = 2_000;

const NOTHING = { look: null, partiesAt: null } as const;

export function createLookStore({ readStore, payloads, clock }: LookStorePorts) {
  async function read(cell: string): Promise<KeptLook & { readonly partiesAt: Instant | null }> {
    const { version, value } = await readStore.cell(cell);
    const kept = Kept.safeParse(value);
    const isCurrent = kept.success && toMicros(kept.data.at) > clock.now() - EXPIRED_AFTER;
    const look = isCurrent ? kept.data.look : null;
    return { cell, version, look, partiesAt: kept.success ? kept.data.partiesAt : null };
  }

  /** Null if another process moved it meanwhile. */
  async function write(kept: KeptLook, look: CaseLook | null, partiesAt: Instant | null): Promise<KeptLook | null> {
    const value = { look, partiesAt, at: toInstant(clock.now()) } as unknown as JsonObject;
    const isWritten = await readStore.compareAndSet(kept.cell, kept.version, value);
    return isWritten ? { cell: kept.cell, version: kept.version + 1, look } : null;
  }

  const namesIn = (look: CaseLook | null): readonly BlobName[] =>
    look === null ? [] : listsOf(look).flatMap(({ list }) => list.pages);

  /**
   * Removes pages that no look names any longer: of a process that died, of looks that nobody continued, and of cases
   * that must be forgotten. Returns how many.
   */
  async function removeExpired(isForgotten: IsForgotten = async () => false, signal?: AbortSignal): Promise<number> {
    const named = new Map<string, ReadonlySet<BlobName>>();
    let removed = 0;
    for await (const { name } of payloads.list('look', toInstant(clock.now() - ORPHANED_AFTER))) {
      if (signal?.aborted || removed >= MOST_REMOVED) break;
      const page = await payloads.get(name).then(pageIn, () => null);
      if (page && !named.has(page.look)) named.set(page.look, new Set(await needed(page.look, isForgotten)));
      if (page && named.get(page.look)?.has(name)) continue;
      await payloads.remove(name);
      removed++;
    }
    return removed;
  }

  async function needed(cell: string, isForgotten: IsForgotten): Promise<readonly BlobName[]> {
    const [, court = '', caseNumber = ''] = CELL.exec(cell) ?? [];
    if (await isForgotten(court, caseNumber)) {
      await clear(cell);
      return [];
    }
    return namesIn((await read(cell)).look);
  }

  /** A look that is under way is overtaken: its position is written at a version, and nothing of it stays. */
  async function clear(cell: string): Promise<number> {
    for (;;) {
      const { version, value } = await readStore.cell(cell);
      if (version === 0) return 0;
      const kept = Kept.safeParse(value);
      const names = namesIn(kept.success ? kept.data.look : null);
      if (!(await readStore.compareAndSet(cell, version, { ...NOTHING, at: toInstant(clock.now()) }))) continue;
      for (const name of names) await payloads.remove(name);
      return names.length;
    }
  }

  return {
    of: (court: Court, caseNumber: string) => read(cellOf(court.code, caseNumber)),
    write,
    putPage: (kept: KeptLook, page: LookedPage): Promise<BlobName> =>
      payloads.put('look', Buffer.from(JSON.stringify({ look: kept.cell, ...page } as unknown as Json))),
    /** Null if one is missing: then the look has to begin again. */
    async pages(names: readonly BlobName[]): Promise<readonly LookedPage[] | null> {
      const found = await payloads.getMany(names);
      const pages = names.map((name) => pageIn(found.get(name) ?? null));
      return pages.every((page) => page !== null) ? pages : null;
    },
    async remove(names: readonly BlobName[]): Promise<void> {
      for (const name of names) await payloads.remove(name);
    },
    namesIn,
    removeExpired,
    /** Removes what a look at the case has kept, for a case that must be forgotten. Returns how many pages. */
    forget: (court: string, caseNumber: string): Promise<number> => clear(cellOf(court, caseNumber)),
  };
}

export type LookStore = ReturnType<typeof createLookStore>;

function pageIn(bytes: Buffer | null): (LookedPage & { readonly look: string }) | null {
  if (bytes === null) return null;
  try {
    const page = Page.safeParse(JSON.parse(bytes.toString('utf8')));
    return page.success ? page.data : null;
  } catch {
    return null;
  }
}
