/** Callbacks as an operator's overview shows them. Counts end at a limit, so that they cost the same at any size. */
import { DELIVERY_TIMERS, PARTITIONS } from '../projections/deliveries.ts';
import { type Micros, toInstant } from '../runtime/instant.ts';
import type { FieldRange, ReadStore } from '../storage/read-store.ts';
import { type CallbackHost, callbackHosts, MOST_COUNTED, OVERDUE_AFTER } from './callback-hosts.ts';
import { oldestOverdue } from './delivery-standing.ts';
import { pausedHosts } from './operator-acts.ts';

export interface CallbackStatus {
  /** With an attempt to come; counted up to `MOST_COUNTED`, as the others are. */
  readonly open: number;
  /** Of these, due by now, and due for more than five minutes; without those that wait for a paused host. */
  readonly due: number;
  readonly overdue: number;
  /** How long the oldest of the due ones has waited; 0 if none is due. */
  readonly oldestOverdueSeconds: number;
  /** The hosts with the most open callbacks, and every paused one. */
  readonly hosts: readonly CallbackHost[];
  readonly moreHosts: boolean;
}

type Store = Pick<ReadStore, 'find' | 'count' | 'tally'>;

/** @param most how many hosts that are not paused */
export async function callbackStatus(readStore: Store, now: Micros, most: number): Promise<CallbackStatus> {
  const [open, due, { hosts, more }] = await Promise.all([
    readStore.count({ collection: DELIVERY_TIMERS, limit: MOST_COUNTED }),
    dueBy(readStore, now),
    callbackHosts(readStore, now, most),
  ]);
  // Usually nothing is due, and then nothing more needs to be asked.
  const [overdue, oldestOverdueSeconds] =
    due === 0 ? [0, 0] : await Promise.all([dueBy(readStore, now - OVERDUE_AFTER), oldestOverdue(readStore, now)]);
  const waiting = (of: 'due' | 'overdue') =>
    hosts.reduce((sum, host) => sum + (host.paused === null ? 0 : host[of]), 0);
  return {
    open,
    due: Math.max(0, due - waiting('due')),
    overdue: Math.max(0, overdue - waiting('overdue')),
    oldestOverdueSeconds,
    hosts,
    moreHosts: more,
  };
}

export interface HostStanding {
  /** Hosts whose callbacks an operator has paused. */
  readonly paused: number;
  /** Attempts due for more than five minutes, without those that wait for a paused host. */
  readonly overdue: number;
}

/** What metrics show of all hosts: without finding each of them, it costs the same at any number. */
export async function hostStanding(readStore: Pick<Store, 'find' | 'count'>, now: Micros): Promise<HostStanding> {
  const paused = await pausedHosts(readStore);
  const before = now - OVERDUE_AFTER;
  const range: FieldRange = { field: 'dueAt', upTo: toInstant(before) };
  let overdue = await dueBy(readStore, before);
  for (const origin of paused.keys()) {
    overdue -= await readStore.count({
      collection: DELIVERY_TIMERS,
      equals: { origin },
      range,
      limit: MOST_COUNTED,
    });
  }
  return { paused: paused.size, overdue: Math.max(0, overdue) };
}

/** Partition by partition, because the index of due times has the partition first. */
async function dueBy(readStore: Pick<Store, 'count'>, now: Micros): Promise<number> {
  const range: FieldRange = { field: 'dueAt', upTo: toInstant(now) };
  let sum = 0;
  for (let partition = 0; partition < PARTITIONS && sum < MOST_COUNTED; partition++) {
    const limit = MOST_COUNTED - sum;
    sum += await readStore.count({ collection: DELIVERY_TIMERS, equals: { partition }, range, limit });
  }
  return sum;
}
