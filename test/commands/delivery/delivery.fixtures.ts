/** One delivery as its events: each helper makes one event. */
import type { AttemptUnderWay, DeliveryFacts } from '../../../src/commands/delivery/delivery.ts';
import {
  DeliveryAttemptFinished,
  DeliveryAttemptStarted,
  DeliveryCancelled,
  DeliveryRedeliveryRequested,
  DeliveryRescheduled,
  DeliveryScheduled,
} from '../../../src/events/delivery.ts';
import type { EventOf } from '../../../src/events/event.ts';
import { MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../../src/runtime/instant.ts';

export const DELIVERY = '6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e';
export const WALLET = 'Fh3kL9mQ2rT5vX8yB1nC4wZ7pS6dG9jK2eR5tY8uA1xV';
export const KEY = 'key_7d1f';
export const NODE = 'node-a';
export const ORIGIN = 'https://receiver.example';

/** 2026-06-01T12:00:00Z. */
export const START: Micros = toMicros('2026-06-01T12:00:00.000000Z');
export const minutes = (count: number): Micros => Math.round(count * 60 * MICROS_PER_SECOND);
export const seconds = (count: number): Micros => count * MICROS_PER_SECOND;

export const facts: DeliveryFacts = {
  deliveryId: DELIVERY,
  wallet: WALLET,
  requestId: 'a1b2c3d4-1111-4222-8333-444455556666',
  payment: 'c'.repeat(64),
  caseId: '3:24-cv-00042',
  courtCode: 'cand',
  caseNumber: '3:24-cv-00042',
  target: 'a'.repeat(64),
  origin: ORIGIN,
  envelope: 'b'.repeat(64),
  keepUntil: toInstant(START + minutes(60 * 24 * 40)),
  createdAt: toInstant(START),
};

export const scheduled = DeliveryScheduled.of(facts);

export const claim = (attempt: number, at: Micros, over: Partial<AttemptUnderWay> = {}): AttemptUnderWay => ({
  attempt,
  redelivery: false,
  keyId: KEY,
  startedAt: toInstant(at),
  leaseUntil: toInstant(at + seconds(60)),
  owner: NODE,
  ...over,
});

export const started = (attempt: number, at: Micros, over: Partial<AttemptUnderWay> = {}) =>
  DeliveryAttemptStarted.of(claim(attempt, at, over));

type Outcome = EventOf<typeof DeliveryAttemptFinished>['data'];

/** Failed with 503 after two seconds, unless given otherwise. */
export const finished = (attempt: number, at: Micros, next: Micros | null, over: Partial<Outcome> = {}) =>
  DeliveryAttemptFinished.of({
    attempt,
    redelivery: false,
    keyId: KEY,
    startedAt: toInstant(at),
    finishedAt: toInstant(at + seconds(2)),
    outcome: 'failed',
    responseCode: 503,
    failureClass: 'http_5xx',
    durationMs: 2_000,
    nextAttemptAt: next === null ? null : toInstant(next),
    retryAfterSeconds: null,
    ...over,
  });

export const acknowledged = (attempt: number, at: Micros, over: Partial<Outcome> = {}) =>
  finished(attempt, at, null, { outcome: 'acknowledged', responseCode: 200, failureClass: null, ...over });

export const interrupted = (attempt: number, at: Micros, over: Partial<Outcome> = {}) =>
  finished(attempt, at, at + seconds(60), {
    finishedAt: toInstant(at + seconds(60)),
    outcome: 'interrupted',
    responseCode: null,
    failureClass: 'interrupted',
    durationMs: null,
    ...over,
  });

/** Who requests redeliveries here, and why. */
export const ACT = { by: 'Ann Lee', reason: 'the receiver is fixed' } as const;

export const requested = (redelivery: number, at: Micros) =>
  DeliveryRedeliveryRequested.of({ redelivery, wallet: WALLET, origin: ORIGIN, requestedAt: toInstant(at), ...ACT });

export const cancelled = (at: Micros) =>
  DeliveryCancelled.of({ wallet: WALLET, origin: ORIGIN, cancelledAt: toInstant(at), ...ACT });

/** Seen at a time, by a clock that had been set back, and due this much later. */
export const rescheduled = (
  attempt: number,
  formerlyDue: Micros,
  at: Micros,
  wait: Micros,
  over: Partial<EventOf<typeof DeliveryRescheduled>['data']> = {},
) =>
  DeliveryRescheduled.of({
    awaits: 'attempt',
    attempt,
    redelivery: false,
    formerlyDueAt: toInstant(formerlyDue),
    rescheduledAt: toInstant(at),
    dueAt: toInstant(at + wait),
    ...over,
  });
