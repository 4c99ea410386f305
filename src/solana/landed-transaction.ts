/** Reads what `getTransaction` answers. Whatever the transaction's own bytes prove is taken from them. */
import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { z } from 'zod';
import { MEMO_PROGRAM, MEMO_V1_PROGRAM } from './addresses.ts';
import type { LandedTransaction, TokenChange } from './chain-history.ts';
import { type Message, readTransaction } from './local/wire.ts';
import { TransactionError } from './rpc-signature-status.ts';

const count = z.int().nonnegative();
const Address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
/** A transaction has at most 256 accounts. */
const MOST_ACCOUNTS = 256;

const TokenBalance = z.object({
  accountIndex: count.max(MOST_ACCOUNTS - 1),
  mint: Address,
  owner: Address.nullish(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d{1,20}$/) }),
});
type TokenBalance = z.infer<typeof TokenBalance>;

const Balances = z.array(TokenBalance).max(MOST_ACCOUNTS).nullish();
const Loaded = z.array(Address).max(MOST_ACCOUNTS);

/** With encoding base64. `meta` is null if the endpoint has lost it. */
export const TransactionAnswer = z
  .object({
    slot: count,
    blockTime: z.int().nullish(),
    transaction: z.tuple([z.base64(), z.literal('base64')]),
    meta: z
      .object({
        err: TransactionError,
        fee: count,
        loadedAddresses: z.object({ writable: Loaded, readonly: Loaded }).nullish(),
        preTokenBalances: Balances,
        postTokenBalances: Balances,
      })
      .nullable(),
  })
  .nullable();
export type TransactionAnswer = z.infer<typeof TransactionAnswer>;

/**
 * The transaction that an endpoint returned for a signature; null if it has none, or not what became of it.
 * @throws if its bytes are not a transaction with this signature
 */
export function landedTransaction(answer: TransactionAnswer, signature: string): LandedTransaction | null {
  if (!answer?.meta) return null;
  const { slot, blockTime, meta } = answer;
  const { signatures, message } = readTransaction(Buffer.from(answer.transaction[0], 'base64'));
  const [first] = signatures;
  if (!first || bs58.encode(first) !== signature) throw new Error('another transaction was returned');
  const loaded = meta.loadedAddresses;
  const keys = [
    ...message.accounts.map((key) => bs58.encode(key)),
    ...(loaded ? [...loaded.writable, ...loaded.readonly] : []),
  ];
  return {
    signature,
    slot,
    blockTime: blockTime ?? null,
    error: meta.err === null ? null : JSON.stringify(meta.err),
    fee: BigInt(meta.fee),
    signers: keys.slice(0, message.requiredSignatures),
    messageHash: hashOfMessage(message.bytes),
    memos: memosOf(message),
    changes: changesOf(keys, meta.preTokenBalances ?? [], meta.postTokenBalances ?? []),
  };
}

export const hashOfMessage = (message: Uint8Array): string => createHash('sha256').update(message).digest('hex');

const memoPrograms: readonly string[] = [MEMO_PROGRAM, MEMO_V1_PROGRAM];

/** The memos in the order of their instructions. Bytes that are not UTF-8 become replacement characters. */
export const memosOf = ({ accounts, instructions }: Pick<Message, 'accounts' | 'instructions'>): readonly string[] =>
  instructions
    .filter(({ programIndex }) => memoPrograms.includes(bs58.encode(accounts[programIndex] ?? Buffer.alloc(0))))
    .map(({ data }) => data.toString('utf8'));

function changesOf(
  keys: readonly string[],
  before: readonly TokenBalance[],
  after: readonly TokenBalance[],
): readonly TokenChange[] {
  const indexes = new Set([...before, ...after].map(({ accountIndex }) => accountIndex));
  return [...indexes].map((index) => {
    const account = keys[index];
    if (account === undefined) throw new Error('a token balance names an account that the transaction does not');
    const [old, now] = [before, after].map((all) => all.find(({ accountIndex }) => accountIndex === index));
    const either = now ?? old;
    return {
      account,
      mint: either?.mint ?? '',
      owner: either?.owner ?? null,
      before: old ? BigInt(old.uiTokenAmount.amount) : null,
      after: now ? BigInt(now.uiTokenAmount.amount) : null,
    };
  });
}

/** What a transaction added to an account; negative if it took something. */
export const deltaOf = ({ before, after }: TokenChange): bigint => (after ?? 0n) - (before ?? 0n);
