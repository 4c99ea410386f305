/**
 * The life of one callback (docs/design/callbacks.md#process): scheduled once by the settlement that owes it, then
 * attempted. Each attempt is claimed before it is made. No event contains a URL, body or secret: `target` and
 * `envelope` name blobs.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event } from './event.ts';
import { FailureClass } from './failure-class.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Text = z.string().min(1);

/** A settled query owes a callback. */
export const DeliveryScheduled = event(
  'DeliveryScheduled',
  1,
  z.strictObject({
    /** Also the delivery's Idempotency-Key. */
    deliveryId: z.uuid(),
    /** The wallet that paid for it, and whose key signs it. */
    wallet: z.string(),
    requestId: z.uuid(),
    /** Message hash of the payment that owes it: the name of its stream. */
    payment: Sha256,
    /** As the caller sent it; null if the answer was withdrawn before it could be read. */
    caseId: z.string().nullable(),
    courtCode: z.string().nullable(),
    /** The case's number in its canonical form. */
    caseNumber: z.string().nullable(),
    /** The URL's bytes. */
    target: Sha256,
    /** Scheme, host and port of the URL; `unusable` if it has none. */
    origin: z.string(),
    /** The bytes to send, the same at every attempt; null if the answer had been withdrawn. */
    envelope: Sha256.nullable(),
    /** After this, both blobs may be missing without a recorded removal. */
    keepUntil: Instant,
    /** When it was scheduled, and also when its first attempt is due. */
    createdAt: Instant,
  }),
);

/** An attempt is about to be made. Only the process that appends this event makes it. */
export const DeliveryAttemptStarted = event(
  'DeliveryAttemptStarted',
  1,
  z.strictObject({
    /** From 1. An interrupted attempt is repeated under its number; redeliveries are numbered separately. */
    attempt: z.int().positive(),
    redelivery: z.boolean(),
    /** The key that signs it. */
    keyId: z.string(),
    startedAt: Instant,
    /** When the attempt counts as interrupted if no outcome is known. */
    leaseUntil: Instant,
    /** The process that makes the attempt, so that a dead process can be distinguished from a slow one. */
    owner: z.string(),
  }),
);

/** The outcome of an attempt. */
export const DeliveryAttemptFinished = event(
  'DeliveryAttemptFinished',
  2,
  z.strictObject({
    attempt: z.int().positive(),
    redelivery: z.boolean(),
    keyId: z.string(),
    startedAt: Instant,
    finishedAt: Instant,
    /** `interrupted`: the outcome is unknown, and the attempt is repeated under the same number. */
    outcome: z.enum(['acknowledged', 'failed', 'interrupted']),
    responseCode: z.int().nullable(),
    failureClass: FailureClass.nullable(),
    /** Null if the attempt was interrupted and not measured. */
    durationMs: z.int().nonnegative().nullable(),
    /** When the next attempt is due; null if the schedule has ended. */
    nextAttemptAt: Instant.nullable(),
    /** What the receiver requested by `Retry-After`; null if nothing. Absent in version 1, which did not record it. */
    retryAfterSeconds: z.int().nonnegative().nullable().optional(),
  }),
  { 1: (data) => data },
);

/** An operator requested one more attempt, outside the schedule. */
export const DeliveryRedeliveryRequested = event(
  'DeliveryRedeliveryRequested',
  2,
  z.strictObject({
    /** From 1. */
    redelivery: z.int().positive(),
    /** As scheduled, so that a reader of this event alone knows whose delivery it is. */
    wallet: z.string(),
    origin: z.string(),
    requestedAt: Instant,
    /** Who decided it, and why; null in version 1, which did not record them. */
    by: Text.nullable(),
    reason: Text.nullable(),
  }),
  { 1: (data) => ({ ...data, by: null, reason: null }) },
);

/**
 * The time that a delivery waits for was set by a clock that has since been set back. From now on it waits by the
 * current clock, as long as originally planned.
 */
export const DeliveryRescheduled = event(
  'DeliveryRescheduled',
  1,
  z.strictObject({
    /** `attempt`: the next scheduled one. `outcome`: that of the running attempt, until its lease ends. */
    awaits: z.enum(['attempt', 'outcome']),
    attempt: z.int().positive(),
    redelivery: z.boolean(),
    /** When it was due by the clock before the change. */
    formerlyDueAt: Instant,
    /** When the change was noticed, by the current clock. */
    rescheduledAt: Instant,
    dueAt: Instant,
  }),
);

/** An operator ended the delivery: nothing more is attempted, unless a redelivery is requested later. */
export const DeliveryCancelled = event(
  'DeliveryCancelled',
  1,
  z.strictObject({
    /** As scheduled, so that a reader of this event alone knows whose delivery it is. */
    wallet: z.string(),
    origin: z.string(),
    cancelledAt: Instant,
    /** Who decided it, and why. */
    by: Text,
    reason: Text,
  }),
);

export const DELIVERY_EVENTS = [
  DeliveryScheduled,
  DeliveryAttemptStarted,
  DeliveryAttemptFinished,
  DeliveryRedeliveryRequested,
  DeliveryRescheduled,
  DeliveryCancelled,
] as const;

export type DeliveryEvent = EventOf<(typeof DELIVERY_EVENTS)[number]>;

const DELIVERY_STREAM = /^delivery-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const deliveryStream = (deliveryId: string): string => `delivery-${deliveryId}`;

/** The id that a delivery's stream is named after; null for any other stream. */
export const deliveryOf = (stream: string): string | null => DELIVERY_STREAM.exec(stream)?.[1] ?? null;
