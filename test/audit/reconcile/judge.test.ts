/** Given a payment of the log and its transaction, the judgement names every difference that either of them allows. */
import { expect, it } from 'vitest';
import {
  judgeSettled,
  judgeTransfer,
  type Landed,
  type OnChain,
  type Receivers,
} from '../../../src/audit/reconcile/judge.ts';
import type { LoggedPayment } from '../../../src/audit/reconcile/logged-payment.ts';
import { associatedTokenAddress, NETWORKS } from '../../../src/solana/addresses.ts';
import type { LandedTransaction, TokenChange } from '../../../src/solana/chain-history.ts';

const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const RECEIVER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const MINT = NETWORKS.local.usdcMint;
const OTHER_MINT = NETWORKS.mainnet.usdcMint;
const ACCOUNT = associatedTokenAddress(RECEIVER, MINT);
const HASH = 'a'.repeat(64);

const payment: LoggedPayment = {
  stream: `payment-${HASH}`,
  requestId: '6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e',
  wallet: WALLET,
  mint: MINT,
  payTo: RECEIVER,
  amount: '990000',
  status: 'settled',
  charged: '990000',
  late: false,
  transaction: 'signature',
  feePayer: 'us',
  memos: ['purpose'],
  submittedAt: '2026-03-01T12:00:00.000000Z',
  slot: 100,
  finalized: true,
};
const received: TokenChange = { account: ACCOUNT, mint: MINT, owner: RECEIVER, before: 5n, after: 990_005n };
const transaction: LandedTransaction = {
  signature: 'signature',
  slot: 100,
  blockTime: null,
  error: null,
  fee: 10_000n,
  signers: ['us', WALLET],
  messageHash: HASH,
  memos: ['purpose'],
  changes: [{ account: 'source', mint: MINT, owner: WALLET, before: 990_000n, after: 0n }, received],
};
const receivers: Receivers = {
  owners: new Set([RECEIVER]),
  mints: new Set([MINT]),
  accounts: new Set([ACCOUNT]),
};

const there = (over: Partial<LandedTransaction> = {}, final = true): OnChain => ({
  is: 'there',
  transaction: { ...transaction, ...over },
  final,
});
const notKept = (earliest: Landed | null): OnChain => ({ is: 'not_kept', keptFrom: 200, earliest });
const gets = (over: Partial<TokenChange>): OnChain => there({ changes: [{ ...received, ...over }] });

it.each<[what: string, over: Partial<LoggedPayment>, onChain: OnChain, expected: unknown]>([
  ['agree', {}, there(), 'matches'],
  ['agree about a late settlement', { late: true }, there(), 'matches'],
  ['agree, but it is not final', { finalized: false }, there({}, false), 'awaits_finality'],
  ['agree, and a dropped fork had it in another slot', { finalized: false, slot: 99 }, there(), 'matches'],
  ['agree, and the account was opened by it', {}, gets({ before: null, after: 990_000n }), 'matches'],
  ['agree, and the bytes of the log cannot be read', { memos: null }, there(), 'matches'],
  ['cannot be compared', {}, { is: 'unknown' }, 'unknown'],
  ['cannot be compared any more', {}, notKept(null), 'not_kept'],
  [
    'cannot be compared, after an earlier slot',
    {},
    notKept({ submittedAt: '2026-03-01T09:00:00.000000Z', slot: 100 }),
    'not_kept',
  ],
  [
    'cannot be compared, with a payment that landed late',
    {},
    notKept({ submittedAt: '2026-03-01T11:45:00.000000Z', slot: 200 }),
    'not_kept',
  ],
  [
    'differ: its slot is before that of an earlier payment',
    {},
    notKept({ submittedAt: '2026-03-01T11:44:59.999999Z', slot: 200 }),
    ['slot_too_early'],
  ],
  ['differ: it is not there', {}, { is: 'absent' }, ['not_on_chain']],
  ['differ: it failed', {}, there({ error: '"AccountInUse"' }), ['failed_on_chain']],
  ['differ: it is another message', {}, there({ messageHash: 'b'.repeat(64) }), ['message_differs']],
  ['differ in the memo', {}, there({ memos: ['purpose', 'another'] }), ['memo_differs']],
  ['differ in the final slot', {}, there({ slot: 101 }), ['slot_differs']],
  ['differ in who signed', {}, there({ signers: ['us'] }), ['payer_differs']],
  ['differ in the amount', {}, gets({ after: 990_004n }), ['amount_differs']],
  ['differ in an amount that was taken', {}, gets({ after: 0n }), ['amount_differs']],
  ['differ in the token', {}, gets({ mint: OTHER_MINT }), ['mint_differs']],
  ['differ in the account', {}, gets({ account: 'another' }), ['recipient_differs']],
  ['differ about the token of the log', { mint: OTHER_MINT }, there(), ['other_mint', 'recipient_differs']],
  ['differ about the receiver of the log', { payTo: WALLET }, notKept(null), ['other_receiver']],
  ['differ about a receiver that is no address', { payTo: 'me' }, there(), ['other_receiver', 'recipient_differs']],
  ['differ in several ways', {}, there({ memos: [], signers: [] }), ['memo_differs', 'payer_differs']],
])('log and chain %s', (_, over, onChain, expected) => {
  const verdict = judgeSettled({ ...payment, ...over }, onChain, receivers);
  expect(verdict.is === 'differs' ? verdict.differences.map(({ code }) => code) : verdict.is).toEqual(expected);
});

it.each<[status: LoggedPayment['status'] | null, expected: string | null]>([
  ['settled', null],
  ['submitted', null],
  ['failed', 'landed_but_not_settled'],
  ['rolled_back', 'landed_but_not_settled'],
  ['released', 'landed_but_not_settled'],
  ['authorized', 'landed_but_not_settled'],
  [null, 'transfer_without_payment'],
])('a transfer whose payment is %s', (status, expected) => {
  const found = judgeTransfer(transaction, 990_000n, status && { ...payment, status });
  expect(found?.code ?? null).toBe(expected);
});
