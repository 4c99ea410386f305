/**
 * The history of deliveries, newest first, a page at a time, in the same time for ten and for a million. Each page is
 * merged from a few walks along creation times, each of which an index serves alone: one for every status, since a
 * status is part of each index; and where only those are wanted that were attempted since some moment, one for every
 * span between creation and last attempt (`spanOf`), since each of these meets next to nothing else.
 */
import type { DeliveryStatus } from '../commands/delivery/delivery.ts';
import { DELIVERIES, type DeliveryRecord, LONGEST_SPAN, spanEnds } from '../projections/deliveries.ts';
import { type Instant, type Micros, toInstant, toMicros } from '../runtime/instant.ts';
import type { FieldRange, ReadStore, Scalar } from '../storage/read-store.ts';

export interface DeliveryFilter {
  /** Null: of all wallets, for operators. */
  readonly wallet: string | null;
  readonly status: DeliveryStatus | null;
  /** As `courtKey` gives it. */
  readonly court: string | null;
  /** Canonical. */
  readonly caseNumber: string | null;
  /** Only those whose last attempt began after this. */
  readonly attemptedAfter: Instant | null;
}

/** Where a page ended: the next one goes on behind it, whatever was added or has changed meanwhile. */
export interface DeliveryPlace {
  readonly createdAt: Instant;
  readonly deliveryId: string;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryRecord[];
  /** Null where nothing follows. */
  readonly next: DeliveryPlace | null;
}

type Store = Pick<ReadStore, 'find'>;

/** In the order in which a delivery takes them on, so that one which moves on between two looks is met all the same. */
const STATUSES: readonly DeliveryStatus[] = ['pending', 'retrying', 'failed', 'succeeded'];
const SPANS: readonly number[] = Array.from({ length: LONGEST_SPAN }, (_, index) => index + 1);

/** One page of the deliveries that pass the filter. */
export async function findDeliveries(
  readStore: Store,
  filter: DeliveryFilter,
  { limit, after }: { readonly limit: number; readonly after: DeliveryPlace | null },
): Promise<DeliveryPage> {
  const found: DeliveryRecord[] = [];
  for (const stretch of stretchesOf(filter)) {
    const walks = stretch.map((walk) => new Walk(readStore, filter, walk, { pageSize: limit + 1, after }));
    // One after the other, in their order.
    for (const walk of walks) await walk.begin();
    while (found.length <= limit) {
      const delivery = await takeNewest(walks);
      if (delivery === null) break;
      if (delivery.deliveryId !== found.at(-1)?.deliveryId) found.push(delivery);
    }
    if (found.length > limit) break;
  }
  const deliveries = found.slice(0, limit);
  const last = deliveries.at(-1);
  const next = found.length > limit && last ? { createdAt: last.createdAt, deliveryId: last.deliveryId } : null;
  return { deliveries, next };
}

interface WalkAlong {
  readonly equals: Readonly<Record<string, Scalar>>;
  readonly range?: FieldRange;
}

/** The walks to merge; those of a later stretch find only what is older than all of the stretch before. */
function stretchesOf(filter: DeliveryFilter): readonly (readonly WalkAlong[])[] {
  const { attemptedAfter } = filter;
  const wallet = filter.wallet === null ? {} : { wallet: filter.wallet };
  // With a case's number a court hardly narrows any further: then it is looked at and not searched by.
  const place =
    filter.caseNumber !== null
      ? { caseNumber: filter.caseNumber }
      : filter.court !== null
        ? { court: filter.court }
        : {};
  const statuses = filter.status === null ? STATUSES : [filter.status];
  const byStatus = statuses.map((status) => ({ equals: { ...wallet, ...place, status } }));
  if (attemptedAfter === null) return [byStatus];
  const since = toMicros(attemptedAfter);
  return [
    byStatus.map((walk) => ({ ...walk, range: { field: 'createdAt', above: attemptedAfter } })),
    SPANS.map((span) => ({
      equals: { ...wallet, span },
      range: { field: 'createdAt', ...earliest(since - spanEnds(span)), upTo: attemptedAfter },
    })),
  ];
}

const earliest = (micros: Micros): { readonly above?: Instant } => (micros > 0 ? { above: toInstant(micros) } : {});

function passes(record: DeliveryRecord, { status, court, caseNumber, attemptedAfter }: DeliveryFilter): boolean {
  return (
    (status === null || record.status === status) &&
    (court === null || record.court === court) &&
    (caseNumber === null || record.caseNumber === caseNumber) &&
    (attemptedAfter === null || (record.lastAttemptAt !== null && record.lastAttemptAt > attemptedAfter))
  );
}

/** Takes the newest of what the walks have next. */
async function takeNewest(walks: readonly Walk[]): Promise<DeliveryRecord | null> {
  let newest: Walk | null = null;
  for (const walk of walks) {
    if (walk.next && (!newest?.next || isNewer(walk.next, newest.next))) newest = walk;
  }
  if (!newest) return null;
  const { next } = newest;
  await newest.step();
  return next;
}

const isNewer = (a: DeliveryRecord, b: DeliveryRecord): boolean =>
  a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.deliveryId > b.deliveryId);

/**
 * The range of a walk from a place on. That place bounds it by itself too, though nothing is left out by that: an engine
 * may see in a bound alone where to begin in its index.
 */
function within(range: FieldRange | undefined, after: DeliveryPlace | null): { readonly range?: FieldRange } {
  if (!after) return range ? { range } : {};
  const { upTo } = range ?? {};
  const bound = typeof upTo === 'string' && upTo < after.createdAt ? upTo : after.createdAt;
  return { range: { field: 'createdAt', ...range, upTo: bound } };
}

/** Deliveries along their creation times, newest first, fetched as they are needed. */
class Walk {
  readonly #readStore: Store;
  readonly #filter: DeliveryFilter;
  readonly #along: WalkAlong;
  readonly #pageSize: number;
  #after: DeliveryPlace | null;
  #page: DeliveryRecord[] = [];
  #ended = false;

  constructor(
    readStore: Store,
    filter: DeliveryFilter,
    along: WalkAlong,
    { pageSize, after }: { readonly pageSize: number; readonly after: DeliveryPlace | null },
  ) {
    this.#readStore = readStore;
    this.#filter = filter;
    this.#along = along;
    this.#pageSize = pageSize;
    this.#after = after;
  }

  /** What it has next; null at its end. */
  get next(): DeliveryRecord | null {
    return this.#page[0] ?? null;
  }

  begin(): Promise<void> {
    return this.#fill();
  }

  async step(): Promise<void> {
    this.#page.shift();
    await this.#fill();
  }

  async #fill(): Promise<void> {
    while (this.#page.length === 0 && !this.#ended) {
      const after = this.#after;
      const rows = await this.#readStore.find<DeliveryRecord>({
        collection: DELIVERIES,
        equals: this.#along.equals,
        ...within(this.#along.range, after),
        order: { field: 'createdAt', direction: 'descending' },
        limit: this.#pageSize,
        ...(after && { after: { value: after.createdAt, id: after.deliveryId } }),
      });
      this.#ended = rows.length < this.#pageSize;
      const last = rows.at(-1)?.document;
      if (last) this.#after = { createdAt: last.createdAt, deliveryId: last.deliveryId };
      this.#page = rows.map(({ document }) => document).filter((record) => passes(record, this.#filter));
    }
  }
}
