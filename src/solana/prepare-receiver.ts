/**
 * What the service must have on the chain before it can take money: SOL with the fee payer, and the token account that
 * is paid. On the local chain it is made; on any other it is looked for, and what lacks is said by `/readyz`.
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

/** Fees of one sponsored payment at most: two signatures and the priority fee that is allowed at most. */
export const MOST_FEE_LAMPORTS = 15_000n;
/** Below so many payments' fees the balance is an alarm, before it is a failure. */
const LOW_PAYMENTS = 1_000n;
/** An account is not taken below what keeps it alive: the rent of an empty one. */
const RENT_RESERVE_LAMPORTS = 890_880n;

const LOCAL_FEE_LAMPORTS = 1_000_000_000_000n;

export interface ReceiverReport {
  readonly feePayerLamports: bigint;
  /** Enough for one more payment. */
  readonly feePayerCanPay: boolean;
  /** Soon not enough: an alarm, while everything still works. */
  readonly feePayerLow: boolean;
  readonly tokenAccount: string;
  readonly tokenAccountExists: boolean;
  /** Why no payment can be taken; empty when it can. */
  readonly lacks: readonly ('fee_payer_funds' | 'token_account')[];
}

/** Looks whether payments can be taken. @throws ChainUnavailable */
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
    feePayerLow: feePayerLamports < RENT_RESERVE_LAMPORTS + LOW_PAYMENTS * MOST_FEE_LAMPORTS,
    tokenAccount,
    tokenAccountExists: balance !== null,
    lacks: [
      ...(feePayerCanPay ? [] : (['fee_payer_funds'] as const)),
      ...(balance === null ? (['token_account'] as const) : []),
    ],
  };
}

/**
 * On the local chain: fills the fee payer's account and makes our token account, where either lacks.
 *
 * @throws ChainUnavailable, or what the faucet throws: NoFaucet if this is no local chain
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
