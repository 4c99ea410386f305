/**
 * The life of a payment (docs/design/payments.md#settlement-states). One append claims it together with the answer, and
 * only then may it be broadcast. It then ends as settled or failed, and never pays for anything twice.
 */
import type { EventOf } from '../../events/event.ts';
import {
  PaymentAuthorized,
  type PaymentEvent,
  PaymentFailed,
  PaymentFinalized,
  PaymentReleased,
  PaymentRolledBack,
  PaymentSettled,
  PaymentSettledLate,
  PaymentSubmitted,
  QueryAnswered,
  QueryFailed,
  ResultHandedOut,
} from '../../events/payment.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';

export type Authorization = EventOf<typeof PaymentAuthorized>['data'];
export type RecordedAnswer = EventOf<typeof QueryAnswered>['data'];
export type Submission = EventOf<typeof PaymentSubmitted>['data'];
export type FailureReason = EventOf<typeof PaymentFailed>['data']['reason'];
export type RollbackReason = EventOf<typeof PaymentRolledBack>['data']['reason'];

/** A payment that may have been broadcast: the request, the answer and the signed transaction. */
export interface Purchase {
  readonly authorization: Authorization;
  readonly answer: RecordedAnswer;
  readonly submission: Submission;
}

export type Payment =
  /** Never presented, or released: it may be presented (again). */
  | { readonly status: 'none' | 'released' }
  /** Exists only between the events of one append; no stream ends in it. */
  | { readonly status: 'authorized' | 'query_failed'; readonly authorization: Authorization }
  | { readonly status: 'answered'; readonly authorization: Authorization; readonly answer: RecordedAnswer }
  | (Purchase & { readonly status: 'submitted' })
  | (Purchase & {
      readonly status: 'settled';
      readonly slot: number;
      readonly late: boolean;
      readonly finalized: boolean;
      readonly handedOut: boolean;
    })
  | (Purchase & { readonly status: 'failed'; readonly reason: FailureReason; readonly detail: string | null })
  | (Purchase & { readonly status: 'rolled_back'; readonly handedOut: boolean });

export type PaymentCommand =
  /** The query has an answer: claim the payment, so that it may be broadcast. */
  | ({ readonly type: 'Submit' } & Purchase)
  | {
      readonly type: 'RecordFailedQuery';
      readonly authorization: Authorization;
      readonly code: string;
      readonly httpStatus: number;
    }
  /** The transfer is confirmed. */
  | { readonly type: 'Settle'; readonly slot: number }
  | { readonly type: 'Fail'; readonly reason: FailureReason; readonly detail: string | null }
  | { readonly type: 'Finalize'; readonly slot: number }
  | { readonly type: 'RollBack'; readonly reason: RollbackReason }
  /** Hands out an answer that is given only once. */
  | { readonly type: 'HandOut' }
  /** A new attempt under a payment identifier ends an older one that was never submitted. */
  | { readonly type: 'TakeOver' };

export type PaymentRejection =
  /** `already_used`: another request claimed the payment, whatever its outcome. */
  'already_used' | 'not_submitted' | 'not_settled' | 'already_settled' | 'already_final' | 'already_handed_out';

