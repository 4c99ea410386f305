/** The parts of one payment's history, shared by the tests of its rules, its read models and its recovery. */
import type { Authorization, Purchase, RecordedAnswer, Submission } from '../../../src/commands/payment/payment.ts';
import {
  PaymentAuthorized,
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
} from '../../../src/events/payment.ts';

export const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
export const TRANSACTION = '2'.repeat(88);
export const REQUEST = '2f0e6a5e-3a3c-4f0a-9d41-2a8f5f6f7a10';

export const authorization: Authorization = {
  requestId: REQUEST,
  wallet: WALLET,
  dialect: 'x402-v2',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  payTo: '3yFwqXBfZY4jBVUafQ1YEXw189y2dN3V5KQq9uzBDy1E',
  amount: '990000',
  queries: 1,
  endpoint: 'GET /v2/case',
  requestHash: 'a'.repeat(64),
  identifierHash: null,
};

export const answer: RecordedAnswer = {
  requestId: REQUEST,
  answer: 'b'.repeat(64),
  keepUntil: '2026-07-01T12:00:00.000000Z',
  answeredCases: 1,
  keyCall: null,
  callbacks: [],
};

export const submission: Submission = { transaction: TRANSACTION, wire: 'AQID', lastValidBlockHeight: 150 };
export const purchase: Purchase = { authorization, answer, submission };

const charged = {
  transaction: TRANSACTION,
  slot: 77,
  requestId: REQUEST,
  wallet: WALLET,
  amount: '990000',
  answeredCases: 1,
};

export const authorized = PaymentAuthorized.of(authorization);
export const answered = QueryAnswered.of(answer);
export const submitted = PaymentSubmitted.of(submission);
export const queryFailed = QueryFailed.of({ requestId: REQUEST, code: 'case_not_found', status: 404 });
export const released = PaymentReleased.of({ reason: 'query_failed' });
export const takenOver = PaymentReleased.of({ reason: 'claim_taken_over' });
export const settled = PaymentSettled.of({ ...charged, owes: null });
export const settledLate = PaymentSettledLate.of({ ...charged, owes: null });
export const expired = PaymentFailed.of({
  transaction: TRANSACTION,
  requestId: REQUEST,
  wallet: WALLET,
  reason: 'expired',
  detail: null,
});
export const failedOnChain = PaymentFailed.of({
  ...expired.data,
  reason: 'on_chain_error',
  detail: '{"InstructionError":[2,{"Custom":1}]}',
});
export const finalized = PaymentFinalized.of({ transaction: TRANSACTION, slot: 77 });
export const rolledBack = PaymentRolledBack.of({ ...charged, reason: 'not_on_the_finalized_chain' });
export const handedOut = ResultHandedOut.of({ requestId: REQUEST });

export const claimed = [authorized, answered, submitted] as const;
export const givenBack = [authorized, queryFailed, released] as const;
