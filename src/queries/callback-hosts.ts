/**
 * The callbacks of each host, for operators: what is open, due and overdue, how it fared lately, and whether it is
 * paused. Finding the hosts walks one index of the open callbacks, so only commands use it, and no request.
 */
import type { DeliveryStatus } from '../commands/delivery/delivery.ts';
import type { FailureClass } from '../events/failure-class.ts';
import { DELIVERIES, DELIVERY_TIMERS, type DeliveryRecord, type DeliveryTimer } from '../projections/deliveries.ts';
import type { PausedHost } from '../projections/operator-acts.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import type { FieldRange, ReadStore } from '../storage/read-store.ts';
import { pausedHosts } from './operator-acts.ts';

export interface CallbackHost {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Callbacks with an attempt to come, redeliveries included. */
  readonly open: number;
  /** Of these, due by now, and due for more than five minutes; counted up to `MOST_COUNTED`. */
  readonly due: number;
  readonly overdue: number;
  /** When the oldest of the due ones was due; null if none is. */
  readonly oldestDueAt: Instant | null;
  /** How the newest attempted callback ended; null if none was attempted. */
  readonly lastOutcome: HostOutcome | null;
  /** Callbacks of the last seven days that were acknowledged, and that were attempted without success. */
  readonly acknowledged: number;
  readonly unsuccessful: number;
  /** Since when, by whom and why; null if it is not paused. */
  readonly paused: Pick<PausedHost, 'since' | 'by' | 'reason'> | null;
}

export interface HostOutcome {
  readonly at: Instant;
  /** Null: acknowledged. */
  readonly failureClass: FailureClass | null;
  readonly responseCode: number | null;
}

export interface CallbackHosts {
  /** Paused ones first, then by what is open. */
  readonly hosts: readonly CallbackHost[];
  /** Whether more hosts have open callbacks than are listed. */
  readonly more: boolean;
}

/** Counting stops here. */
export const MOST_COUNTED = 100_000;
export const OVERDUE_AFTER: Micros = 300 * MICROS_PER_SECOND;
const RECENT: Micros = 7 * 86_400 * MICROS_PER_SECOND;
/** The statuses of callbacks that were attempted. */
const ATTEMPTED: readonly DeliveryStatus[] = ['succeeded', 'failed', 'retrying'];

type Store = Pick<ReadStore, 'find' | 'count' | 'tally'>;

/** The hosts with the most open callbacks, and all paused ones. @param most how many that are not paused */
export async function callbackHosts(readStore: Store, now: Micros, most: number): Promise<CallbackHosts> {
  const paused = await pausedHosts(readStore);
  // Paused ones may be among the first, and are listed anyway.
  const open = await readStore.tally({ collection: DELIVERY_TIMERS, by: 'origin', limit: most + paused.size + 1 });
  const others = open.filter(({ value }) => !paused.has(value));
  const origins = [...paused.keys(), ...others.slice(0, most).map(({ value }) => value)];
  const counts = new Map(open.map(({ value, count }) => [value, count]));
  const hosts: CallbackHost[] = [];
  for (const origin of origins) {
    hosts.push(await callbackHost(readStore, now, origin, { open: counts.get(origin), paused: paused.get(origin) }));
  }
  return { hosts, more: others.length > most };
}

/** One host. @param known what is known about it already, to save a look-up */
export async function callbackHost(
  readStore: Pick<Store, 'find' | 'count'>,
  now: Micros,
  origin: string,
  known: { readonly open?: number | undefined; readonly paused?: PausedHost | undefined },
): Promise<CallbackHost> {
  const timers = (range?: Omit<FieldRange, 'field'>) =>
    readStore.count({
      collection: DELIVERY_TIMERS,
      equals: { origin },
      ...(range && { range: { field: 'dueAt', ...range } }),
      limit: MOST_COUNTED,
    });
  const since = toInstant(now - RECENT);
  const lately = (status: DeliveryStatus) =>
    readStore.count({
      collection: DELIVERIES,
      equals: { origin, status },
      range: { field: 'createdAt', from: since },
      limit: MOST_COUNTED,
    });
  const [open, due, overdue, oldest, newest, acknowledged, failed, retrying] = await Promise.all([
    known.open ?? timers(),
    timers({ upTo: toInstant(now) }),
    timers({ upTo: toInstant(now - OVERDUE_AFTER) }),
    readStore.find<DeliveryTimer>({
      collection: DELIVERY_TIMERS,
      equals: { origin },
      range: { field: 'dueAt', upTo: toInstant(now) },
      order: { field: 'dueAt', direction: 'ascending' },
      limit: 1,
    }),
    newestAttempted(readStore, origin),
    lately('succeeded'),
    lately('failed'),
    lately('retrying'),
  ]);
  const { since: pausedSince, by, reason } = known.paused ?? {};
  return {
    origin,
    open,
    due,
    overdue,
    oldestDueAt: oldest[0]?.document.dueAt ?? null,
    lastOutcome: newest && outcomeOf(newest),
    acknowledged,
    unsuccessful: failed + retrying,
    paused: pausedSince && by && reason ? { since: pausedSince, by, reason } : null,
  };
}

/** The delivery that was attempted last among the newest of each status. */
async function newestAttempted(readStore: Pick<Store, 'find'>, origin: string): Promise<DeliveryRecord | null> {
  const newest = await Promise.all(
    ATTEMPTED.map((status) =>
      readStore.find<DeliveryRecord>({
        collection: DELIVERIES,
        equals: { origin, status },
        order: { field: 'createdAt', direction: 'descending' },
        limit: 1,
      }),
    ),
  );
  const attempted = newest.flat().map(({ document }) => document);
  const at = ({ lastAttemptAt }: DeliveryRecord): string => lastAttemptAt ?? '';
  return attempted.reduce<DeliveryRecord | null>((last, one) => (last && at(last) >= at(one) ? last : one), null);
}

function outcomeOf({ attemptLog }: DeliveryRecord): HostOutcome | null {
  const last = attemptLog.at(-1);
  if (!last) return null;
  const { startedAt: at, failureClass, responseCode } = last;
  return { at, failureClass, responseCode };
}
