/** What must be true of callbacks after any number of kills: the log and the receiver agree. */
import { expect } from 'vitest';
import type { MovedClock } from '../support/moved-clock.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { docket } from './agreement.ts';
import type { Hit } from './failing-receiver.ts';
import type { Stage } from './paid-load.ts';

const MOST_ATTEMPTS = 7;
const HOUR_MS = 3_600_000;

interface Started {
  readonly attempt: number;
  readonly startedAt: string;
}
/** What a delivery waits for. If it was due at once when it was recorded, it stays due wherever the clock is set. */
interface Wait {
  readonly since: string;
  readonly until: string;
}
interface Finished extends Started {
  readonly finishedAt: string;
  readonly outcome: 'acknowledged' | 'failed' | 'interrupted';
  readonly nextAttemptAt: string | null;
}

/** One delivery as its stream shows it. */
export interface LoggedDelivery {
  readonly deliveryId: string;
  readonly requestId: string;
  readonly createdAt: string;
  /** Each with what it waited for. */
  readonly started: (Started & { readonly waited: Wait })[];
  readonly finished: Finished[];
  /** How often a wait was rescheduled after the clock was set back. */
  rescheduled: number;
  /** The current wait; null if there is none. */
  wait: Wait | null;
}

interface EventLine {
  readonly stream: string;
  readonly type: string;
  readonly data: never;
}

/** Every delivery of the log, by its id, as an auditor reads it. */
export async function loggedDeliveries(stage: Stage): Promise<ReadonlyMap<string, LoggedDelivery>> {
  const deliveries = new Map<string, LoggedDelivery>();
  for (const { stream, type, data } of await eventsOf(stage, 'deliveries')) {
    const id = stream.slice('delivery-'.length);
    if (type === 'DeliveryScheduled') {
      expect(deliveries.has(id), `${id} is scheduled once`).toBe(false);
      deliveries.set(id, {
        ...(data as { deliveryId: string; requestId: string; createdAt: string }),
        started: [],
        finished: [],
        rescheduled: 0,
        wait: atOnce((data as { createdAt: string }).createdAt),
      });
    }
    const delivery = deliveries.get(id);
    if (delivery) follow(delivery, type, data);
  }
  return deliveries;
}

const atOnce = (at: string): Wait => ({ since: at, until: at });

function follow(delivery: LoggedDelivery, type: string, data: never): void {
  switch (type) {
    case 'DeliveryAttemptStarted': {
      const { startedAt, leaseUntil } = data as { startedAt: string; leaseUntil: string };
      if (!delivery.wait) throw new Error(`an attempt of ${delivery.deliveryId} began after the delivery had ended`);
      delivery.started.push({ ...(data as Started), waited: delivery.wait });
      delivery.wait = { since: startedAt, until: leaseUntil };
      break;
    }
    case 'DeliveryAttemptFinished': {
      const { finishedAt, nextAttemptAt } = data as Finished;
      delivery.finished.push(data);
      delivery.wait = nextAttemptAt === null ? null : { since: finishedAt, until: nextAttemptAt };
      break;
    }
    case 'DeliveryRescheduled': {
      const { rescheduledAt, dueAt, formerlyDueAt } = data as Record<string, string>;
      expect(formerlyDueAt).toBe(delivery.wait?.until);
      delivery.rescheduled += 1;
      delivery.wait = { since: `${rescheduledAt}`, until: `${dueAt}` };
      break;
    }
  }
}

/** Ids of the deliveries that settled payments owe, with the request of each. */
async function owedDeliveries(stage: Stage): Promise<ReadonlyMap<string, string>> {
  const owed = new Map<string, string>();
  for (const { type, data } of await eventsOf(stage, 'payments')) {
    if (type !== 'PaymentSettled' && type !== 'PaymentSettledLate') continue;
    const { requestId, owes } = data as { requestId: string; owes: { deliveries: string[] } | null };
    for (const id of owes?.deliveries ?? []) owed.set(id, requestId);
  }
  return owed;
}

async function eventsOf(stage: Stage, family: string): Promise<readonly EventLine[]> {
  const lines = await docket(['audit', 'replay', family, '--json'], stage.environment);
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as EventLine);
}

export interface EndedDeliveries {
  /** Ids of the deliveries that settled payments owe, with the request of each. */
  readonly owed: ReadonlyMap<string, string>;
  readonly deliveries: ReadonlyMap<string, LoggedDelivery>;
}

