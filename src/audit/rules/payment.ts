/**
 * The rules of one payment's stream. Each event is compared with what the payment's own decider would record on the
 * stream before it. After the first event out of order the rest of the stream is not judged, since nothing that
 * follows can be right.
 */
import { ANSWER_RETENTION } from '../../commands/payment/answer.ts';
import {
  isSubmitted,
  mayBePresented,
  type Payment,
  type PaymentCommand,
  payment,
} from '../../commands/payment/payment.ts';
import { priceOf } from '../../commands/purchase/price.ts';
import type { Json } from '../../events/event.ts';
import { PAYMENT_STREAM_EVENTS, type PaymentEvent, paymentOf } from '../../events/payment.ts';
import { type Instant, type Micros, toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent, StreamRules } from '../judging.ts';
import type { RuleName } from './catalogue.ts';
import { counted, difference } from './compare.ts';
import { isEarlier, judgeSchema } from './earlier.ts';
import { judgeKept } from './kept.ts';
import { OUTCOME_WITHIN } from './limits.ts';
import { judgeAmount } from './payment-amount.ts';
import { judgeAnswer } from './payment-answer.ts';
import { awaited, judgeOutcomeInTime } from './payment-deadline.ts';
import { statePaymentFacts } from './payment-facts.ts';
import { judgeWire } from './payment-wire.ts';

/** Kept as JSON by the engine; `payment` as its decider folds it, trimmed. */
export interface PaymentState {
  readonly [member: string]: Json;
  readonly payment: Json;
  /** Whether the last query failed. */
  readonly queryFailed: boolean;
  /** Whether an event was out of order. */
  readonly broken: boolean;
  /** Whether an earlier version recorded the last event. */
  readonly earlier: boolean;
  /** When it was submitted or settled, whichever was last. */
  readonly since: Instant;
  /** What had passed in the log by then (`LogMoment`); null if an earlier version recorded it. */
  readonly passed: Micros | null;
}

const NEW: PaymentState = {
  payment: { status: 'none' },
  ...{ queryFailed: false, broken: false, earlier: false },
  ...{ since: '', passed: null },
};
const TYPES: ReadonlySet<string> = new Set(PAYMENT_STREAM_EVENTS.map(({ type }) => type));

export const paymentRules: StreamRules<PaymentState> = {
  covers: (stream) => paymentOf(stream) !== null,

  judge(before, judged, findings) {
    const state = before ?? NEW;
    if (state.broken) return state;
    if (!TYPES.has(judged.type)) {
      findings.breach('event_in_its_stream', 'an event of a payment', judged.type);
      return state;
    }
    const known = state.payment as unknown as Payment;
    const event = { type: judged.type, data: judged.data } as unknown as PaymentEvent;
    const expected = decided(known, event);
    judgeSchema(judged, findings);
    if (!isAllowed(state, event, expected)) {
      findings.breach(ruleOfDisorder(state, known, event), `an event that may follow ${known.status}`, event.type);
      return { ...state, broken: true };
    }
    judgeData(state, event, expected, judged, findings);
    const { recordedAt } = judged.metadata;
    const passed = isEarlier(judged) ? null : (findings.logTime?.momentAt(recordedAt).passed ?? null);
    judgeOutcomeInTime(known, state, { type: event.type, recordedAt, passed }, findings);
    statePaymentFacts(known, event, judged, findings);
    return {
      payment: trimmed(payment.evolve(known, event)) as unknown as Json,
      queryFailed: event.type === 'QueryFailed' || (state.queryFailed && event.type !== 'PaymentAuthorized'),
      broken: false,
      earlier: isEarlier(judged),
      ...(CHARGES.has(event.type) ? { since: recordedAt, passed } : { since: state.since, passed: state.passed }),
    };
  },

  end(state, _stream, until, findings) {
    if (state.broken) return;
    const known = state.payment as unknown as Payment;
    const { status } = known;
    if (status === 'answered') findings.breach('answer_has_charge', 'PaymentSubmitted after QueryAnswered', 'nothing');
    if (status === 'authorized' || status === 'query_failed') {
      findings.breach('payment_order', `an event that may follow ${status}`, 'nothing');
    }
    const rule = awaited(known);
    if (rule === null || toMicros(until) - toMicros(state.since) <= OUTCOME_WITHIN) return;
    findings.breach(rule, `an outcome within 24 hours of ${state.since}`, `none until ${until}`);
  },
};

