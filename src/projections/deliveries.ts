/**
 * Read models of callbacks: the history of each delivery, for the wallet that paid for it and for operators; and the due
 * times of open deliveries, for the process that makes the attempts.
 */
import { createHash } from 'node:crypto';
import { unreachable } from '../commands/decider.ts';
import { type DeliveryStatus, statusAfterCancel, statusAfterFailure } from '../commands/delivery/delivery.ts';
import {
  DeliveryAttemptFinished,
  type DeliveryAttemptStarted,
  DeliveryCancelled,
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
 * Number of partitions: deliveries are divided among nodes by their wallets
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
  /** Also the Idempotency-Key, and the document's id. */
  readonly deliveryId: string;
  readonly wallet: string;
  readonly requestId: string;
  readonly caseId: string | null;
  readonly courtCode: string | null;
  /** Search keys: the court code as in `courtKey`, and the canonical case number. */
  readonly court: string | null;
  readonly caseNumber: string | null;
  /** Name of the blob that contains the URL. */
  readonly target: string;
  readonly origin: string;
  readonly status: DeliveryStatus;
  /** Attempts among the seven. */
  readonly attempts: number;
  readonly createdAt: Instant;
  readonly firstAttemptAt: Instant | null;
  readonly lastAttemptAt: Instant | null;
  readonly nextAttemptAt: Instant | null;
  readonly lastResponseCode: number | null;
  /** When an operator ended it; absent if none did, and once it was acknowledged after all. */
  readonly cancelledAt?: Instant;
  /** Time from creation to the start of the last attempt, in steps: see `spanOf`. Null if none, or within a minute. */
  readonly span: number | null;
  /** Oldest first. With very many redeliveries, only the newest. */
  readonly attemptLog: readonly LoggedAttempt[];
};

/** When something is due for a delivery. Deleted once the delivery is over. */
export type DeliveryTimer = {
  readonly partition: number;
  readonly dueAt: Instant;
  /** When the wait started. A start in the future comes from a clock that has since been set back. */
  readonly since: Instant;
  readonly wallet: string;
  readonly origin: string;
  /** When the schedule continues, and when that wait started. */
  readonly scheduledFor: Instant | null;
  readonly scheduledSince: Instant | null;
  /** When a redelivery was requested that has no outcome yet. */
  readonly askedAt: Instant | null;
};

/** Limits the document of a receiver that an operator retries again and again. */
const MOST_LOGGED = 200;

const MINUTE: Micros = 60 * MICROS_PER_SECOND;

/**
 * Where spans end, in minutes. Narrow bands lie around the times at which the schedule makes its attempts, if each takes
 * its full time and jitter: 3, 12, 39, 120, 363 and 1,092 minutes.
 */
const SPAN_ENDS = [1, 2.9, 3.5, 11.9, 14, 38.9, 44, 119, 132, 362, 390, 1_091, 1_170, 2_400, 4_800, 9_600, 50_000];

/** The last span has no end: it contains everything later. */
export const LONGEST_SPAN = SPAN_ENDS.length;

/** The longest time from creation to the start of a last attempt in this span; unlimited in the last span. */
export const spanEnds = (span: number): Micros => Math.round((SPAN_ENDS[span] ?? Number.POSITIVE_INFINITY) * MINUTE);

/**
 * Time from creation to the last attempt, in steps. With it, "attempted since" needs a few short walks along creation
 * times instead of one through everything (`delivery-history.ts`). Null within the first minute: then the creation
 * time is close enough.
 */
export function spanOf(createdAt: Instant, lastAttemptAt: Instant): number | null {
  const late = toMicros(lastAttemptAt) - toMicros(createdAt);
  const span = SPAN_ENDS.findIndex((_, index) => late <= spanEnds(index));
  return span === 0 ? null : span === -1 ? LONGEST_SPAN : span;
}

/** The court code as a search key, regardless of letter case. */
export const courtKey = (sent: string): string => sent.trim().toLowerCase();

type FoldedEvent = Exclude<DeliveryEvent, EventOf<typeof DeliveryAttemptStarted>>;

/** The start of an attempt changes nothing here: the delivery stays due, so that another process can take over. */
export const deliveries: Projection<FoldedEvent> = {
  name: DELIVERIES,
  events: [
    DeliveryScheduled,
    DeliveryAttemptFinished,
    DeliveryRedeliveryRequested,
    DeliveryRescheduled,
    DeliveryCancelled,
  ],
  collections: [
    {
      name: DELIVERIES,
      indexes: [
        ['wallet', 'status', 'createdAt'],
        ['wallet', 'court', 'status', 'createdAt'],
        ['wallet', 'caseNumber', 'status', 'createdAt'],
        ['wallet', 'span', 'createdAt'],
        ['status', 'createdAt'],
        ['origin', 'status', 'createdAt'],
      ],
    },
    {
      name: DELIVERY_TIMERS,
      indexes: [
        ['partition', 'dueAt'],
        ['partition', 'since'],
        ['origin', 'dueAt'],
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
      const { cancelledAt, ...kept } = record;
      return {
        ...kept,
        ...(cancelledAt !== undefined && outcome !== 'acknowledged' && { cancelledAt }),
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
    case 'DeliveryCancelled': {
      const status = statusAfterCancel(record.status);
      const ended = { ...record, status, nextAttemptAt: null };
      return status === 'cancelled' ? { ...ended, cancelledAt: event.data.cancelledAt } : ended;
    }
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
      // An acknowledgement also fulfills a redelivery; an interrupted redelivery is repeated.
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
    case 'DeliveryCancelled':
      return null;
    default:
      return unreachable(event);
  }
}
