/** The checks of a payment that ask the chain (docs/design/payments.md#chain-checks). They broadcast nothing. */
import { type Problem, problem } from '../../errors.ts';
import type { PaymentRejection } from '../../events/payment-rejections.ts';
import {
  BLOCKHASH_LIFE_BLOCKS,
  type Chain,
  ChainUnavailable,
  MOST_BLOCKS_AHEAD,
  type Simulation,
} from '../../solana/chain.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import type { VerifiedTransaction } from '../../solana/verify-transaction.ts';
import type { UnknownBlockhashes } from '../purchase/unknown-blockhashes.ts';

/** What this process knows about blockhashes without a call: those that it offered or saw, polled every second. */
export interface BlockhashKnowledge {
  /** The last block height at which a blockhash is valid; null if it was never seen here. */
  lastValidBlockHeightOf(blockhash: string): number | null;
  /** The newest block height seen; null before the first. */
  blockHeight(): number | null;
}

/** 25 seconds of the cluster's 400 ms slots: a query may take 20 seconds, and then follows the broadcast. */
export const LEAST_REMAINING_BLOCKS = 62;

export interface ChainCheckPorts {
  readonly chain: Chain;
  readonly blockhashes: BlockhashKnowledge;
  /** Limits calls about blockhashes that were not offered; no limit if omitted. */
  readonly unknownBlockhashes?: UnknownBlockhashes<CheckedPayment>;
}

export interface CheckedPayment {
  /**
   * Once the finalized height exceeds this, the transaction can no longer land. An upper bound if it had to be
   * estimated.
   */
  readonly lastValidBlockHeight: number;
}

export interface PaymentToCheck {
  readonly transaction: VerifiedTransaction;
  /** The transaction with all signatures. */
  readonly signed: Buffer;
  readonly signature: string;
  readonly amount: bigint;
  /** Our token account, base58. */
  readonly destination: string;
  /** The client that calls about unknown blockhashes are counted for; none if null or omitted. */
  readonly client?: string | null | undefined;
}

/** Errors of the runtime if the fee payer, the first account of every transaction, cannot pay. */
const FEE_PAYER_ERRORS = ['InsufficientFundsForFee', 'AccountNotFound', '"account_index":0'] as const;

const rejectedFor = (reason: PaymentRejection, more: Problem['details'] = {}): Problem =>
  problem('payment_rejected', { reason, ...more });

/** @param shortfall missing base units */
export const insufficientFunds = (shortfall: bigint): Problem =>
  rejectedFor('insufficient_funds', { shortfall: String(shortfall), shortfall_usd: usdcText(shortfall) });

/** Replaces the catalogue's message, which says that we sent the money: here its owner did. */
const alreadyOnChain = (transaction: string): Problem =>
  problem(
    'payment_rejected',
    { reason: 'already_on_chain', transaction },
    'This transfer is on the chain already; it can buy no answer.',
  );

const unavailable = (component: string): Problem => problem('service_unavailable', { component, retry_after: 2 });

/**
 * Asks the chain whether it would accept this payment now.
 * @returns when the payment expires, or why it is rejected
 */
export async function checkOnChain(ports: ChainCheckPorts, payment: PaymentToCheck): Promise<CheckedPayment | Problem> {
  try {
    const { chain } = ports;
    const { sponsored, blockhash } = payment.transaction;
    // A known blockhash costs no call and an unknown one costs a single call, so that invented blockhashes stay cheap.
    const life = knownLife(ports, blockhash) ?? (await askedLife(ports, blockhash, payment.client ?? null));
    if ('problem' in life) return life;
    const [simulation, seen] = await Promise.all([
      simulate(ports, payment),
      sponsored ? null : chain.signatureStatus(payment.signature),
    ]);
    // The signature that names a sponsored transaction is ours, and we send it only once its claim is in the log, so it
    // cannot be on chain unnoticed. A successful simulation is therefore enough, because the chain never runs a
    // transaction twice. The signature is looked up only if the simulation fails.
    const status = sponsored && !simulation.ok ? await chain.signatureStatus(payment.signature) : seen;
    if (status) return alreadyOnChain(payment.signature);
    if (!simulation.ok) return await refusalOf(ports.chain, payment, simulation);
    return life;
  } catch (error) {
    if (error instanceof ChainUnavailable) return unavailable('chain');
    throw error;
  }
}