/** Events that state or lead to a charge. */
const CHARGES: ReadonlySet<string> = new Set(['PaymentSubmitted', 'PaymentSettled', 'PaymentSettledLate']);

function ruleOfDisorder({ queryFailed }: PaymentState, known: Payment, { type }: PaymentEvent): RuleName {
  if (!CHARGES.has(type) || 'answer' in known) return 'payment_order';
  return queryFailed ? 'failed_query_not_charged' : 'charge_has_answer';
}

/** Whether the decider can have recorded such an event on this stream, whatever it says. */
function isAllowed(state: PaymentState, event: PaymentEvent, expected: PaymentEvent | null): boolean {
  const known = state.payment as unknown as Payment;
  switch (event.type) {
    case 'PaymentAuthorized':
      return known.status === 'none' || known.status === 'released';
    case 'QueryAnswered':
    case 'QueryFailed':
      return known.status === 'authorized';
    case 'PaymentSubmitted':
      return known.status === 'answered';
    case 'PaymentReleased':
      if (event.data.reason === 'query_failed') return known.status === 'query_failed';
      // A takeover also releases what an earlier version of the service claimed in several appends. An answer that is
      // released today is judged as one without a charge.
      return state.earlier ? !isSubmitted(known) : mayBePresented(known) || known.status === 'answered';
    default:
      return expected?.type === event.type;
  }
}

/** The command whose outcome an event states; null if it states none. */
function commandOf(event: PaymentEvent): PaymentCommand | null {
  switch (event.type) {
    case 'PaymentSettled':
    case 'PaymentSettledLate':
      return { type: 'Settle', slot: event.data.slot };
    case 'PaymentFailed':
      return { type: 'Fail', reason: event.data.reason, detail: event.data.detail };
    case 'PaymentFinalized':
      return { type: 'Finalize', slot: event.data.slot };
    case 'PaymentRolledBack':
      return { type: 'RollBack', reason: event.data.reason };
    case 'ResultHandedOut':
      return { type: 'HandOut' };
    default:
      return null;
  }
}

/** The outcome that the decider records in this place; null if none. */
function decided(known: Payment, event: PaymentEvent): PaymentEvent | null {
  const command = commandOf(event);
  const events = command && payment.decide(known, command);
  return events === null || 'rejected' in events ? null : (events[0] ?? null);
}

const CHARGE = ['requestId', 'wallet', 'amount', 'transaction', 'slot', 'answeredCases'];

