/**
 * What the service needs on the chain before it can accept money: SOL on the fee payer's account, and the token account
 * to pay into. On the local chain it creates them; on any other it only checks, and `/readyz` reports what is missing.
 */
import { associatedTokenAddress } from './addresses.ts';
import type { Chain } from './chain.ts';
import type { FaucetClient } from './faucet-client.ts';

export interface Receiver {
  /** Addresses in base58. */
  readonly payTo: string;
  readonly feePayer: string;
  readonly mint: string;
}

/** Maximum fees of one sponsored payment: two signatures and the highest allowed priority fee. */
export const MOST_FEE_LAMPORTS = 15_000n;
/** Below the fees of this many payments the balance raises an alarm, before payments fail. */
const LOW_PAYMENTS = 1_000n;
/** An account must keep this much to stay alive: the rent of an empty one. */
export const RENT_RESERVE_LAMPORTS = 890_880n;

/** Below this balance the fee payer is low. */
export const LOW_BALANCE_LAMPORTS = RENT_RESERVE_LAMPORTS + LOW_PAYMENTS * MOST_FEE_LAMPORTS;

const LOCAL_FEE_LAMPORTS = 1_000_000_000_000n;

export interface ReceiverReport {
  readonly feePayerLamports: bigint;
  /** Enough for one more payment. */
  readonly feePayerCanPay: boolean;
  /** Soon not enough: an alarm, while everything still works. */
  readonly feePayerLow: boolean;
  readonly tokenAccount: string;
  readonly tokenAccountExists: boolean;
  /** Base units in the token account; 0 without one. */
  readonly tokenAmount: bigint;
  /** Why no payment can be accepted; empty if it can. */
  readonly missing: readonly ('fee_payer_funds' | 'token_account')[];
}

/** Checks whether payments can be accepted. @throws ChainUnavailable */
export async function checkReceiver(
  chain: Pick<Chain, 'balance' | 'tokenBalance'>,
  { payTo, feePayer, mint }: Receiver,
): Promise<ReceiverReport> {
  const tokenAccount = associatedTokenAddress(payTo, mint);
  const [feePayerLamports, balance] = await Promise.all([chain.balance(feePayer), chain.tokenBalance(tokenAccount)]);
  const feePayerCanPay = feePayerLamports >= RENT_RESERVE_LAMPORTS + MOST_FEE_LAMPORTS;
  return {
    feePayerLamports,
    feePayerCanPay,
    feePayerLow: feePayerLamports < LOW_BALANCE_LAMPORTS,
    tokenAccount,
    tokenAccountExists: balance !== null,
    tokenAmount: balance?.amount ?? 0n,
    missing: [
      ...(feePayerCanPay ? [] : (['fee_payer_funds'] as const)),
      ...(balance === null ? (['token_account'] as const) : []),
    ],
  };
}

/**
 * On the local chain: funds the fee payer's account and creates our token account, if either is missing.
 *
 * @throws ChainUnavailable, or the faucet's errors: NoFaucet if this is not a local chain
 */
export async function prepareLocalReceiver(
  chain: Pick<Chain, 'balance' | 'tokenBalance'>,
  faucet: FaucetClient,
  receiver: Receiver,
): Promise<ReceiverReport> {
  const before = await checkReceiver(chain, receiver);
  await Promise.all([
    before.feePayerLow ? faucet.giveSol(receiver.feePayer, LOCAL_FEE_LAMPORTS) : null,
    before.tokenAccountExists ? null : faucet.giveUsdc(receiver.payTo, 0n),
  ]);
  return checkReceiver(chain, receiver);
}
