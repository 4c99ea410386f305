/**
 * The life of one callback (docs/design/callbacks.md#process): scheduled once by the settlement that owes it, then
 * attempts, each claimed before it is made. No URL, body or secret is in any of them: `target` and `envelope` name
 * blobs.
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event } from './event.ts';
import { FailureClass } from './failure-class.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A settled query owes a callback. */
export const DeliveryScheduled = event(
  'DeliveryScheduled',
  1,
  z.strictObject({
    /** Also the delivery's Idempotency-Key. */
    deliveryId: z.uuid(),
    /** Who paid for it, and whose key signs it. */
    wallet: z.string(),
    requestId: z.uuid(),
    /** Message hash of the payment that owes it: the name of its stream. */
    payment: Sha256,
    /** As the caller sent them; null where the answer was withdrawn before it could be read. */
    caseId: z.string().nullable(),
    courtCode: z.string().nullable(),
    /** The case's number in its canonical form. */
    caseNumber: z.string().nullable(),
    /** The URL's bytes. */
    target: Sha256,
    /** Scheme, host and port of the URL; `unusable` where it has none. */
    origin: z.string(),
    /** The bytes to send, the same at every attempt; null where the answer had been withdrawn. */
    envelope: Sha256.nullable(),
    /** Past it the absence of both blobs needs no record. */
    keepUntil: Instant,
    /** When it was scheduled, which is when its first attempt is due. */
    createdAt: Instant,
  }),
);

/** An attempt is about to be made. Whoever appends this makes it; nobody else does. */
export const DeliveryAttemptStarted = event(
  'DeliveryAttemptStarted',
  1,
  z.strictObject({
    /** From 1. An interrupted attempt is made again under its number; redeliveries have numbers of their own. */
    attempt: z.int().positive(),
    redelivery: z.boolean(),
    /** The key that signs it. */
    keyId: z.string(),
    startedAt: Instant,
    /** When it counts as interrupted if nothing else is known of it. */
    leaseUntil: Instant,
    /** The process that makes it, so that its death can be told from its slowness. */
    owner: z.string(),
  }),
);

/** What became of an attempt. */
export const DeliveryAttemptFinished = event(
  'DeliveryAttemptFinished',
  1,
  z.strictObject({
    attempt: z.int().positive(),
    redelivery: z.boolean(),
    keyId: z.string(),
    startedAt: Instant,
    finishedAt: Instant,
    /** `interrupted`: nobody knows what became of it, and it is made again under the same number. */
    outcome: z.enum(['acknowledged', 'failed', 'interrupted']),
    responseCode: z.int().nullable(),
    failureClass: FailureClass.nullable(),
    /** Null where it was interrupted and nobody measured. */
    durationMs: z.int().nonnegative().nullable(),
    /** When the schedule goes on; null where it has ended. */
    nextAttemptAt: Instant.nullable(),
  }),
);

/** An operator asked for one more attempt, outside the schedule. */
export const DeliveryRedeliveryRequested = event(
  'DeliveryRedeliveryRequested',
  1,
  z.strictObject({
    /** From 1. */
    redelivery: z.int().positive(),
    /** As they were scheduled, so that a reader of this event alone knows whose it is. */
    wallet: z.string(),
    origin: z.string(),
    requestedAt: Instant,
  }),
);

/**
 * What a delivery waits for was timed by a clock that has since been set back: it waits by the present one from now on,
 * as long as it was to wait at first.
 */
export const DeliveryRescheduled = event(
  'DeliveryRescheduled',
  1,
  z.strictObject({
    /** `attempt`: the next one, by the schedule. `outcome`: that of the attempt under way, until its lease ends. */
    awaits: z.enum(['attempt', 'outcome']),
    attempt: z.int().positive(),
    redelivery: z.boolean(),
    /** Until when it was to wait, by the clock as it was before. */
    formerlyDueAt: Instant,
    /** When this was seen, by the present clock. */
    rescheduledAt: Instant,
    dueAt: Instant,
  }),
);

export const DELIVERY_EVENTS = [
  DeliveryScheduled,
  DeliveryAttemptStarted,
  DeliveryAttemptFinished,
  DeliveryRedeliveryRequested,
  DeliveryRescheduled,
] as const;

export type DeliveryEvent = EventOf<(typeof DELIVERY_EVENTS)[number]>;

const DELIVERY_STREAM = /^delivery-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const deliveryStream = (deliveryId: string): string => `delivery-${deliveryId}`;

/** The id that a delivery's stream is named after; null for any other stream. */
export const deliveryOf = (stream: string): string | null => DELIVERY_STREAM.exec(stream)?.[1] ?? null;
