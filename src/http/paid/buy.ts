/**
 * How an answer is bought, over any transport (docs/design/request-checks.md#order-of-checks): the payment is checked
 * against our own terms, then it buys.
 */
import { createHash } from 'node:crypto';
import type { PurchaseOutcome, Purchasing } from '../../commands/purchase/contract.ts';
import type { GivenProof } from '../../commands/signing-key/sign-in.ts';
import { isProblem, type Problem } from '../../errors.ts';
import type { PaymentDialect } from '../../events/payment.ts';
import type { PaymentRejection } from '../../events/payment-rejections.ts';
import type { Clock } from '../../runtime/instant.ts';
import { REJECTION, type VerifiedTransaction, verifyTransaction } from '../../solana/verify-transaction.ts';
import { type AddressLimit, clientOf, siteOf } from '../address-limit.ts';
import { isInternal } from '../client-address.ts';
import { type PresentedPayment, rejectedPayment, unreadable } from '../x402/payment-header.ts';
import { identifierHashOf } from '../x402/payment-identifier.ts';
import { fitOf, type Purpose, type PurposeFit } from '../x402/purpose.ts';
import type { Receipt } from '../x402/receipt.ts';
import { readSignIn, type SignIn, type SignInTerms } from '../x402/sign-in.ts';
import { type Merchant, transferTermsOf } from '../x402/terms.ts';
import { costInUsd, type PaidRoute } from './paid-call.ts';

export interface BuyingDependencies {
  readonly merchant: Merchant;
  readonly purchasing: Purchasing;
  /** Limits calls with an invalid payment; no limit if omitted. */
  readonly addressLimit?: AddressLimit | undefined;
  readonly clock: Clock;
}

/** A payment that passed every check that needs neither log nor chain. */
export interface VerifiedPayment {
  readonly transaction: VerifiedTransaction;
  readonly dialect: PaymentDialect;
  /** The client's `payment-identifier`. */
  readonly identifier: string | null;
  /** Base units. */
  readonly amount: bigint;
  /** Whether its memo names this purchase. */
  readonly fit: PurposeFit;
  /** Why it cannot buy this call, although it is valid. */
  readonly unfit: Problem | null;
  readonly proof: GivenProof | null;
}

/** The terms that a payment is checked against. */
export interface AskedFor {
  /** Base units. */
  readonly amount: bigint;
  readonly purpose: Purpose;
  /** For a call that reads a signed message: its required content, and the message that was sent. */
  readonly signIn?: AskedSignIn | undefined;
}

export interface AskedSignIn {
  readonly terms: SignInTerms;
  readonly needsBound: boolean;
  /** The header as sent. */
  readonly sent: string | undefined;
}

export interface PayingCall<Parameters> {
  readonly route: PaidRoute<Parameters>;
  readonly parameters: Parameters;
  readonly payment: VerifiedPayment;
  readonly requestId: string;
  /** `X-Service-Tag`, checked. */
  readonly tag: string | null;
  /** `performance.now()` at the arrival of the call. */
  readonly startedAt: number;
  /** The caller's address, as `ClientAddresses` determines it. */
  readonly address: string | null;
  /** Whether the caller has disconnected. */
  isAbandoned(): boolean;
}

export interface Bought {
  readonly outcome: PurchaseOutcome;
  readonly receipt: Omit<Receipt, 'transaction' | 'failure'>;
}

export interface Buying {
  /**
   * The checks that need neither log nor chain (docs/design/payments.md#static-checks). An invalid payment counts
   * against the client's address.
   * @param payment the payment, or why it cannot be read
   * @param address of the client; null if only a proxy's is known
   */
  verify(
    payment: PresentedPayment | Problem,
    asked: AskedFor,
    address: string | null,
  ): Promise<VerifiedPayment | Problem>;
  /**
   * Buys one answer. Equal requests are the same request over every transport: a payment identifier repeated over
   * another transport returns the answer that it bought, and one transaction never buys twice.
   */
  buy<Parameters>(call: PayingCall<Parameters>): Promise<Bought>;
}

