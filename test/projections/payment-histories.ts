/** Random histories of payments, as the decider could have recorded them, and what each must add to the revenue. */
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import type { DomainEvent } from '../../src/events/event.ts';
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
} from '../../src/events/payment.ts';
import * as fixtures from '../commands/payment/payment.fixtures.ts';
import { build, limit, memo, price, transfer } from '../solana/payment-transactions.ts';

const wallets = [1, 2, 3].map((seed) => Keypair.fromSeed(Buffer.alloc(32, seed)));
export const WALLETS: readonly string[] = wallets.map(({ publicKey }) => publicKey.toBase58());
const sponsor = Keypair.fromSeed(Buffer.alloc(32, 9));
const payTo = Keypair.fromSeed(Buffer.alloc(32, 8)).publicKey;

/** Two signatures of 5,000 lamports each, and 200,000 units at 1.5 lamports a million, rounded up: 1 lamport. */
export const SPONSORED_FEE = 10_001n;

/** A signed transaction of a wallet, whose fee the service pays, or the wallet itself. */
export function wireOf(wallet: string, sponsored: boolean): string {
  const buyer = wallets.find(({ publicKey }) => publicKey.toBase58() === wallet);
  if (!buyer) throw new RangeError(`no such wallet: ${wallet}`);
  const payer = sponsored ? sponsor : buyer;
  const parties = { feePayer: sponsor.publicKey, payTo };
  const instructions = [limit(200_000), price(5), transfer(parties, buyer.publicKey), memo('one')];
  const signers = sponsored ? [sponsor, buyer] : [buyer];
  return build({ instructions, payer: payer.publicKey, signers, blockhash: payTo.toBase58() }).toString('base64');
}
const wires = WALLETS.map((wallet) => ({ sponsored: wireOf(wallet, true), own: wireOf(wallet, false) }));

/** How a submitted payment can go on: each step with what it leaves. */
const COURSES = [
  [],
  ['settle'],
  ['settle', 'finalize'],
  ['settle', 'drop'],
  ['settle', 'fail_final'],
  ['settle', 'drop', 'late'],
  ['settle', 'drop', 'late', 'finalize'],
  ['settle', 'drop', 'late', 'drop'],
  ['fail_on_chain'],
  ['expire'],
  ['expire', 'late'],
  ['expire', 'late', 'finalize'],
] as const;

export interface PaymentHistory {
  readonly payment: string;
  /** In the order of the stream, each with its UTC day. */
  readonly events: readonly { readonly event: DomainEvent; readonly day: number }[];
}

const courts = fc.constantFrom<{ court: string; cases: number }[] | undefined>(
  undefined,
  [],
  [{ court: 'cand', cases: 1 }],
  [
    { court: 'cand', cases: 2 },
    { court: 'nysd', cases: 1 },
  ],
  [
    { court: 'nysd', cases: 3 },
    { court: 'ca9', cases: 3 },
    { court: 'cand', cases: 1 },
  ],
);

const history = (payment: string): fc.Arbitrary<PaymentHistory> =>
  fc
    .record({
      wallet: fc.nat(WALLETS.length - 1),
      endpoint: fc.constantFrom('GET /v2/case', 'POST /v2/cases', 'GET /v2/monitor'),
      courts,
      amount: fc.bigInt({ min: 0n, max: 2n ** 70n }),
      sponsored: fc.boolean(),
      refusals: fc.array(fc.constantFrom('case_not_found', 'query_timeout'), { maxLength: 2 }),
      submitted: fc.boolean(),
      course: fc.constantFrom(...COURSES),
      days: fc.array(fc.nat(2), { minLength: 12, maxLength: 12 }),
    })
    .map(({ wallet, refusals, submitted, course, days, ...one }) => {
      const address = WALLETS[wallet] ?? '';
      const answeredCases = Math.max(
        1,
        (one.courts ?? []).reduce((sum, { cases }) => sum + cases, 0),
      );
      const amount = String(one.amount);
      const { requestId, transaction } = { requestId: fixtures.REQUEST, transaction: fixtures.TRANSACTION };
      const authorized = PaymentAuthorized.of({
        ...fixtures.authorization,
        wallet: address,
        amount,
        endpoint: one.endpoint,
        queries: answeredCases,
      });
      const charge = { transaction, slot: 7, requestId, wallet: address, amount, answeredCases };
      const failure = { transaction, requestId, wallet: address, detail: null };
      const steps = {
        settle: PaymentSettled.of({ ...charge, owes: null }),
        late: PaymentSettledLate.of({ ...charge, owes: null }),
        finalize: PaymentFinalized.of({ transaction, slot: 7 }),
        drop: PaymentRolledBack.of({ ...charge, reason: 'not_on_the_finalized_chain' }),
        fail_final: PaymentRolledBack.of({ ...charge, reason: 'failed_on_the_finalized_chain' }),
        fail_on_chain: PaymentFailed.of({ ...failure, reason: 'on_chain_error' }),
        expire: PaymentFailed.of({ ...failure, reason: 'expired' }),
      };
      const answer = { ...fixtures.answer, answeredCases, ...(one.courts && { courts: one.courts }) };
      const wire = (one.sponsored ? wires[wallet]?.sponsored : wires[wallet]?.own) ?? '';
      const stages: DomainEvent[][] = [
        ...refusals.map((code) => [
          authorized,
          QueryFailed.of({ requestId, code, status: 404 }),
          PaymentReleased.of({ reason: 'query_failed' }),
        ]),
        ...(submitted
          ? [
              [authorized, QueryAnswered.of(answer), PaymentSubmitted.of({ ...fixtures.submission, wire })],
              ...course.map((step) => [steps[step]]),
            ]
          : []),
      ];
      const ascending = days.toSorted();
      return {
        payment,
        events: stages.flatMap((stage, index) => stage.map((event) => ({ event, day: ascending[index] ?? 2 }))),
      };
    });

export const histories: fc.Arbitrary<readonly PaymentHistory[]> = fc
  .integer({ min: 1, max: 8 })
  .chain((count) =>
    fc.tuple(...Array.from({ length: count }, (_, index) => history(String(index + 1).padStart(64, '0')))),
  );
