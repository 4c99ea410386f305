/**
 * The rules of one delivery's stream: each event is compared with what the delivery's own decider would record on the
 * stream before it, so an attempt that comes early after a change of the clock counts as the service counts it.
 */
import { isRejection } from '../../commands/decider.ts';
import {
  type Delivery,
  type DeliveryRejection,
  delivery,
  type ScheduledDelivery,
} from '../../commands/delivery/delivery.ts';
import { DELIVERY_RETENTION } from '../../commands/delivery/owed.ts';
import { MAX_ATTEMPTS } from '../../commands/delivery/schedule.ts';
import { dueAt, waitAgain } from '../../commands/delivery/wait.ts';
import { DELIVERY_EVENTS, type DeliveryEvent, deliveryOf } from '../../events/delivery.ts';
import type { JsonObject } from '../../events/event.ts';
import { type Instant, toInstant, toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent, StreamRules } from '../judging.ts';
import { judgeResult } from './attempt-result.ts';
import type { RuleName } from './catalogue.ts';
import { difference } from './compare.ts';
import { nextAttempt } from './delivery-schedule.ts';
import { isDowngraded, isEarlier, judgeSchema } from './earlier.ts';
import { judgeKept } from './kept.ts';
import { DUE_WITHIN, LISTED_AFTER } from './limits.ts';
import { momentOf } from './moment.ts';
import { hostRules, judgePaused, unpausedTime } from './operator-acts.ts';
import { judgeRecordedTime } from './recorded-times.ts';

/** A delivery as its decider folds it, kept as JSON by the engine. */
export type DeliveryState = JsonObject;

/** A stream that does not begin with its delivery: nothing more can be said about it. */
const NOT_SCHEDULED: DeliveryState = { status: 'not_scheduled' };

const TYPES: ReadonlySet<string> = new Set(DELIVERY_EVENTS.map(({ type }) => type));
type DataOf<Type extends DeliveryEvent['type']> = Extract<DeliveryEvent, { readonly type: Type }>['data'];

export const deliveryRules: StreamRules<DeliveryState> = {
  covers: (stream) => deliveryOf(stream) !== null,

  judge(before, judged, findings) {
    if (before?.status === NOT_SCHEDULED.status) return NOT_SCHEDULED;
    const state = (before ?? delivery.initialState) as unknown as Delivery;
    if (!TYPES.has(judged.type)) {
      findings.breach('event_in_its_stream', 'an event of a delivery', judged.type);
      return state as unknown as DeliveryState;
    }
    const event = { type: judged.type, data: judged.data } as unknown as DeliveryEvent;
    judgeSchema(judged, findings);
    judgeRecordedTime(judged, findings);
    if (event.type === 'DeliveryScheduled') {
      if (state.status !== 'none') {
        findings.breach('delivery_order', 'DeliveryScheduled once', 'DeliveryScheduled again');
        return state as unknown as DeliveryState;
      }
      judgeScheduled(event.data, judged, findings);
    } else if (state.status === 'none') {
      findings.breach('delivery_order', 'DeliveryScheduled', event.type);
      return NOT_SCHEDULED;
    } else {
      judgeNext(state, event, judged, findings);
    }
    // An event that breaks a rule happened all the same, so what follows is judged after it.
    return delivery.evolve(state, trimmed(event)) as unknown as DeliveryState;
  },

  end(last, _stream, until, findings) {
    if (last.status === NOT_SCHEDULED.status) return;
    const state = last as unknown as Delivery;
    judgeInTime(state, until, `none until ${until}`, findings);
  },
};

/**
 * Judges what a delivery waits for: at its end, and at each later event, which hides that it came late. While the service
 * is stopped it is in breach at the end alone, so a silence of the log does not count against what came after it.
 */