function judgeData(
  state: PaymentState,
  event: PaymentEvent,
  outcome: PaymentEvent | null,
  judged: JudgedEvent,
  findings: Findings,
): void {
  const data = judged.data;
  const known = state.payment as unknown as Payment;
  switch (event.type) {
    case 'PaymentAuthorized':
      judgeAmount(event.data, judged, findings);
      return;
    case 'QueryAnswered': {
      judgeRequest(known, data.requestId, findings);
      const { answeredCases } = event.data;
      const { queries, endpoint } = 'authorization' in known ? known.authorization : { queries: null, endpoint: null };
      judgeAnswer(event.data, endpoint, judged, findings);
      if (queries !== null && answeredCases > queries) {
        findings.breach(
          'answers_within_queries',
          `at most ${counted(queries, 'case')}`,
          counted(answeredCases, 'case'),
        );
      }
      const byCourt = (event.data.courts ?? []).reduce((sum, { cases }) => sum + cases, 0);
      if (byCourt > answeredCases) {
        findings.breach(
          'answers_within_queries',
          `at most ${counted(answeredCases, 'case')} by court`,
          counted(byCourt, 'case'),
        );
      }
      const { cases } = event.data;
      if (cases !== undefined && cases.length > answeredCases) {
        findings.breach(
          'answers_within_queries',
          `at most ${counted(answeredCases, 'case')} named`,
          counted(cases.length, 'case'),
        );
      }
      judgeKept(judged, ANSWER_RETENTION, findings);
      return;
    }
    case 'QueryFailed':
      judgeRequest(known, data.requestId, findings);
      return;
    case 'PaymentSubmitted':
      if (known.status !== 'answered') return;
      if (known.answer.answeredCases === 0 && known.answer.keyCall === null) {
        findings.breach('failed_query_not_charged', 'at least one answered case', 'none');
      }
      judgeWire(judged.stream, known.authorization, event.data, findings);
      return;
    case 'PaymentReleased':
      if (known.status !== 'answered') return;
      // Earlier versions recorded the answer first, and a node could die before the submission.
      if (state.earlier) findings.unprovable('answer_has_charge');
      else findings.breach('answer_has_charge', 'PaymentSubmitted after QueryAnswered', 'PaymentReleased');
      return;
    default: {
      const expected = (outcome?.data ?? {}) as unknown as typeof data;
      const isSettlement = event.type === 'PaymentSettled' || event.type === 'PaymentSettledLate';
      const members = event.type === 'PaymentFailed' ? ['requestId', 'wallet', 'transaction'] : CHARGE;
      const charge = difference(expected, data, members);
      if (charge) findings.breach('charge_as_authorized', charge.expected, charge.found);
      if (event.type === 'PaymentRolledBack') {
        findings.breach('payment_rolled_back', 'a final transfer', `an undone one: ${event.data.reason}`);
      }
      if (!isSettlement) return;
      listFailedEntries(known, event.data, findings);
      // Earlier versions did not repeat in the settlement what the answer promised.
      if (judged.metadata.schemaVersion < 2) {
        if (expected.owes !== null && isEarlier(judged)) findings.unprovable('charge_owes_promised');
        return;
      }
      const owes = difference(expected, data, ['owes']);
      if (owes) findings.breach('charge_owes_promised', owes.expected, owes.found);
    }
  }
}

/** A batch is charged in full unless every query failed (docs/design/payments.md#batches). */
function listFailedEntries(known: Payment, { answeredCases }: { readonly answeredCases: number }, findings: Findings) {
  if (!('authorization' in known)) return;
  const { amount, queries } = known.authorization;
  const paid = queries ?? Number(BigInt(amount) / priceOf(1));
  if (answeredCases === 0 || answeredCases >= paid) return;
  findings.breach(
    'batch_entries_failed',
    `${counted(paid, 'query', 'queries')}, paid in full`,
    `${paid - answeredCases} of them failed`,
  );
}

function judgeRequest(known: Payment, requestId: Json | undefined, findings: Findings): void {
  const expected = 'authorization' in known ? known.authorization.requestId : '';
  if (requestId !== expected) findings.breach('one_request', `request ${expected}`, `request ${requestId}`);
}

/**
 * A submitted payment without what no later event repeats. Most streams end soon after, and an audit keeps the states
 * of all of them.
 */
function trimmed(state: Payment): Payment {
  if (state.status === 'settled' && state.finalized) return ended(state);
  if (state.status !== 'submitted' || state.submission.wire === '') return state;
  const { requestId, wallet, amount, queries, identifierHash } = state.authorization;
  const { answeredCases, callbacks, keyCall } = state.answer;
  const kept = {
    status: state.status,
    authorization: { requestId, wallet, amount, queries, identifierHash },
    answer: { answeredCases, callbacks, keyCall },
    submission: { transaction: state.submission.transaction, wire: '' },
  };
  return kept as unknown as Payment;
}

/** After a final transfer, only an answer may be handed out, which repeats the request. */
function ended({ status, finalized, handedOut, authorization }: Settled): Payment {
  const { requestId } = authorization;
  const kept = { status, finalized, handedOut, authorization: { requestId }, answer: {}, submission: {} };
  return kept as unknown as Payment;
}

type Settled = Extract<Payment, { readonly status: 'settled' }>;
