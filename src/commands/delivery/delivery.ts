/**
 * The life of a delivery (docs/design/callbacks.md#process): at most seven attempts on the specified schedule, one at a
 * time and never early, and redeliveries.
 */

import {
  DeliveryAttemptFinished,
  DeliveryAttemptStarted,
  DeliveryCancelled,
  type DeliveryEvent,
  DeliveryRedeliveryRequested,
  DeliveryRescheduled,
  DeliveryScheduled,
} from '../../events/delivery.ts';
import type { EventOf } from '../../events/event.ts';
import type { FailureClass } from '../../events/failure-class.ts';
import { type Instant, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import { type Decider, type Rejection, rejected, unreachable } from '../decider.ts';
import { ATTEMPT_LEASE, delayAfter } from './schedule.ts';
import { isOver, waitAgain, waitOf } from './wait.ts';

/** How often an interrupted attempt is repeated under its number; after that it counts as failed. */
export const MOST_REPEATS = 3;

export type DeliveryFacts = EventOf<typeof DeliveryScheduled>['data'];
export type AttemptUnderWay = EventOf<typeof DeliveryAttemptStarted>['data'];
type AttemptOutcome = EventOf<typeof DeliveryAttemptFinished>['data'];
/** As it is written: version 1 did not record `retryAfterSeconds`. */
type NewOutcome = AttemptOutcome & Pick<ReceivedOutcome, 'retryAfterSeconds'>;

/** `cancelled`: an operator ended it before it succeeded or failed. */
export type DeliveryStatus = 'pending' | 'retrying' | 'succeeded' | 'failed' | 'cancelled';

export interface ScheduledDelivery {
  readonly status: DeliveryStatus;
  readonly facts: DeliveryFacts;
  /** Completed attempts of the seven: acknowledged or failed. */
  readonly attempts: number;
  /** How often the current attempt was interrupted. */
  readonly interruptions: number;
  /** When the next of the seven is due; null if the schedule has ended. */
  readonly nextAttemptAt: Instant | null;
  /** When the wait for it began. */
  readonly scheduledSince: Instant;
  readonly underway: AttemptUnderWay | null;
  /** How many redeliveries were requested. */
  readonly redeliveries: number;
  /** When the last of them was requested; absent if none was. */
  readonly requestedAt?: Instant;
  /** A requested redelivery without an outcome yet. */
  readonly redelivery: { readonly requestedAt: Instant; readonly interruptions: number } | null;
}

export type Delivery = { readonly status: 'none' } | ScheduledDelivery;

/** The receiver's response, as far as it matters for the schedule. */
export interface ReceivedOutcome {
  readonly responseCode: number | null;
  /** Null: acknowledged. */
  readonly failureClass: FailureClass | null;
  /** The value of `Retry-After`. */
  readonly retryAfterSeconds: number | null;
  readonly durationMs: number;
}

export type DeliveryCommand =
  | { readonly type: 'Schedule'; readonly facts: DeliveryFacts }
  /** Claims the attempt that is due. */
  | { readonly type: 'StartAttempt'; readonly now: Micros; readonly keyId: string; readonly owner: string }
  | {
      readonly type: 'FinishAttempt';
      /** The attempt as it was claimed. */
      readonly claimed: AttemptUnderWay;
      readonly outcome: ReceivedOutcome;
      readonly now: Micros;
      /** Share of the delay that is added to it: 0 to `MAX_JITTER`. */
      readonly jitter: number;
    }
  /** Records that a running attempt will never have an outcome. */
  | {
      readonly type: 'Interrupt';
      readonly now: Micros;
      /** Whether the attempt's process is known to be gone, so that its lease need not expire first. */
      readonly ownerIsGone: boolean;
      readonly jitter: number;
    }
  | {
      readonly type: 'RequestRedelivery';
      readonly now: Micros;
      readonly by: string;
      readonly reason: string;
      /** Nothing is requested if one was requested at this time or later. */
      readonly unlessSince?: Instant;
    }
  /** Ends whatever is still to come. */
  | { readonly type: 'Cancel'; readonly now: Micros; readonly by: string; readonly reason: string }
  /** Restarts a wait by the present clock if the clock that timed it has since been set back. */
  | { readonly type: 'Reschedule'; readonly now: Micros };

export type DeliveryRejection =
  | 'not_scheduled'
  /** The delivery is over, and no redelivery was requested. */
  | 'nothing_due'
  | 'not_due_yet'
  | 'attempt_under_way'
  /** Another process has recorded its outcome, or its interruption. */
  | 'not_under_way'
  | 'lease_running';

export const delivery: Decider<Delivery, DeliveryCommand, DeliveryEvent, DeliveryRejection> = {
  initialState: { status: 'none' },

  decide(state, command) {
    if (command.type === 'Schedule') return state.status === 'none' ? [DeliveryScheduled.of(command.facts)] : [];
    if (state.status === 'none') return rejected('not_scheduled');
    switch (command.type) {
      case 'StartAttempt':
        return start(state, command);
      case 'FinishAttempt':
        if (!state.underway || !isSameAttempt(state.underway, command.claimed)) return rejected('not_under_way');
        return [DeliveryAttemptFinished.of(outcomeOf(state, state.underway, command))];
      case 'Interrupt': {
        const { underway } = state;
        if (!underway) return rejected('not_under_way');
        if (!command.ownerIsGone && command.now < toMicros(underway.leaseUntil)) return rejected('lease_running');
        return [DeliveryAttemptFinished.of(interruptionOf(state, underway, command, null))];
      }
      case 'RequestRedelivery':
        if (state.redelivery) return [];
        if (command.unlessSince && (state.requestedAt ?? '') >= command.unlessSince) return [];
        return [
          DeliveryRedeliveryRequested.of({
            redelivery: state.redeliveries + 1,
            wallet: state.facts.wallet,
            origin: state.facts.origin,
            requestedAt: toInstant(command.now),
            by: command.by,
            reason: command.reason,
          }),
        ];
      case 'Cancel':
        return cancel(state, command);
      case 'Reschedule': {
        const again = waitAgain(state, command.now);
        return again ? [DeliveryRescheduled.of(again)] : [];
      }
      default:
        return unreachable(command);
    }
  },

  evolve(state, event) {
    if (event.type === 'DeliveryScheduled') {
      return {
        status: 'pending',
        facts: event.data,
        attempts: 0,
        interruptions: 0,
        nextAttemptAt: event.data.createdAt,
        scheduledSince: event.data.createdAt,
        underway: null,
        redeliveries: 0,
        redelivery: null,
      };
    }
    if (state.status === 'none') return state;
    switch (event.type) {
      case 'DeliveryAttemptStarted':
        return { ...state, underway: event.data };
      case 'DeliveryAttemptFinished':
        return finished(state, event.data);
      case 'DeliveryRedeliveryRequested':
        return {
          ...state,
          redeliveries: event.data.redelivery,
          requestedAt: event.data.requestedAt,
          redelivery: { requestedAt: event.data.requestedAt, interruptions: 0 },
        };
      case 'DeliveryRescheduled': {
        const { awaits, dueAt, rescheduledAt } = event.data;
        if (awaits === 'attempt') return { ...state, nextAttemptAt: dueAt, scheduledSince: rescheduledAt };
        return { ...state, underway: state.underway && { ...state.underway, leaseUntil: dueAt } };
      }
      case 'DeliveryCancelled':
        return {
          ...state,
          status: statusAfterCancel(state.status),
          nextAttemptAt: null,
          underway: null,
          redelivery: null,
          interruptions: 0,
        };
      default:
        return unreachable(event);
    }
  },
};

/** A running attempt ends first, because its outcome says whether the receiver has the callback. */
function cancel(
  state: ScheduledDelivery,
  { now, by, reason }: Extract<DeliveryCommand, { type: 'Cancel' }>,
): readonly DeliveryEvent[] | Rejection<DeliveryRejection> {
  const { underway } = state;
  if (!waitOf(state)) return [];
  if (underway && now < toMicros(underway.leaseUntil)) return rejected('attempt_under_way');
  const { wallet, origin } = state.facts;
  const cancelledAt = toInstant(now);
  return [
    ...(underway ? [DeliveryAttemptFinished.of(interruptionOf(state, underway, { now, jitter: 0 }, null))] : []),
    DeliveryCancelled.of({ wallet, origin, cancelledAt, by, reason }),
  ];
}

/** What has succeeded or failed stays so: then only a redelivery was cancelled. */
export const statusAfterCancel = (before: DeliveryStatus): DeliveryStatus =>
  before === 'pending' || before === 'retrying' ? 'cancelled' : before;

function start(
  state: ScheduledDelivery,
  { now, keyId, owner }: Extract<DeliveryCommand, { type: 'StartAttempt' }>,
): readonly DeliveryEvent[] | Rejection<DeliveryRejection> {
  if (state.underway) return rejected('attempt_under_way');
  const wait = waitOf(state);
  if (!wait) return rejected('nothing_due');
  if (!isOver(wait, now)) return rejected('not_due_yet');
  const redelivery = state.redelivery !== null;
  return [
    DeliveryAttemptStarted.of({
      attempt: redelivery ? state.redeliveries : state.attempts + 1,
      redelivery,
      keyId,
      startedAt: toInstant(now),
      leaseUntil: toInstant(now + ATTEMPT_LEASE),
      owner,
    }),
  ];
}

/** The number alone is not enough: an interrupted attempt is made again under the same number. */
const isSameAttempt = (a: AttemptUnderWay, b: AttemptUnderWay): boolean =>
  a.attempt === b.attempt && a.redelivery === b.redelivery && a.startedAt === b.startedAt && a.owner === b.owner;

function outcomeOf(
  state: ScheduledDelivery,
  underway: AttemptUnderWay,
  command: Extract<DeliveryCommand, { type: 'FinishAttempt' }>,
): NewOutcome {
  const { outcome } = command;
  if (outcome.failureClass === 'interrupted') return interruptionOf(state, underway, command, outcome.durationMs);
  const at = finishedAt(underway, command.now);
  return {
    ...identityOf(underway),
    finishedAt: toInstant(at),
    outcome: outcome.failureClass === null ? 'acknowledged' : 'failed',
    responseCode: outcome.responseCode,
    failureClass: outcome.failureClass,
    durationMs: outcome.durationMs,
    nextAttemptAt: scheduleAfter(state, underway, outcome, at, command.jitter),
    retryAfterSeconds: outcome.retryAfterSeconds,
  };
}

function interruptionOf(
  state: ScheduledDelivery,
  underway: AttemptUnderWay,
  { now, jitter }: { readonly now: Micros; readonly jitter: number },
  durationMs: number | null,
): NewOutcome {
  const at = finishedAt(underway, now);
  const interruptions = underway.redelivery ? (state.redelivery?.interruptions ?? 0) : state.interruptions;
  const again = interruptions < MOST_REPEATS;
  const failure = { responseCode: null, failureClass: 'interrupted', retryAfterSeconds: null, durationMs: 0 } as const;
  const repeatedAt = underway.redelivery ? state.nextAttemptAt : toInstant(at);
  return {
    ...identityOf(underway),
    finishedAt: toInstant(at),
    outcome: again ? 'interrupted' : 'failed',
    responseCode: null,
    failureClass: 'interrupted',
    durationMs,
    nextAttemptAt: again ? repeatedAt : scheduleAfter(state, underway, failure, at, jitter),
    retryAfterSeconds: null,
  };
}

const identityOf = ({ attempt, redelivery, keyId, startedAt }: AttemptUnderWay) => ({
  attempt,
  redelivery,
  keyId,
  startedAt,
});

/** No attempt ends before it began, even if the clock was set in between. */
const finishedAt = ({ startedAt }: AttemptUnderWay, now: Micros): Micros => Math.max(now, toMicros(startedAt));

/** When the schedule continues after an attempt. A redelivery does not change it unless it succeeds. */
function scheduleAfter(
  state: ScheduledDelivery,
  { attempt, redelivery }: AttemptUnderWay,
  { failureClass, retryAfterSeconds }: ReceivedOutcome,
  at: Micros,
  jitter: number,
): Instant | null {
  // Withdrawn content is never restored, so there is nothing left to send.
  if (failureClass === null || failureClass === 'content_withdrawn') return null;
  if (redelivery) return state.nextAttemptAt;
  const delay = delayAfter(attempt, jitter, retryAfterSeconds);
  return delay === null ? null : toInstant(at + delay);
}

function finished(state: ScheduledDelivery, outcome: AttemptOutcome): ScheduledDelivery {
  const { nextAttemptAt, redelivery, finishedAt: endedAt } = outcome;
  const scheduledSince = redelivery ? state.scheduledSince : endedAt;
  const after: ScheduledDelivery = { ...state, underway: null, nextAttemptAt, scheduledSince };
  switch (outcome.outcome) {
    case 'acknowledged':
      return {
        ...after,
        status: 'succeeded',
        attempts: redelivery ? state.attempts : outcome.attempt,
        interruptions: 0,
        // A redelivery requested in the meantime is satisfied by this attempt.
        redelivery: null,
      };
    case 'interrupted':
      return redelivery
        ? { ...after, redelivery: state.redelivery && repeated(state.redelivery) }
        : { ...after, interruptions: state.interruptions + 1 };
    case 'failed':
      return redelivery
        ? { ...after, status: statusAfterFailure(state.status, state.attempts, nextAttemptAt), redelivery: null }
        : {
            ...after,
            status: statusAfterFailure(state.status, outcome.attempt, nextAttemptAt),
            attempts: outcome.attempt,
            interruptions: 0,
          };
  }
}

const repeated = ({ requestedAt, interruptions }: NonNullable<ScheduledDelivery['redelivery']>) => ({
  requestedAt,
  interruptions: interruptions + 1,
});

/** A delivery that was acknowledged or cancelled stays so, even if a redelivery fails. */
export function statusAfterFailure(
  before: DeliveryStatus,
  attempts: number,
  nextAttemptAt: Instant | null,
): DeliveryStatus {
  if (before === 'succeeded' || before === 'cancelled') return before;
  if (nextAttemptAt === null) return 'failed';
  return attempts === 0 ? 'pending' : 'retrying';
}