function judgeInTime(state: Delivery, at: Instant, found: string, findings: Findings, isAttempt = false): void {
  const due = dueAt(state);
  if (due === null || toMicros(at) - due <= LISTED_AFTER) return;
  // A paused host makes nothing late.
  const { origin } = 'facts' in state ? state.facts : { origin: '' };
  const between = { from: toInstant(due), to: at };
  const counted = unpausedTime(findings.logState?.(hostRules), origin, between, findings.logTime?.silences);
  if (counted <= DUE_WITHIN) {
    // An attempt that has not begun yet is shown by `docket audit promises`.
    if (isAttempt && counted > LISTED_AFTER) {
      findings.breach('attempt_late', `within ten minutes of ${toInstant(due)}`, found);
    }
    return;
  }
  const what = 'underway' in state && state.underway ? 'an outcome' : 'an attempt';
  findings.breach('attempt_in_time', `${what} within a day of ${toInstant(due)}`, found);
}

/** Without what no later event repeats: an audit keeps the states of all deliveries. */
function trimmed(event: DeliveryEvent): DeliveryEvent {
  if (event.type !== 'DeliveryScheduled') return event;
  const { wallet, origin, createdAt } = event.data;
  return { type: event.type, data: { wallet, origin, createdAt } as typeof event.data };
}

function judgeScheduled(data: DataOf<'DeliveryScheduled'>, judged: JudgedEvent, findings: Findings): void {
  const { stream } = judged;
  judgeKept(judged, DELIVERY_RETENTION, findings);
  const { deliveryId, wallet, requestId, payment, target, origin } = data;
  const named = deliveryOf(stream);
  if (named !== deliveryId) findings.breach('delivery_idempotency_key', `${named}`, deliveryId);
  if (data.envelope === null) judgeWithdrawn(judged, findings);
  const promised = { payment: `payment-${payment}`, wallet, requestId, target, origin };
  findings.state(`delivery:${named}`, 'scheduled', { ...promised, ...momentOf(judged, findings) });
}

/** Earlier versions removed the content of some payments without a record. */
function judgeWithdrawn(judged: JudgedEvent, findings: Findings): void {
  if (isEarlier(judged)) findings.unprovable('withdrawn_by_record');
  else findings.withdrew?.('withdrawn_by_record');
}

function judgeNext(
  state: ScheduledDelivery,
  event: Exclude<DeliveryEvent, { readonly type: 'DeliveryScheduled' }>,
  judged: JudgedEvent,
  findings: Findings,
): void {
  const { data, metadata } = judged;
  const isAttempt = event.type === 'DeliveryAttemptStarted';
  judgeInTime(state, metadata.recordedAt, `${event.type} at ${metadata.recordedAt}`, findings, isAttempt);
  switch (event.type) {
    case 'DeliveryAttemptStarted':
      judgeStart(state, event.data, data, findings);
      judgePaused(findings.logState?.(hostRules), state.facts.origin, metadata.recordedAt, findings);
      return;
    case 'DeliveryAttemptFinished':
      judgeFinish(state, event.data, judged, findings);
      return;
    case 'DeliveryRedeliveryRequested': {
      if (state.redelivery) {
        findings.breach('redelivery_as_requested', 'one redelivery at a time', 'another before its outcome');
        return;
      }
      const { wallet, origin } = state.facts;
      const expected = { redelivery: state.redeliveries + 1, wallet, origin };
      const differing = difference(expected, data, ['redelivery', 'wallet', 'origin']);
      if (differing) findings.breach('redelivery_as_requested', differing.expected, differing.found);
      return;
    }
    case 'DeliveryCancelled': {
      judgeCancelled(state, event.data, data, findings);
      return;
    }
    case 'DeliveryRescheduled': {
      const again = waitAgain(state, toMicros(event.data.rescheduledAt));
      if (!again) {
        findings.breach('reschedule_by_clock', 'a wait that a change of the clock made longer', 'none');
        return;
      }
      const differing = difference(again, data, ['awaits', 'attempt', 'redelivery', 'formerlyDueAt', 'dueAt']);
      if (differing) findings.breach('reschedule_by_clock', differing.expected, differing.found);
      return;
    }
  }
}