/** Lets the service's clock run ahead until every owed delivery has ended. */
export async function endedDeliveries(
  stage: Stage,
  service: RunningProcess,
  clock: MovedClock,
): Promise<EndedDeliveries> {
  const owed = await owedDeliveries(stage);
  let deliveries: ReadonlyMap<string, LoggedDelivery> = new Map();
  const haveEnded = async () => {
    clock.move(HOUR_MS);
    deliveries = await loggedDeliveries(stage);
    return deliveries.size === owed.size && [...deliveries.values()].every(isFinal);
  };
  await until('every owed delivery has ended', haveEnded, {
    process: service,
    within: 240_000,
    every: 2_000,
  });
  return { owed, deliveries };
}

/** Whether it will never be attempted again. */
const isFinal = ({ started, finished }: LoggedDelivery): boolean =>
  started.length === finished.length &&
  finished.at(-1)?.nextAttemptAt === null &&
  finished.at(-1)?.outcome !== 'interrupted';

/**
 * Fails unless no scheduled delivery is lost, no attempt is missing from the log, none was early, and a receiver saw
 * duplicates only of attempts that a kill interrupted, under one key and with the same bytes.
 * @param kills when the service was killed and restarted, by its own clock, milliseconds; null if that clock was set
 * back meanwhile, since times are then not comparable
 * @returns how many attempts were interrupted
 */
export function expectDeliveryAgreement(
  { deliveries, owed }: EndedDeliveries,
  hits: readonly Hit[],
  kills: readonly number[] | null,
): number {
  expect([...deliveries.keys()].sort()).toEqual([...owed.keys()].sort());
  const byKey = groupByKey(hits);
  for (const key of byKey.keys()) expect(deliveries.has(key), `${key} reached a receiver and is in the log`).toBe(true);
  let interruptions = 0;
  for (const [id, delivery] of deliveries) {
    const { started, finished, requestId } = delivery;
    expect(requestId).toBe(owed.get(id));
    expect(isFinal(delivery), `${id} has ended`).toBe(true);
    const interrupted = finished.filter(({ outcome }) => outcome === 'interrupted');
    const counted = finished.filter(({ outcome }) => outcome !== 'interrupted');
    interruptions += interrupted.length;
    // In order, each begun and ended, at most seven, and only the last may be acknowledged.
    expect(started.map(({ attempt }) => attempt)).toEqual(finished.map(({ attempt }) => attempt));
    expect(counted.map(({ attempt }) => attempt)).toEqual(counted.map((_, index) => index + 1));
    expect(counted.length).toBeLessThanOrEqual(MOST_ATTEMPTS);
    expect(counted.slice(0, -1).every(({ outcome }) => outcome === 'failed')).toBe(true);
    // None before it was due.
    for (const { startedAt, waited } of started) {
      const isDue = startedAt >= waited.until || (kills === null && waited.since === waited.until);
      expect(isDue, `${id}: ${startedAt} is not before ${waited.until}`).toBe(true);
    }
    // Only an attempt that was running at a kill is interrupted.
    for (const { startedAt, finishedAt } of kills === null ? [] : interrupted) {
      const [from, to] = [Date.parse(startedAt), Date.parse(finishedAt)];
      expect(
        kills?.some((kill) => from <= kill && kill <= to),
        `${id}: a kill between ${startedAt} and ${finishedAt}`,
      ).toBe(true);
    }
    const seen = byKey.get(id) ?? [];
    expect(seen.length, `${id}: every hit is an attempt of the log`).toBeLessThanOrEqual(started.length);
    const acknowledged = seen.filter(({ status }) => status === 204).length;
    expect(acknowledged, `${id}: duplicates are attempts in flight at a kill`).toBeLessThanOrEqual(
      1 + interrupted.length,
    );
    expect(new Set(seen.map(({ bodySha256 }) => bodySha256)).size).toBeLessThanOrEqual(1);
    for (const hit of seen) expect(hit.requestId).toBe(requestId);
  }
  return interruptions;
}

function groupByKey(hits: readonly Hit[]): ReadonlyMap<string, readonly Hit[]> {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.idempotencyKey, [...(groups.get(hit.idempotencyKey) ?? []), hit]);
  return groups;
}