export const payment: Decider<Payment, PaymentCommand, PaymentEvent, PaymentRejection> = {
  initialState: { status: 'none' },

  decide(state, command) {
    switch (command.type) {
      case 'Submit':
        if (!mayBePresented(state)) return rejected('already_used');
        return [
          PaymentAuthorized.of(command.authorization),
          QueryAnswered.of(command.answer),
          PaymentSubmitted.of(command.submission),
        ];
      case 'RecordFailedQuery': {
        if (!mayBePresented(state)) return rejected('already_used');
        const { authorization, code, httpStatus } = command;
        return [
          PaymentAuthorized.of(authorization),
          QueryFailed.of({ requestId: authorization.requestId, code, status: httpStatus }),
          PaymentReleased.of({ reason: 'query_failed' }),
        ];
      }
      case 'Settle':
        if (!isSubmitted(state)) return rejected('not_submitted');
        if (state.status === 'settled') return [];
        return [
          (state.status === 'submitted' ? PaymentSettled : PaymentSettledLate).of({
            ...charge(state, command.slot),
            owes: debtOf(state.answer),
          }),
        ];
      case 'Fail':
        if (!isSubmitted(state)) return rejected('not_submitted');
        if (state.status === 'failed' || state.status === 'rolled_back') return [];
        if (state.status === 'settled') return rejected('already_settled');
        return [
          PaymentFailed.of({
            transaction: state.submission.transaction,
            requestId: state.authorization.requestId,
            wallet: state.authorization.wallet,
            reason: command.reason,
            detail: command.detail,
          }),
        ];
      case 'Finalize':
        if (state.status !== 'settled') return rejected('not_settled');
        if (state.finalized) return [];
        return [PaymentFinalized.of({ transaction: state.submission.transaction, slot: command.slot })];
      case 'RollBack':
        if (state.status === 'rolled_back') return [];
        if (state.status !== 'settled') return rejected('not_settled');
        if (state.finalized) return rejected('already_final');
        return [PaymentRolledBack.of({ ...charge(state, state.slot), reason: command.reason })];
      case 'HandOut':
        if (state.status !== 'settled') return rejected('not_settled');
        if (state.handedOut) return rejected('already_handed_out');
        return [ResultHandedOut.of({ requestId: state.authorization.requestId })];
      case 'TakeOver':
        if (isSubmitted(state)) return rejected('already_used');
        // Recorded even for a released payment: the stream must move past the revision that the old attempt expects.
        return [PaymentReleased.of({ reason: 'claim_taken_over' })];
      default:
        return unreachable(command);
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'PaymentAuthorized':
        return { status: 'authorized', authorization: event.data };
      case 'QueryAnswered':
        if (state.status !== 'authorized') return state;
        // Member by member, here and below: spreading takes twice as long, and an audit folds millions of payments.
        return { status: 'answered', authorization: state.authorization, answer: event.data };
      case 'QueryFailed':
        return state.status === 'authorized' ? { ...state, status: 'query_failed' } : state;
      case 'PaymentReleased':
        return { status: 'released' };
      case 'PaymentSubmitted':
        if (state.status !== 'answered') return state;
        return {
          status: 'submitted',
          authorization: state.authorization,
          answer: state.answer,
          submission: event.data,
        };
      case 'PaymentSettled':
      case 'PaymentSettledLate':
        if (!isSubmitted(state)) return state;
        return {
          status: 'settled',
          authorization: state.authorization,
          answer: state.answer,
          submission: state.submission,
          slot: event.data.slot,
          late: event.type === 'PaymentSettledLate',
          finalized: false,
          handedOut: wasHandedOut(state),
        };
      case 'PaymentFailed': {
        if (!isSubmitted(state)) return state;
        const { reason, detail } = event.data;
        return { ...purchaseOf(state), status: 'failed', reason, detail };
      }
      case 'PaymentRolledBack':
        if (!isSubmitted(state)) return state;
        return { ...purchaseOf(state), status: 'rolled_back', handedOut: wasHandedOut(state) };
      case 'PaymentFinalized':
        return state.status === 'settled' ? { ...state, finalized: true } : state;
      case 'ResultHandedOut':
        return state.status === 'settled' ? { ...state, handedOut: true } : state;
      default:
        return unreachable(event);
    }
  },
};

/** Whether a request may still pay with it. */
export const mayBePresented = (state: Payment): state is Extract<Payment, { status: 'none' | 'released' }> =>
  state.status === 'none' || state.status === 'released';

/** Whether it may have been broadcast. */
export const isSubmitted = (state: Payment): state is Extract<Payment, Purchase> => 'submission' in state;

/** A secret that was handed out stays handed out, even if the payment is rolled back later. */
const wasHandedOut = (state: Payment): boolean => 'handedOut' in state && state.handedOut;

const purchaseOf = ({ authorization, answer, submission }: Purchase): Purchase => ({
  authorization,
  answer,
  submission,
});

const charge = ({ authorization, answer, submission }: Purchase, slot: number) => ({
  transaction: submission.transaction,
  slot,
  requestId: authorization.requestId,
  wallet: authorization.wallet,
  amount: authorization.amount,
  answeredCases: answer.answeredCases,
});

/** What must happen after settlement, besides the answer. */
function debtOf({ callbacks, keyCall }: RecordedAnswer): EventOf<typeof PaymentSettled>['data']['owes'] {
  if (keyCall === null && callbacks.length === 0) return null;
  return { deliveries: callbacks.map(({ deliveryId }) => deliveryId), keyCall };
}
