/**
 * The local chain in a separate process, killed at random under load and restarted; the test remembers everything that
 * it acknowledged.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { freePort, type RunningProcess, spawnDocket, until } from '../support/processes.ts';
import { ChainRpc } from '../support/rpc.ts';
import { build, memo, tokenAccountOf, transfer } from './payment-transactions.ts';

const SENDERS = 8;
const SLOT_MS = 50;
const FUNDS = 1_000_000_000n;
/** On average: a slow machine needs more time for them than a random moment gives. */
const ACKNOWLEDGED_BEFORE_KILL = 2;

interface Sent {
  readonly signature: string;
  readonly amount: bigint;
  acknowledged: boolean;
}

export interface KillReport {
  readonly acknowledged: number;
  readonly landed: number;
  /** Landed, though the kill swallowed the answer. */
  readonly landedUnacknowledged: number;
}

/** @throws an error that says what was lost, torn or repeated */
export async function killChain(kills: number): Promise<KillReport> {
  const directory = mkdtempSync(join(tmpdir(), 'chain-kill-'));
  const port = await freePort();
  const rpc = new ChainRpc(`http://127.0.0.1:${port}`);
  let process: RunningProcess | null = null;
  const start = async () => {
    const options = ['--port', String(port), '--data-dir', directory, '--slot-ms', String(SLOT_MS)];
    process = spawnDocket(['chain', ...options], {});
    await until('the chain answers', async () => (await rpc.call('getHealth')) === 'ok', { process });
  };
  try {
    await start();
    const [seller, ...buyers] = Array.from({ length: SENDERS + 1 }, () => Keypair.generate()) as [
      Keypair,
      ...Keypair[],
    ];
    await rpc.call('requestTokenAirdrop', seller.publicKey.toBase58(), 0);
    const fund = ({ publicKey }: Keypair) =>
      rpc.fund(publicKey.toBase58(), tokenAccountOf(publicKey).toBase58(), FUNDS);
    await Promise.all(buyers.map(fund));
    const sent = new Map<Keypair, Sent[]>(buyers.map((buyer) => [buyer, []]));
    let height = 0;
    for (let kill = 0; kill < kills; kill++) {
      let stopped = false;
      const load = buyers.map((buyer) => pay(rpc, buyer, seller, sent.get(buyer) ?? [], () => stopped));
      const watch = watchHeight(rpc, height, () => stopped);
      await new Promise((resolve) => setTimeout(resolve, randomInt(20, 400)));
      const goal = (kill + 1) * ACKNOWLEDGED_BEFORE_KILL;
      await until('payments are acknowledged', async () => acknowledgedOf(sent).length >= goal);
      await (process as RunningProcess | null)?.kill();
      stopped = true;
      await Promise.all(load);
      height = await watch;
      await start();
      const resumed = await rpc.call<number>('getBlockHeight', { commitment: 'processed' });
      if (resumed < height) throw new Error(`the height fell from ${height} to ${resumed} over kill ${kill}`);
      await check(rpc, seller, sent);
    }
    const all = [...sent.values()].flat();
    const landed = await landedOf(rpc, all);
    const acknowledged = acknowledgedOf(sent).length;
    return { acknowledged, landed: landed.length, landedUnacknowledged: landed.length - acknowledged };
  } finally {
    await (process as RunningProcess | null)?.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

const acknowledgedOf = (sent: ReadonlyMap<Keypair, readonly Sent[]>): readonly Sent[] =>
  [...sent.values()].flat().filter(({ acknowledged }) => acknowledged);

async function pay(rpc: ChainRpc, buyer: Keypair, seller: Keypair, sent: Sent[], stopped: () => boolean) {
  const parties = { feePayer: buyer.publicKey, payTo: seller.publicKey };
  while (!stopped()) {
    try {
      const blockhash = await rpc.latestBlockhash();
      const amount = BigInt(1 + sent.length);
      const instructions = [transfer(parties, buyer.publicKey, { amount }), memo()];
      const wire = build({ instructions, payer: buyer.publicKey, signers: [buyer], blockhash });
      const payment: Sent = { signature: bs58.encode(wire.subarray(1, 65)), amount, acknowledged: false };
      sent.push(payment);
      await rpc.call('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
      payment.acknowledged = true;
    } catch (error) {
      // Killed: what was not acknowledged may have landed or not, and is looked up later.
      if (!stopped()) await new Promise((resolve) => setTimeout(resolve, 5));
      if ((error as Error).message.startsWith('sendTransaction')) throw error;
    }
  }
}

/** The highest block that the chain reported before it was killed. */
async function watchHeight(rpc: ChainRpc, from: number, stopped: () => boolean): Promise<number> {
  let height = from;
  while (!stopped()) {
    const told = await rpc.call<number>('getBlockHeight', { commitment: 'processed' }).catch(() => height);
    height = Math.max(height, told);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return height;
}

async function landedOf(rpc: ChainRpc, payments: readonly Sent[]): Promise<readonly Sent[]> {
  const landed: Sent[] = [];
  for (let from = 0; from < payments.length; from += 256) {
    const part = payments.slice(from, from + 256);
    const { value } = await rpc.call<{ value: ({ err: unknown } | null)[] }>(
      'getSignatureStatuses',
      part.map(({ signature }) => signature),
      { searchTransactionHistory: true },
    );
    value.forEach((status, index) => {
      if (status?.err) throw new Error(`${part[index]?.signature} failed: ${JSON.stringify(status.err)}`);
      if (status) landed.push(part[index] as Sent);
    });
  }
  return landed;
}

/** The chain has exactly what landed: no acknowledged payment is missing, and none is there in part. */
async function check(rpc: ChainRpc, seller: Keypair, sent: ReadonlyMap<Keypair, readonly Sent[]>): Promise<void> {
  let received = 0n;
  for (const [buyer, payments] of sent) {
    const landed = new Set(await landedOf(rpc, payments));
    const lost = payments.filter((payment) => payment.acknowledged && !landed.has(payment));
    if (lost.length) throw new Error(`acknowledged and lost: ${lost.map(({ signature }) => signature).join(', ')}`);
    const paid = [...landed].reduce((sum, { amount }) => sum + amount, 0n);
    const left = await rpc.tokens(tokenAccountOf(buyer.publicKey).toBase58());
    if (left !== FUNDS - paid) throw new Error(`a buyer holds ${left} and should hold ${FUNDS - paid}`);
    const { value: lamports } = await rpc.call<{ value: number }>('getBalance', buyer.publicKey.toBase58());
    const expected = 1_000_000_000 - 5_000 * landed.size;
    if (lamports !== expected) throw new Error(`a buyer has ${lamports} lamports and should have ${expected}`);
    received += paid;
  }
  const held = await rpc.tokens(tokenAccountOf(seller.publicKey).toBase58());
  if (held !== received) throw new Error(`the seller holds ${held} and should hold ${received}`);
}
