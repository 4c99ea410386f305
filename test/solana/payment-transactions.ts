/** Payments built by hand, part by part, so that a test can break exactly one of them. */
import { randomBytes } from 'node:crypto';
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { TransferTerms } from '../../src/solana/verify-transaction.ts';

export const MINT = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
export const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
export const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');
export const PRICE = 990_000n;

export const tokenAccountOf = (owner: PublicKey, mint: PublicKey = MINT): PublicKey =>
  getAssociatedTokenAddressSync(mint, owner, true);

export interface Parties {
  readonly feePayer: PublicKey;
  readonly payTo: PublicKey;
}

export const termsOf = ({ feePayer, payTo }: Parties, amount = PRICE): TransferTerms => ({
  feePayer: feePayer.toBuffer(),
  payTo: payTo.toBuffer(),
  mint: MINT.toBuffer(),
  destination: tokenAccountOf(payTo).toBuffer(),
  amount,
});

export const limit = (units = 20_000) => ComputeBudgetProgram.setComputeUnitLimit({ units });
export const price = (microLamports: number | bigint = 1) =>
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
export const memo = (
  text: string | Buffer = randomBytes(16).toString('hex'),
  keys: TransactionInstruction['keys'] = [],
) => new TransactionInstruction({ programId: MEMO_PROGRAM, keys, data: Buffer.from(text) });
export const guard = (discriminator: number, accounts: readonly PublicKey[] = []) =>
  new TransactionInstruction({
    programId: LIGHTHOUSE,
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    data: Buffer.from([discriminator, 0, 1, 2, 3]),
  });

export interface TransferChange {
  readonly source?: PublicKey;
  readonly mint?: PublicKey;
  readonly destination?: PublicKey;
  readonly authority?: PublicKey;
  readonly amount?: bigint;
  readonly decimals?: number;
  readonly multisig?: readonly PublicKey[];
  readonly program?: PublicKey;
}

export const transfer = (parties: Parties, owner: PublicKey, change: TransferChange = {}) =>
  createTransferCheckedInstruction(
    change.source ?? tokenAccountOf(owner),
    change.mint ?? MINT,
    change.destination ?? tokenAccountOf(parties.payTo),
    change.authority ?? owner,
    change.amount ?? PRICE,
    change.decimals ?? 6,
    [...(change.multisig ?? [])],
    change.program,
  );

export interface Build {
  readonly instructions: readonly TransactionInstruction[];
  readonly payer: PublicKey;
  readonly signers: readonly Keypair[];
  readonly blockhash?: string;
  readonly version?: 'legacy' | 0;
}

export function build({ instructions, payer, signers, blockhash = randomBlockhash(), version = 0 }: Build): Buffer {
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: blockhash,
    instructions: [...instructions],
  });
  const transaction = new VersionedTransaction(
    version === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message(),
  );
  if (signers.length) transaction.sign([...signers]);
  return Buffer.from(transaction.serialize());
}

export const randomBlockhash = (): string => Keypair.generate().publicKey.toBase58();

/** What a client of x402 sends: limit, price, transfer and memo, signed only by the wallet. */
export const sponsored = (parties: Parties, wallet: Keypair, over: Partial<Build> & { amount?: bigint } = {}): Buffer =>
  build({
    instructions: [
      limit(),
      price(),
      transfer(parties, wallet.publicKey, over.amount === undefined ? {} : { amount: over.amount }),
      memo(),
    ],
    payer: parties.feePayer,
    signers: [wallet],
    ...over,
  });

/** The same, with its network fee paid by the wallet itself. */
export const selfPaid = (parties: Parties, wallet: Keypair, over: Partial<Build> = {}): Buffer =>
  build({
    instructions: [limit(), price(), transfer(parties, wallet.publicKey), memo()],
    payer: wallet.publicKey,
    signers: [wallet],
    ...over,
  });
