/** The checks of a payment that ask the chain (docs/design/payments.md#chain-checks). Nothing is broadcast by them. */
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

/** What is known of blockhashes without asking: those that we handed out or saw, polled each second. */
export interface BlockhashKnowledge {
  /** The block height at which a blockhash ends; null for one that was never seen here. */
  lastValidBlockHeightOf(blockhash: string): number | null;
  /** The newest block height seen; null before the first. */
  blockHeight(): number | null;
}

/** 25 seconds of the cluster's 400 ms slots: a query may take 20, and then there is the broadcast. */
export const LEAST_REMAINING_BLOCKS = 62;

export interface ChainCheckPorts {
  readonly chain: Chain;
  readonly blockhashes: BlockhashKnowledge;
  /** Bounds the questions about blockhashes that were not offered; unbounded where left out. */
  readonly unknownBlockhashes?: UnknownBlockhashes<CheckedPayment>;
}

export interface CheckedPayment {
  /** The transaction is dead once the finalized height is past this one. An upper bound where it had to be guessed. */
  readonly lastValidBlockHeight: number;
}

export interface PaymentToCheck {
  readonly transaction: VerifiedTransaction;
  /** Its bytes with every signature. */
  readonly signed: Buffer;
  readonly signature: string;
  readonly amount: bigint;
  /** Our token account, base58. */
  readonly destination: string;
  /** The client that unknown blockhashes are counted for; null or left out: none. */
  readonly client?: string | null | undefined;
}

/** What the runtime says when the fee payer cannot pay: it is the first account of every transaction. */
const FEE_PAYER_ERRORS = ['InsufficientFundsForFee', 'AccountNotFound', '"account_index":0'] as const;

const rejectedFor = (reason: PaymentRejection, more: Problem['details'] = {}): Problem =>
  problem('payment_rejected', { reason, ...more });

/** @param shortfall base units that are missing */
export const insufficientFunds = (shortfall: bigint): Problem =>
  rejectedFor('insufficient_funds', { shortfall: String(shortfall), shortfall_usd: usdcText(shortfall) });

/** The catalogue speaks of our moving money, which would mislead where its sender has moved it. */
const alreadyOnChain = (transaction: string): Problem =>
  problem(
    'payment_rejected',
    { reason: 'already_on_chain', transaction },
    'This transfer is on the chain already; it can buy no answer.',
  );

const unavailable = (component: string): Problem => problem('service_unavailable', { component, retry_after: 2 });

/** Asks the chain whether this payment would be taken now. @returns when it ends, or why it is refused */
export async function checkOnChain(ports: ChainCheckPorts, payment: PaymentToCheck): Promise<CheckedPayment | Problem> {
  try {
    const { chain } = ports;
    const { sponsored, blockhash } = payment.transaction;
    // What is known here costs nothing, and what has to be asked is one question, alone: a blockhash that somebody
    // invented must cost no more.
    const life = knownLife(ports, blockhash) ?? (await askedLife(ports, blockhash, payment.client ?? null));
    if ('problem' in life) return life;
    const [simulation, seen] = await Promise.all([
      simulate(ports, payment),
      sponsored ? null : chain.signatureStatus(payment.signature),
    ]);
    // The signature that names a sponsored transaction is our own, and leaves us only once its claim is in the log: it
    // cannot be on chain unseen. So the chain's consent to run it, which it gives to nothing that it has run, is enough,
    // and only where it refuses is it asked why.
    const status = sponsored && !simulation.ok ? await chain.signatureStatus(payment.signature) : seen;
    if (status) return alreadyOnChain(payment.signature);
    if (!simulation.ok) return await refusalOf(ports.chain, payment, simulation);
    return life;
  } catch (error) {
    if (error instanceof ChainUnavailable) return unavailable('chain');
    throw error;
  }
}

/** When a blockhash that was offered or seen here ends; null for any other. */
function knownLife({ blockhashes }: ChainCheckPorts, blockhash: string): CheckedPayment | Problem | null {
  const known = blockhashes.lastValidBlockHeightOf(blockhash);
  if (known === null) return null;
  const height = blockhashes.blockHeight() ?? 0;
  if (known - height >= LEAST_REMAINING_BLOCKS) return { lastValidBlockHeight: known };
  return rejectedFor(known > height ? 'blockhash_expires_too_soon' : 'blockhash_expired');
}

/** Whether a payment that was checked has since come too near its end; by what is known here, without a question. */
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
  // Asked afterwards and at the newest commitment: a later height can only make the bound later. An endpoint may lag
  // behind the one that knew the blockhash; what was seen here meanwhile is then the better bound.
  const asked = await chain.blockHeight('processed');
  const seen = blockhashes.blockHeight() ?? asked;
  // One of them is no height of this chain: a payment that ends by it might never end.
  if (Math.abs(asked - seen) > MOST_BLOCKS_AHEAD) return unavailable('chain');
  return { lastValidBlockHeight: Math.max(asked, seen) + BLOCKHASH_LIFE_BLOCKS };
}

/** An endpoint that lags may not know a new blockhash yet, so one that it does not know is asked about once more. */
async function simulate({ chain, blockhashes }: ChainCheckPorts, payment: PaymentToCheck): Promise<Simulation> {
  const first = await chain.simulate(payment.signed);
  if (first.ok || !first.error.includes('BlockhashNotFound')) return first;
  const known = blockhashes.lastValidBlockHeightOf(payment.transaction.blockhash) !== null;
  return known ? chain.simulate(payment.signed) : first;
}

/** Turns the chain's word into what the caller, or an operator, can do about it. */
async function refusalOf(
  chain: Chain,
  { transaction, amount, destination, signature }: PaymentToCheck,
  { error }: Extract<Simulation, { ok: false }>,
): Promise<Problem> {
  if (error.includes('AlreadyProcessed')) return alreadyOnChain(signature);
  // The blockhash is good (a parallel call said so): the endpoint that simulated is behind.
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