/** @throws RangeError if an address of the merchant is invalid */
export function createBuying({ merchant, purchasing, addressLimit, clock }: BuyingDependencies): Buying {
  const termsOf = transferTermsOf(merchant);
  const check = async (
    payment: PresentedPayment | Problem,
    { amount, purpose, signIn }: AskedFor,
  ): Promise<VerifiedPayment | Problem> => {
    if (isProblem(payment)) return payment;
    const { transaction: wire, memo, x402Version, identifier } = payment;
    const verdict = await verifyTransaction(wire, termsOf(amount), memo);
    if (!verdict.ok) {
      return verdict.reason === REJECTION.couldNotBeDecoded
        ? unreadable(verdict.reason)
        : rejectedPayment(verdict.reason);
    }
    const { transaction } = verdict;
    const dialect = transaction.sponsored ? (x402Version === 2 ? 'x402-v2' : 'x402-v1') : 'self-paid';
    const fit = fitOf(transaction.memo, purpose);
    const proof = await proofOf(signIn, transaction.wallet, clock);
    const unfit = fit === 'another' ? 'payment_for_another_purpose' : unfitness(signIn, proof, fit);
    return {
      transaction,
      dialect,
      identifier,
      amount,
      fit,
      proof: typeof proof === 'string' ? null : proof,
      unfit: unfit && rejectedPayment(unfit),
    };
  };
  return {
    async verify(payment, asked, address) {
      const verified = await check(payment, asked);
      return isProblem(verified) ? limited(verified, addressLimit?.count(address) ?? null) : verified;
    },
    async buy({ route, parameters, payment, requestId, tag, startedAt, address, isAbandoned }) {
      const { transaction, dialect, identifier, amount, fit, unfit, proof } = payment;
      const endpoint = `${route.method} ${route.path}`;
      const site = address === null || isInternal(address) ? null : siteOf(address);
      const outcome = await purchasing.buy({
        requestId,
        endpoint,
        requestHash: sha256(`${endpoint}\n${route.fingerprint(parameters)}`),
        queries: route.queries(parameters),
        amount,
        dialect,
        transaction,
        unfit,
        identifierHash: identifier === null ? null : identifierHashOf(transaction.wallet, identifier),
        tag,
        startedAt,
        client: address === null ? null : clientOf(address),
        site,
        isPushed: route.pushes?.(parameters) ?? false,
        isAbandoned,
        answer: ({ wallet, signal }) =>
          route.answer(parameters, {
            requestId,
            wallet,
            site,
            costUsd: costInUsd(amount),
            tag,
            payment: transaction.messageHash,
            isBound: fit === 'bound',
            proof,
            signal,
          }),
      });
      return {
        outcome: isAddressFault(outcome)
          ? { ...outcome, problem: limited(outcome.problem, addressLimit?.count(address) ?? null) }
          : outcome,
        receipt: { dialect, network: merchant.network, payer: transaction.wallet, amount: String(amount) },
      };
    },
  };
}

type Refused = Extract<PurchaseOutcome, { outcome: 'refused' }>;

/**
 * Rejections that count for the address and not for the wallet. An invented blockhash costs a call to the chain, and
 * anyone can present a payment or proof that was made for another call without end.
 */
const OF_THE_ADDRESS: ReadonlySet<unknown> = new Set<PaymentRejection>([
  'blockhash_expired',
  'payment_for_another_purpose',
  'sign_in_invalid',
  'sign_in_for_another_call',
  'sign_in_by_another_wallet',
]);

const isAddressFault = (outcome: PurchaseOutcome): outcome is Refused =>
  outcome.outcome === 'refused' && OF_THE_ADDRESS.has(outcome.problem.details.reason);

/**
 * Beyond the limit the answer still names the error of this payment, because its caller may share the address with
 * others.
 */
function limited(refusal: Problem, limit: Problem | null): Problem {
  if (limit === null) return refusal;
  const refused = { code: refusal.problem, reason: refusal.details?.reason ?? null };
  return { ...limit, details: { ...limit.details, refused } };
}

/** The proof that came with a payment; null if there is none. */
async function proofOf(
  signIn: AskedSignIn | undefined,
  wallet: string,
  clock: Clock,
): Promise<SignIn | PaymentRejection | null> {
  if (signIn?.sent === undefined) return null;
  const proof = await readSignIn(signIn.sent, signIn.terms, clock.now());
  return typeof proof !== 'string' && proof.wallet !== wallet ? 'sign_in_by_another_wallet' : proof;
}

function unfitness(
  signIn: AskedSignIn | undefined,
  proof: SignIn | PaymentRejection | null,
  fit: PurposeFit,
): PaymentRejection | null {
  if (typeof proof === 'string') return proof;
  return signIn?.needsBound && proof === null && fit !== 'bound' ? 'payment_not_bound' : null;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
