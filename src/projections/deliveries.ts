/**
 * Read models of callbacks: what became of each delivery, for the wallet that paid for it and for operators; and when
 * something is to be done for those that are not over, for the process that does it.
 */
import { createHash } from 'node:crypto';
import { unreachable } from '../commands/decider.ts';
import { type DeliveryStatus, statusAfterFailure } from '../commands/delivery/delivery.ts';
import {
  DeliveryAttemptFinished,
  type DeliveryAttemptStarted,
  type DeliveryEvent,
  DeliveryRedeliveryRequested,
  DeliveryRescheduled,
  DeliveryScheduled,
  deliveryOf,
} from '../events/delivery.ts';
import type { EventOf, JsonObject } from '../events/event.ts';
import type { FailureClass } from '../events/failure-class.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { Projection } from './projection.ts';

export const DELIVERIES = 'deliveries';
export const DELIVERY_TIMERS = 'delivery-timers';

/**
 * Deliveries are shared among nodes by their wallets, in so many parts
 * (docs/design/architecture.md#growing-past-one-machine).
 */
export const PARTITIONS = 16;

export const partitionOf = (wallet: string): number =>
  (createHash('sha256').update(wallet).digest()[0] ?? 0) % PARTITIONS;

export type LoggedAttempt = {
  readonly attempt: number;
  readonly redelivery: boolean;
  readonly startedAt: Instant;
  readonly durationMs: number | null;
  readonly responseCode: number | null;
  readonly failureClass: FailureClass | null;
  readonly keyId: string;
};

export type DeliveryRecord = {
  /** Also its Idempotency-Key, and the document's id. */
  readonly deliveryId: string;
  readonly wallet: string;
  readonly requestId: string;
  readonly caseId: string | null;
  readonly courtCode: string | null;
  /** What is searched by: the court's code in its own letter case, the case's number in its canonical form. */
  readonly court: string | null;
  readonly caseNumber: string | null;
  /** Name of the blob that holds the URL. */
  readonly target: string;
  readonly origin: string;
  readonly status: DeliveryStatus;
  /** Of the seven. */
  readonly attempts: number;
  readonly createdAt: Instant;
  readonly firstAttemptAt: Instant | null;
  readonly lastAttemptAt: Instant | null;
  readonly nextAttemptAt: Instant | null;
  readonly lastResponseCode: number | null;
  /** How long after its creation the last attempt began: see `spanOf`. Null while there was none, or one at once. */
  readonly span: number | null;
  /** Oldest first; of very many redeliveries the newest. */
  readonly attemptLog: readonly LoggedAttempt[];
};

/** When something is to be done for a delivery. Gone once it is over. */
export type DeliveryTimer = {
  readonly partition: number;
  readonly dueAt: Instant;
  /** When the wait for it began. One that began in the future was timed by a clock that has since been set back. */
  readonly since: Instant;
  readonly wallet: string;
  readonly origin: string;
  /** When the schedule goes on, and since when it waits for that. */
  readonly scheduledFor: Instant | null;
  readonly scheduledSince: Instant | null;
  /** When a redelivery was asked for that has no outcome yet. */
  readonly askedAt: Instant | null;
};

/** A receiver that an operator tries again and again must not make a document grow for ever. */
const MOST_LOGGED = 200;

const MINUTE: Micros = 60 * MICROS_PER_SECOND;

/**
 * Where spans end, minutes. Between them lie, in bands that are narrow, the times at which the schedule makes its
 * attempts when each of them takes its time and its jitter: 3, 12, 39, 120, 363 and 1,092 minutes.
 */
const SPAN_ENDS = [1, 2.9, 3.5, 11.9, 14, 38.9, 44, 119, 132, 362, 390, 1_091, 1_170, 2_400, 4_800, 9_600, 50_000];

/** The longest span has no end: everything later belongs to it. */
export const LONGEST_SPAN = SPAN_ENDS.length;

/** Up to how long after the creation a last attempt of this span began; of the longest, for ever. */
export const spanEnds = (span: number): Micros => Math.round((SPAN_ENDS[span] ?? Number.POSITIVE_INFINITY) * MINUTE);

/**
 * How long after its creation a delivery was attempted last, in steps: with it, "attempted since" is a few walks along
 * creation times that meet little else, instead of one through everything (`delivery-history.ts`). Null within the
 * first minute: such a one was attempted when it was created.
 */
export function spanOf(createdAt: Instant, lastAttemptAt: Instant): number | null {
  const late = toMicros(lastAttemptAt) - toMicros(createdAt);
  const span = SPAN_ENDS.findIndex((_, index) => late <= spanEnds(index));
  return span === 0 ? null : span === -1 ? LONGEST_SPAN : span;
}

/** A court's code as it is searched by, however it was typed. */
export const courtKey = (sent: string): string => sent.trim().toLowerCase();

type FoldedEvent = Exclude<DeliveryEvent, EventOf<typeof DeliveryAttemptStarted>>;

