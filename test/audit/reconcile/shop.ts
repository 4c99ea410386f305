/** A paid service with a log that has an identity, and `docket audit reconcile` on it. For tests only. */
import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { decodeEvent } from '../../../src/events/codec.ts';
import type { DomainEvent } from '../../../src/events/event.ts';
import { LogFounded } from '../../../src/events/log-identity.ts';
import {
  PaymentAuthorized,
  PaymentSettled,
  PaymentSubmitted,
  paymentStream,
  QueryAnswered,
} from '../../../src/events/payment.ts';
import { type Instant, systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { hashOfMessage } from '../../../src/solana/landed-transaction.ts';
import { readTransaction } from '../../../src/solana/local/wire.ts';
import { NO_STREAM, type StreamHead } from '../../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../../src/storage/prepare-append.ts';
import { until } from '../../payments/steering.ts';
import { openWorld, type World } from '../../payments/world.ts';
import { build, limit, memo, price, transfer } from '../../solana/payment-transactions.ts';
import { contextOf } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

export async function openShop() {
  const world = await openWorld({ paidBefore: true, slotMs: 15 });
  const genesisHash = await world.rpc.call<string>('getGenesisHash');
  const { payTo, mint } = world.receiver;
  const founded = { logId: randomUUID(), network: world.merchant.network.caip2, genesisHash, mint, receiver: payTo };
  await append(world, 'log-identity', [LogFounded.of({ ...founded, version: '2.0.1' })]);
  return { ...world, world, founded };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

export async function append(
  { storage }: Pick<World, 'storage'>,
  stream: string,
  events: readonly DomainEvent[],
  recordedAt = toInstant(systemClock.now()),
): Promise<StreamHead> {
  const newest = (await storage.log.read(stream)).at(-1);
  const head = newest ? { revision: newest.revision, hash: newest.metadata.hash } : NO_STREAM;
  const appended = prepareAppend({
    stream,
    head,
    events,
    context: contextOf(),
    recordedAt,
  });
  await storage.log.append(appended);
  return headAfter(appended);
}

/** Buys an answer, and gives the stream of its payment. */
export async function buy(shop: Shop, wallet: Keypair): Promise<string> {
  const answer = await shop.get('/v2/case?q=a', shop.pay(wallet));
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  const { request_id: requestId } = answer.json.meta;
  const authorized = (await shop.events()).find(
    ({ type, data }) => type === 'PaymentAuthorized' && data.requestId === requestId,
  );
  return authorized?.stream ?? '';
}

/** A transaction as a wallet would pay with it, with its own fee. */
export const payment = async (
  shop: Shop,
  wallet: Keypair,
  amount: bigint,
  parties: Shop['parties'] = shop.parties,
): Promise<Buffer> =>
  build({
    instructions: [limit(), price(), transfer(parties, wallet.publicKey, { amount }), memo()],
    payer: wallet.publicKey,
    signers: [wallet],
    blockhash: await shop.rpc.latestBlockhash(),
  });

/** Sends a transaction even if it will fail, waits until it is final, and gives its slot. */
export async function land(shop: Shop, wire: Buffer): Promise<number> {
  const signature = await shop.rpc.call<string>('sendTransaction', wire.toString('base64'), {
    encoding: 'base64',
    skipPreflight: true,
  });
  await untilFinal(shop);
  const landed = await shop.rpc.call<{ slot: number } | null>('getTransaction', signature, {
    encoding: 'base64',
    maxSupportedTransactionVersion: 0,
  });
  return landed?.slot ?? -1;
}

export const signatureOf = (wire: Buffer): string =>
  bs58.encode(readTransaction(wire).signatures[0] ?? Buffer.alloc(0));

export interface Claim {
  readonly wallet: Keypair;
  /** What the log says. */
  readonly amount?: string;
  readonly payTo?: string;
  readonly mint?: string;
  readonly says?: string;
  /** Bytes that the log holds, if not those of the transaction. */
  readonly wire?: Buffer;
  /** When the log says that it recorded it; now if omitted. */
  readonly at?: Instant;
}

/** Writes what an insider might: a payment up to its submission, in the stream of a transaction. */
export async function claim(shop: Shop, transaction: Buffer, { wallet, says, ...over }: Claim): Promise<string> {
  const { message } = readTransaction(transaction);
  const stream = paymentStream(hashOfMessage(message.bytes));
  const requestId = randomUUID();
  const hash = 'a'.repeat(64);
  const events = [
    PaymentAuthorized.of({
      requestId,
      wallet: says ?? wallet.publicKey.toBase58(),
      dialect: 'self-paid',
      network: 'solana:local',
      mint: over.mint ?? shop.receiver.mint,
      payTo: over.payTo ?? shop.receiver.payTo,
      amount: over.amount ?? '990000',
      queries: 1,
      endpoint: 'GET /v2/case',
      requestHash: hash,
      identifierHash: null,
    }),
    QueryAnswered.of({
      requestId,
      answer: null,
      keepUntil: toInstant(systemClock.now()),
      answeredCases: 1,
      keyCall: null,
      callbacks: [],
    }),
    PaymentSubmitted.of({
      transaction: signatureOf(transaction),
      wire: (over.wire ?? transaction).toString('base64'),
      lastValidBlockHeight: 1_000,
    }),
  ];
  await append(shop, stream, events, over.at);
  return stream;
}

/** The event that settles a claimed payment. */
export const settled = (wire: Buffer, wallet: string, slot: number, amount = '990000') =>
  PaymentSettled.of({
    transaction: signatureOf(wire),
    slot,
    requestId: randomUUID(),
    wallet,
    amount,
    answeredCases: 1,
    owes: null,
  });

/** A transfer to the receiver that never passes through the service. */
export async function transferDirectly(shop: Shop, wallet: Keypair, amount: bigint): Promise<string> {
  const wire = await payment(shop, wallet, amount);
  await land(shop, wire);
  return signatureOf(wire);
}

/** Waits until everything that has happened on the chain is final. */
export async function untilFinal({ chain, rpc }: Pick<World, 'chain' | 'rpc'>): Promise<void> {
  const slot = await rpc.call<number>('getSlot', { commitment: 'confirmed' });
  await until(
    () => chain.blockHeight('finalized'),
    (height) => height > slot,
    60_000,
  );
}

export interface Run {
  readonly code: number;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly findings: readonly any[];
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly summary: any;
}

/** Runs the command on the shop's log, by default against its own chain. */
export async function reconciled(shop: Shop & { readonly data?: string }, ...argv: readonly string[]): Promise<Run> {
  const own = argv.includes('--rpc-url') ? argv : ['--rpc-url', shop.rpcUrl, ...argv];
  const { code, out, err } = await docketInProcess(['audit', 'reconcile', '--json', ...own], dataOf(shop));
  const lines = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return {
    code,
    err,
    findings: lines.filter(({ type }) => type !== 'summary'),
    summary: lines.find(({ type }) => type === 'summary'),
  };
}

/** @param shop with `data` for another data folder than its own */
export const dataOf = ({ directory, data }: Pick<World, 'directory'> & { readonly data?: string }) => ({
  DATA_DIR: data ?? `${directory}/data`,
});

/** The events of a stream, as they were decided. */
export const eventsOf = async ({ storage }: Pick<World, 'storage'>, stream: string): Promise<readonly DomainEvent[]> =>
  (await storage.log.read(stream)).map(decodeEvent);
