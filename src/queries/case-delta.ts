/**
 * What is new since a caller last looked: `last_checked < available_at ≤ the newest time in the case document`. One
 * query with one filter over an index, so its cost grows with the number of new filings, not with the docket.
 */
import { FILINGS, type FilingDocument } from '../dockets/case-document.ts';
import type { FilingType } from '../dockets/filing-type.ts';
import type { JsonObject } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { FieldRange, QueryStore } from '../storage/read-store.ts';
import { filingAnswer } from './filing-answer.ts';

export interface DeltaQuery {
  readonly stream: string;
  readonly timeZone: string;
  /** Exclusive. */
  readonly after: Instant;
  /** Inclusive: the newest time in the case document; null for a case without filings. */
  readonly upTo: Instant | null;
  readonly filingTypes: readonly FilingType[] | null;
  /** Bytes of JSON that the filings may fill. */
  readonly budget: number;
}

export interface Delta {
  /** All new filings, including those that did not fit. */
  readonly changeCount: number;
  readonly newFilings: readonly JsonObject[];
  readonly updatedFilings: readonly JsonObject[];
  /** `available_at` of the newest new filing, even if it did not fit. */
  readonly latestNewAt: Instant | null;
  /** Where the next query continues if not everything fitted; null if it did. */
  readonly cutAt: Instant | null;
  readonly bytes: number;
}

const NOTHING: Delta = { changeCount: 0, newFilings: [], updatedFilings: [], latestNewAt: null, cutAt: null, bytes: 0 };
const PAGE = 500;

export async function readDelta(readStore: QueryStore, query: DeltaQuery): Promise<Delta> {
  if (query.upTo === null || query.upTo <= query.after) return NOTHING;
  const fresh = await collect(readStore, query, 'availableAt', true);
  const updated = await collect(readStore, query, 'revisedAt', false);
  const items = [...fresh.items, ...updated.items].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const kept: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const omitted = [fresh.firstOmitted, updated.firstOmitted].some((time) => time !== null && item.time >= time);
    if (omitted || (bytes + item.bytes > query.budget && kept.length > 0)) break;
    kept.push(item);
    bytes += item.bytes;
  }
  const cut = kept.length < items.length || fresh.firstOmitted !== null || updated.firstOmitted !== null;
  if (cut) endOnNewFiling(kept);
  return {
    changeCount: fresh.count,
    newFilings: kept.filter(({ isNew }) => isNew).map(({ filing }) => filing),
    updatedFilings: kept.filter(({ isNew }) => !isNew).map(({ filing }) => filing),
    latestNewAt: fresh.newest,
    cutAt: cut ? (kept.at(-1)?.time ?? null) : null,
    bytes,
  };
}

/** A truncated delta ends with a new filing if it has one: the next query continues at its `available_at`. */
function endOnNewFiling(kept: Item[]): void {
  if (!kept.some(({ isNew }) => isNew)) return;
  while (kept.at(-1)?.isNew === false) kept.pop();
}

/** The number of new filings and the time of the newest, without reading their texts. */
export async function countNew(
  readStore: QueryStore,
  query: Omit<DeltaQuery, 'budget'>,
): Promise<Pick<Delta, 'changeCount' | 'latestNewAt'>> {
  const { changeCount, latestNewAt } = await readDelta(readStore, { ...query, budget: 0 });
  return { changeCount, latestNewAt };
}

interface Item {
  readonly time: Instant;
  readonly isNew: boolean;
  readonly filing: JsonObject;
  readonly bytes: number;
}

interface Collected {
  readonly items: readonly Item[];
  /** Time of the first filing that did not fit; null if all did. */
  readonly firstOmitted: Instant | null;
  readonly count: number;
  readonly newest: Instant | null;
}

async function collect(
  readStore: QueryStore,
  query: DeltaQuery,
  field: 'availableAt' | 'revisedAt',
  isNew: boolean,
): Promise<Collected> {
  const { stream, after, upTo, filingTypes, budget } = query;
  const range: FieldRange = { field, above: after, ...(upTo === null ? {} : { upTo }) };
  const base = { collection: FILINGS, equals: { case: stream }, range };
  const items: Item[] = [];
  let bytes = 0;
  let count = 0;
  let firstOmitted: Instant | null = null;
  let newest: Instant | null = null;
  let last: { readonly value: string; readonly id: string } | null = null;
  for (;;) {
    const page: readonly { readonly id: string; readonly document: FilingDocument }[] =
      await readStore.find<FilingDocument>({
        ...base,
        order: { field, direction: 'ascending' },
        limit: PAGE,
        ...(last === null ? {} : { after: last }),
      });
    for (const { id, document } of page) {
      const time = document[field];
      if (time === null) continue;
      last = { value: time, id };
      // A filing that is new to the caller appears once, in its current form, however often it was revised since.
      if (!isNew && document.availableAt > after) continue;
      if (filingTypes !== null && !document.filingTypes.some((type) => filingTypes.includes(type))) continue;
      count++;
      newest = time;
      if (firstOmitted !== null) continue;
      const filing = filingAnswer(document, query.timeZone);
      const size = Buffer.byteLength(JSON.stringify(filing)) + 1;
      if (bytes + size > budget && items.length > 0) firstOmitted = time;
      else {
        items.push({ time, isNew, filing, bytes: size });
        bytes += size;
      }
    }
    if (page.length < PAGE) break;
    if (firstOmitted !== null && !isNew) break;
    if (firstOmitted !== null && filingTypes === null) {
      count = await readStore.count(base);
      newest = (await newestOf(readStore, base, field)) ?? newest;
      break;
    }
  }
  return { items, firstOmitted, count, newest };
}

async function newestOf(
  readStore: QueryStore,
  base: { readonly collection: string; readonly equals: Readonly<Record<string, string>>; readonly range: FieldRange },
  field: 'availableAt' | 'revisedAt',
): Promise<Instant | null> {
  const [newest] = await readStore.find<FilingDocument>({
    ...base,
    order: { field, direction: 'descending' },
    limit: 1,
  });
  return newest?.document[field] ?? null;
}
