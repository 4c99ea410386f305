/** The overall state of callback deliveries, for operators. What waits for a paused host is not late. */
import type { DeliveryStatus } from '../commands/delivery/delivery.ts';
import { DELIVERIES, DELIVERY_TIMERS, type DeliveryTimer, PARTITIONS } from '../projections/deliveries.ts';
import { MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../runtime/instant.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import type { ReadStore, Stored } from '../storage/read-store.ts';
import { pausedHosts } from './operator-acts.ts';
import { PausedPrefix, type TimerPlace } from './paused-prefix.ts';

/** Counting stops here, so that the query always takes the same few milliseconds. */
export const MOST_COUNTED = 100_000;

/** One call passes over at most this many callbacks of a partition. */
const PAGE = 250;
const MOST_PAGES = 4;

export interface DeliveryStanding {
  /** Before their first attempt; `MOST_COUNTED` means that many or more. */
  readonly pending: number;
  /** After a failed attempt, with another to come; counted up to the same limit. */
  readonly retrying: number;
  /** How long the oldest due attempt has been waiting, seconds; 0 if none is due. */
  readonly oldestOverdueSeconds: number;
}

type Store = Pick<ReadStore, 'find' | 'count'>;

/** @param passed what earlier calls have passed over, so that this one need not; nothing if omitted */
export async function deliveryStanding(
  readStore: Store,
  now: Micros,
  passed = new PassedOver(),
): Promise<DeliveryStanding> {
  const having = (status: DeliveryStatus) =>
    readStore.count({ collection: DELIVERIES, equals: { status }, limit: MOST_COUNTED });
  const [pending, retrying, oldestOverdueSeconds] = await Promise.all([
    having('pending'),
    having('retrying'),
    oldestOverdue(readStore, now, passed),
  ]);
  return { pending, retrying, oldestOverdueSeconds };
}

/** What walks along due times have passed over, because it belongs to paused hosts. */
export class PassedOver {
  readonly prefix = new PausedPrefix(steadyClock, 3_600 * MICROS_PER_SECOND);
  #paused: ReadonlySet<string> = new Set();

  /** Notes which hosts are paused. If one was resumed, its callbacks count again. */
  note(paused: ReadonlySet<string>): void {
    if ([...this.#paused].some((origin) => !paused.has(origin))) this.prefix.clear();
    this.#paused = paused;
  }
}

/**
 * How long the oldest due attempt has been waiting, seconds; 0 if none is due. Callbacks to paused hosts do not count.
 * With very many of those, the first calls may find nothing yet: each passes over some, and remembers it.
 */
export async function oldestOverdue(
  readStore: Pick<ReadStore, 'find'>,
  now: Micros,
  passed = new PassedOver(),
): Promise<number> {
  const paused = new Set((await pausedHosts(readStore)).keys());
  passed.note(paused);
  const first = await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) => firstDue(readStore, now, partition, paused, passed.prefix)),
  );
  const due = first.filter((dueAt) => dueAt !== null);
  return due.length === 0 ? 0 : (now - Math.min(...due)) / MICROS_PER_SECOND;
}

async function firstDue(
  readStore: Pick<ReadStore, 'find'>,
  now: Micros,
  partition: number,
  paused: ReadonlySet<string>,
  prefix: PausedPrefix,
): Promise<Micros | null> {
  const walk = prefix.walk(partition);
  let after: TimerPlace | undefined = walk.from;
  for (let page = 0; page < MOST_PAGES; page++) {
    // Mostly the first one counts.
    const limit = page === 0 ? 1 : PAGE;
    const rows: readonly Stored<DeliveryTimer>[] = await readStore.find<DeliveryTimer>({
      collection: DELIVERY_TIMERS,
      equals: { partition },
      range: { field: 'dueAt', upTo: toInstant(now), ...(after && { from: after.value }) },
      order: { field: 'dueAt', direction: 'ascending' },
      limit,
      ...(after && { after: { value: after.value, id: after.id } }),
    });
    for (const { id, document } of rows) {
      if (!paused.has(document.origin)) return toMicros(document.dueAt);
      after = { value: document.dueAt, id };
      walk.extend(after, now);
    }
    if (rows.length < limit) return null;
  }
  return null;
}
