/**
 * The history of deliveries in pages, newest first, merged from one walk along creation times per status. With
 * "attempted since", there is one walk per span between creation and last attempt (`spanOf`). An index serves each, so
 * a page takes the same time among ten deliveries or a million.
 */
import type { DeliveryStatus } from '../commands/delivery/delivery.ts';
import type { FailureClass } from '../events/failure-class.ts';
import { DELIVERIES, type DeliveryRecord, LONGEST_SPAN, spanEnds } from '../projections/deliveries.ts';
import { type Instant, type Micros, toInstant, toMicros } from '../runtime/instant.ts';
import type { FieldRange, ReadStore, Scalar } from '../storage/read-store.ts';

export interface DeliveryFilter {
  /** Null: all wallets, for operators. */
  readonly wallet: string | null;
  /** Null: all. */
  readonly status: DeliveryStatus | readonly DeliveryStatus[] | null;
  /** As returned by `courtKey`. */
  readonly court: string | null;
  /** Canonical. */
  readonly caseNumber: string | null;
  /** Only deliveries whose last attempt started after this. */
  readonly attemptedAfter: Instant | null;
  /** For operators: scheme, host and port of the receiver. */
  readonly origin?: string | null;
  /** For operators: of the last attempt. */
  readonly failureClass?: FailureClass | null;
  /** For operators: when it was created, both ends included. Only without `attemptedAfter`. */
  readonly created?: { readonly from?: Instant; readonly upTo?: Instant } | null;
}

/** Where a page ended. The next one continues after it, even if deliveries were added or changed meanwhile. */
export interface DeliveryPlace {
  readonly createdAt: Instant;
  readonly deliveryId: string;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryRecord[];
  /** Null on the last page. */
  readonly next: DeliveryPlace | null;
}

type Store = Pick<ReadStore, 'find'>;

/** In the order of a delivery's life, so that one that changes between two reads is still found. */
const STATUSES: readonly DeliveryStatus[] = ['pending', 'retrying', 'failed', 'cancelled', 'succeeded'];
const SPANS: readonly number[] = Array.from({ length: LONGEST_SPAN }, (_, index) => index + 1);

/** One page of the deliveries that match the filter. */
export async function findDeliveries(
  readStore: Store,
  filter: DeliveryFilter,
  { limit, after }: { readonly limit: number; readonly after: DeliveryPlace | null },
): Promise<DeliveryPage> {
  const found: DeliveryRecord[] = [];
  for (const stretch of stretchesOf(filter)) {
    const walks = stretch.map((walk) => new Walk(readStore, filter, walk, { pageSize: limit + 1, after }));
    // One after the other, in this order.
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

/** The walks to merge. Walks of a later stretch find only deliveries older than all of the earlier stretches. */
function stretchesOf(filter: DeliveryFilter): readonly (readonly WalkAlong[])[] {
  const { attemptedAfter } = filter;
  const wallet = {
    ...(filter.wallet !== null && { wallet: filter.wallet }),
    ...(filter.origin && { origin: filter.origin }),
  };
  // A case number is already selective, so the court is then filtered and not searched by.
  const place =
    filter.caseNumber !== null
      ? { caseNumber: filter.caseNumber }
      : filter.court !== null
        ? { court: filter.court }
        : {};
  const byStatus = (statusesOf(filter) ?? STATUSES).map((status) => ({ equals: { ...wallet, ...place, status } }));
  if (attemptedAfter === null) {
    const { created } = filter;
    return [created ? byStatus.map((walk) => ({ ...walk, range: { field: 'createdAt', ...created } })) : byStatus];
  }
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

const statusesOf = ({ status }: DeliveryFilter): readonly DeliveryStatus[] | null =>
  typeof status === 'string' ? [status] : status;

function passes(record: DeliveryRecord, filter: DeliveryFilter): boolean {
  const { court, caseNumber, attemptedAfter, origin = null, failureClass = null } = filter;
  const statuses = statusesOf(filter);
  return (
    (statuses === null || statuses.includes(record.status)) &&
    (origin === null || record.origin === origin) &&
    (failureClass === null || record.attemptLog.at(-1)?.failureClass === failureClass) &&
    (court === null || record.court === court) &&
    (caseNumber === null || record.caseNumber === caseNumber) &&
    (attemptedAfter === null || (record.lastAttemptAt !== null && record.lastAttemptAt > attemptedAfter))
  );
}

/** Removes the newest of the walks' next deliveries. */
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
 * The range of a walk after a place. The place is also given as a bound, although it excludes nothing more: some engines
 * find the start in their index only from a bound.
 */
function within(range: FieldRange | undefined, after: DeliveryPlace | null): { readonly range?: FieldRange } {
  if (!after) return range ? { range } : {};
  const { upTo } = range ?? {};
  const bound = typeof upTo === 'string' && upTo < after.createdAt ? upTo : after.createdAt;
  return { range: { field: 'createdAt', ...range, upTo: bound } };
}

/** Deliveries along their creation times, newest first, read as needed. */
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

  /** Its next delivery; null at the end. */
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