/** An attempt that has begun changes nothing here: it stays due, so that whoever takes over finds it. */
export const deliveries: Projection<FoldedEvent> = {
  name: DELIVERIES,
  events: [DeliveryScheduled, DeliveryAttemptFinished, DeliveryRedeliveryRequested, DeliveryRescheduled],
  collections: [
    {
      name: DELIVERIES,
      indexes: [
        ['wallet', 'status', 'createdAt'],
        ['wallet', 'court', 'status', 'createdAt'],
        ['wallet', 'caseNumber', 'status', 'createdAt'],
        ['wallet', 'span', 'createdAt'],
        ['status', 'createdAt'],
      ],
    },
    {
      name: DELIVERY_TIMERS,
      indexes: [
        ['partition', 'dueAt'],
        ['partition', 'since'],
      ],
    },
  ],

  targets({ recorded }) {
    const id = deliveryOf(recorded.stream);
    if (id === null) return [];
    return [
      { collection: DELIVERIES, id },
      { collection: DELIVERY_TIMERS, id },
    ];
  },

  fold({ collection }, document, { event }) {
    if (collection === DELIVERY_TIMERS) return timer(document as DeliveryTimer | null, event);
    if (event.type === 'DeliveryScheduled') return scheduled(event);
    return document === null ? null : changed(document as DeliveryRecord, event);
  },
};

function scheduled({ data }: EventOf<typeof DeliveryScheduled>): DeliveryRecord {
  return {
    deliveryId: data.deliveryId,
    wallet: data.wallet,
    requestId: data.requestId,
    caseId: data.caseId,
    courtCode: data.courtCode,
    court: data.courtCode && courtKey(data.courtCode),
    caseNumber: data.caseNumber,
    target: data.target,
    origin: data.origin,
    status: 'pending',
    attempts: 0,
    createdAt: data.createdAt,
    firstAttemptAt: null,
    lastAttemptAt: null,
    nextAttemptAt: data.createdAt,
    lastResponseCode: null,
    span: null,
    attemptLog: [],
  };
}

function changed(record: DeliveryRecord, event: Exclude<FoldedEvent, { type: 'DeliveryScheduled' }>): JsonObject {
  switch (event.type) {
    case 'DeliveryAttemptFinished': {
      const { attempt, redelivery, startedAt, durationMs, responseCode, failureClass, keyId } = event.data;
      const { outcome, nextAttemptAt } = event.data;
      const attempts = redelivery || outcome === 'interrupted' ? record.attempts : attempt;
      return {
        ...record,
        status: statusAfter(record.status, attempts, event.data),
        attempts,
        firstAttemptAt: record.firstAttemptAt ?? startedAt,
        lastAttemptAt: startedAt,
        nextAttemptAt,
        lastResponseCode: responseCode,
        span: spanOf(record.createdAt, startedAt),
        attemptLog: [
          ...record.attemptLog,
          { attempt, redelivery, startedAt, durationMs, responseCode, failureClass, keyId },
        ].slice(-MOST_LOGGED),
      };
    }
    case 'DeliveryRedeliveryRequested':
      return record;
    case 'DeliveryRescheduled':
      return event.data.awaits === 'attempt' ? { ...record, nextAttemptAt: event.data.dueAt } : record;
    default:
      return unreachable(event);
  }
}

function statusAfter(
  before: DeliveryStatus,
  attempts: number,
  { outcome, nextAttemptAt }: EventOf<typeof DeliveryAttemptFinished>['data'],
): DeliveryStatus {
  if (outcome === 'acknowledged') return 'succeeded';
  return outcome === 'interrupted' ? before : statusAfterFailure(before, attempts, nextAttemptAt);
}

function timer(document: DeliveryTimer | null, event: FoldedEvent): DeliveryTimer | null {
  switch (event.type) {
    case 'DeliveryScheduled': {
      const { wallet, origin, createdAt } = event.data;
      return {
        partition: partitionOf(wallet),
        dueAt: createdAt,
        since: createdAt,
        wallet,
        origin,
        scheduledFor: createdAt,
        scheduledSince: createdAt,
        askedAt: null,
      };
    }
    case 'DeliveryAttemptFinished': {
      const { redelivery, outcome, nextAttemptAt, finishedAt } = event.data;
      // An acknowledgement is also what a redelivery would have brought; one that was interrupted is made again.
      if (document === null || outcome === 'acknowledged') return null;
      const askedAt = redelivery && outcome === 'failed' ? null : document.askedAt;
      const dueAt = askedAt ?? nextAttemptAt;
      if (dueAt === null) return null;
      const scheduledSince = redelivery ? document.scheduledSince : finishedAt;
      const since = askedAt ?? scheduledSince ?? finishedAt;
      return { ...document, dueAt, since, scheduledFor: nextAttemptAt, scheduledSince, askedAt };
    }
    case 'DeliveryRedeliveryRequested': {
      const { wallet, origin, requestedAt: askedAt } = event.data;
      const { scheduledFor = null, scheduledSince = null } = document ?? {};
      const partition = partitionOf(wallet);
      return { partition, dueAt: askedAt, since: askedAt, wallet, origin, scheduledFor, scheduledSince, askedAt };
    }
    case 'DeliveryRescheduled': {
      const { awaits, dueAt, rescheduledAt: since } = event.data;
      if (document === null) return null;
      if (awaits === 'outcome') return { ...document, dueAt, since };
      return { ...document, dueAt, since, scheduledFor: dueAt, scheduledSince: since };
    }
    default:
      return unreachable(event);
  }
}