/** When a blockhash that was offered or seen here expires; null for any other. */
function knownLife({ blockhashes }: ChainCheckPorts, blockhash: string): CheckedPayment | Problem | null {
  const known = blockhashes.lastValidBlockHeightOf(blockhash);
  if (known === null) return null;
  const height = blockhashes.blockHeight() ?? 0;
  if (known - height >= LEAST_REMAINING_BLOCKS) return { lastValidBlockHeight: known };
  return rejectedFor(known > height ? 'blockhash_expires_too_soon' : 'blockhash_expired');
}

/** Whether a checked payment is now too close to its expiry, as far as this process knows; makes no call. */
export const endsTooSoon = (
  { blockhashes }: Pick<ChainCheckPorts, 'blockhashes'>,
  checked: CheckedPayment,
): Problem | null =>
  checked.lastValidBlockHeight - (blockhashes.blockHeight() ?? 0) >= LEAST_REMAINING_BLOCKS
    ? null
    : rejectedFor('blockhash_expires_too_soon');

async function askedLife(
  ports: ChainCheckPorts,
  blockhash: string,
  client: string | null,
): Promise<CheckedPayment | Problem> {
  const invented = rejectedFor('blockhash_expired');
  const ask = () => lifeByChain(ports, blockhash);
  return ports.unknownBlockhashes?.life(blockhash, client, ask, invented) ?? (await ask()) ?? invented;
}

async function lifeByChain(
  { chain, blockhashes }: ChainCheckPorts,
  blockhash: string,
): Promise<CheckedPayment | Problem | null> {
  if (!(await chain.isBlockhashValid(blockhash))) return null;
  // Asked after the simulation and at the newest commitment: a greater height only makes the bound later. If the
  // endpoint is behind the one that knew the blockhash, the height that was seen here is the better bound.
  const asked = await chain.blockHeight('processed');
  const seen = blockhashes.blockHeight() ?? asked;
  // One of the heights is wrong. A payment bounded by it might never expire.
  if (Math.abs(asked - seen) > MOST_BLOCKS_AHEAD) return unavailable('chain');
  return { lastValidBlockHeight: Math.max(asked, seen) + BLOCKHASH_LIFE_BLOCKS };
}

/** An endpoint that is behind may not know a new blockhash yet, so an unknown one is asked about a second time. */
async function simulate({ chain, blockhashes }: ChainCheckPorts, payment: PaymentToCheck): Promise<Simulation> {
  const first = await chain.simulate(payment.signed);
  if (first.ok || !first.error.includes('BlockhashNotFound')) return first;
  const known = blockhashes.lastValidBlockHeightOf(payment.transaction.blockhash) !== null;
  return known ? chain.simulate(payment.signed) : first;
}

/** Maps an error of the chain to a problem that the caller, or an operator, can act on. */
async function refusalOf(
  chain: Chain,
  { transaction, amount, destination, signature }: PaymentToCheck,
  { error }: Extract<Simulation, { ok: false }>,
): Promise<Problem> {
  if (error.includes('AlreadyProcessed')) return alreadyOnChain(signature);
  // A parallel call confirmed the blockhash, so the endpoint that simulated is behind.
  if (error.includes('BlockhashNotFound')) return unavailable('chain');
  if (FEE_PAYER_ERRORS.some((word) => error.includes(word))) {
    return transaction.sponsored ? unavailable('fee_payer') : rejectedFor('insufficient_sol_for_network_fee');
  }
  const [source, ours] = await Promise.all([chain.tokenBalance(transaction.source), chain.tokenBalance(destination)]);
  if (!ours) return unavailable('token_account');
  const shortfall = amount - (source?.amount ?? 0n);
  if (shortfall > 0n) return insufficientFunds(shortfall);
  return rejectedFor('invalid_exact_svm_transaction_simulation_failed', { chain_error: error.slice(0, 200) });
}