function judgeCancelled(
  state: ScheduledDelivery,
  { cancelledAt, by, reason }: DataOf<'DeliveryCancelled'>,
  data: JsonObject,
  findings: Findings,
): void {
  if (state.underway) {
    findings.breach('cancelled_while_open', `the outcome of attempt ${state.underway.attempt}`, 'an end before it');
    return;
  }
  const decided = delivery.decide(state, { type: 'Cancel', now: toMicros(cancelledAt), by, reason });
  const expected = isRejection(decided) ? undefined : decided[0]?.data;
  if (!expected) {
    findings.breach('cancelled_while_open', 'a delivery with an attempt to come', state.status);
    return;
  }
  const differing = difference(expected as JsonObject, data, ['wallet', 'origin']);
  if (differing) findings.breach('cancelled_while_open', differing.expected, differing.found);
}

const RULE_OF_REJECTION: Readonly<Record<DeliveryRejection, RuleName>> = {
  not_scheduled: 'delivery_order',
  nothing_due: 'attempt_at_most_seven',
  not_due_yet: 'attempt_not_early',
  attempt_under_way: 'attempt_one_at_a_time',
  not_under_way: 'attempt_outcome',
  lease_running: 'attempt_lease',
};

function judgeStart(
  state: ScheduledDelivery,
  { startedAt, keyId, owner }: DataOf<'DeliveryAttemptStarted'>,
  data: JsonObject,
  findings: Findings,
): void {
  const now = toMicros(startedAt);
  const decided = delivery.decide(state, { type: 'StartAttempt', now, keyId, owner });
  findings.state(`wallet:${state.facts.wallet}`, 'attempt', { keyId, startedAt });
  if (isRejection(decided)) {
    const { rejected } = decided;
    const expected = {
      nothing_due: `no attempt after ${endOf(state)}`,
      not_due_yet: `no attempt before ${state.redelivery?.requestedAt ?? state.nextAttemptAt}`,
      attempt_under_way: `the outcome of attempt ${state.underway?.attempt}`,
    }[rejected as string];
    findings.breach(RULE_OF_REJECTION[rejected], expected ?? 'no attempt', `an attempt at ${startedAt}`);
    return;
  }
  const expected = (decided[0]?.data ?? {}) as JsonObject;
  const number = difference(expected, data, ['attempt', 'redelivery']);
  if (number) findings.breach('attempt_numbered', number.expected, number.found);
  const lease = difference(expected, data, ['leaseUntil']);
  if (lease) findings.breach('attempt_lease', lease.expected, lease.found);
}

const endOf = ({ status, attempts }: ScheduledDelivery): string =>
  status === 'succeeded' ? 'its success' : status === 'cancelled' ? 'its end' : `${attempts} of ${MAX_ATTEMPTS}`;

const IDENTITY = ['attempt', 'redelivery', 'keyId', 'startedAt'];

function judgeFinish(
  state: ScheduledDelivery,
  finished: DataOf<'DeliveryAttemptFinished'>,
  judged: JudgedEvent,
  findings: Findings,
): void {
  const { underway } = state;
  if (!underway) {
    findings.breach('attempt_outcome', 'an attempt under way', `an outcome of attempt ${finished.attempt}`);
    return;
  }
  const identity = difference(underway as unknown as JsonObject, judged.data, IDENTITY);
  if (identity) {
    findings.breach('attempt_outcome', identity.expected, identity.found);
    return;
  }
  if (finished.finishedAt < underway.startedAt) {
    findings.breach('attempt_outcome', `no end before ${underway.startedAt}`, finished.finishedAt);
  }
  judgeResult(state, finished, findings);
  // The bytes of a callback that has arrived are removed without a record of their own.
  if (finished.failureClass === 'content_withdrawn' && state.status !== 'succeeded') judgeWithdrawn(judged, findings);
  if (finished.retryAfterSeconds === undefined && !isEarlier(judged)) {
    if (isDowngraded(judged)) return;
    findings.breach('attempt_schedule', 'what the receiver asked for by Retry-After, or null', 'neither');
    return;
  }
  const next = nextAttempt(state, finished);
  if (next.isUnprovable) findings.unprovable('attempt_schedule');
  if (next.broken) findings.breach('attempt_schedule', next.broken, finished.nextAttemptAt ?? 'no further attempt');
}
