/**
 * One promised callback, from the settlement that owes it to its acknowledgement. Pure: what it waits for follows from
 * its payment's and its delivery's events.
 */
import { type Delivery, delivery } from '../../commands/delivery/delivery.ts';
import { waitOf } from '../../commands/delivery/wait.ts';
import type { DeliveryEvent } from '../../events/delivery.ts';
import type { FailureClass } from '../../events/failure-class.ts';
import type { Instant } from '../../runtime/instant.ts';

export interface CallbackPromise {
  readonly deliveryId: string;
  /** The payment that owes it. */
  readonly payment: string;
  readonly requestId: string;
  readonly wallet: string;
  readonly origin: string;
  /** When the payment settled first. */
  readonly promisedAt: Instant;
  /** Whether the chain dropped the payment, and it did not land since. */
  readonly rolledBack: boolean;
  readonly delivery: Delivery;
  /** All that were started, interrupted ones and redeliveries included. */
  readonly attempts: number;
  readonly lastFailure: FailureClass | null;
}

export type FailedBecause = 'given_up' | 'content_withdrawn' | 'url_unusable';

export type Standing =
  | { readonly state: 'acknowledged' }
  /** An operator ended it. */
  | { readonly state: 'cancelled' }
  | { readonly state: 'failed'; readonly because: FailedBecause }
  /** The payment was rolled back before the callback was scheduled: nothing is owed. */
  | { readonly state: 'rolled_back' }
  | OpenStanding;

export type OpenStanding =
  | { readonly state: 'open'; readonly why: 'not_scheduled'; readonly since: Instant }
  | { readonly state: 'open'; readonly why: 'waiting'; readonly attempt: number; readonly dueAt: Instant }
  | {
      readonly state: 'open';
      readonly why: 'under_way';
      readonly attempt: number;
      readonly redelivery: boolean;
      readonly since: Instant;
    }
  | { readonly state: 'open'; readonly why: 'redelivery_requested'; readonly since: Instant };

export function standingOf({
  delivery: state,
  rolledBack,
  promisedAt,
  lastFailure,
  origin,
}: CallbackPromise): Standing {
  if (state.status === 'none') {
    return rolledBack ? { state: 'rolled_back' } : { state: 'open', why: 'not_scheduled', since: promisedAt };
  }
  if (state.status === 'succeeded') return { state: 'acknowledged' };
  const { underway, redelivery, nextAttemptAt } = state;
  if (underway) {
    const { attempt, startedAt: since } = underway;
    return { state: 'open', why: 'under_way', attempt, redelivery: underway.redelivery, since };
  }
  if (redelivery) return { state: 'open', why: 'redelivery_requested', since: redelivery.requestedAt };
  if (nextAttemptAt) return { state: 'open', why: 'waiting', attempt: state.attempts + 1, dueAt: nextAttemptAt };
  if (state.status === 'cancelled') return { state: 'cancelled' };
  if (lastFailure === 'content_withdrawn') return { state: 'failed', because: 'content_withdrawn' };
  const unusable = origin === 'unusable' || lastFailure === 'url_not_allowed';
  return { state: 'failed', because: unusable ? 'url_unusable' : 'given_up' };
}

/** Whether something is still to come. An acknowledged callback may have a redelivery to come. */
export const isUnfinished = (promise: CallbackPromise): boolean =>
  standingOf(promise).state === 'open' || waitOf(promise.delivery) !== null;

export const withDelivery = (promise: CallbackPromise, event: DeliveryEvent): CallbackPromise => ({
  ...promise,
  delivery: delivery.evolve(promise.delivery, event),
  attempts: promise.attempts + (event.type === 'DeliveryAttemptStarted' ? 1 : 0),
  lastFailure: event.type === 'DeliveryAttemptFinished' ? event.data.failureClass : promise.lastFailure,
});
