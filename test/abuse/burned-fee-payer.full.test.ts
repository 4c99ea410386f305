/**
 * Attack: a wallet has many sponsored payments under way and empties itself before they land, so that each fails on chain
 * at the fee payer's cost. Counted in lamports on the local chain.
 */
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchase.ts';
import { SponsorBudget } from '../../src/commands/purchase/sponsor-budget.ts';
import type { SendOutcome } from '../../src/solana/chain.ts';
import { until } from '../payments/steering.ts';
import { openWorld, USDC, type World } from '../payments/world.ts';
import {
  build,
  guard,
  limit,
  memo,
  price,
  selfPaid,
  tokenAccountOf,
  transfer,
} from '../solana/payment-transactions.ts';

const PRICE = 990_000n;
/** Two signatures, and the most priority that is sponsored. */
const MOST_FEE = 15_000;

let world: World;
beforeAll(async () => {
  world = await openWorld({ slotMs: 40, patience: { settlementMs: 1_500, rebroadcastMs: 200 } });
});
afterAll(() => world.close());
afterEach(() => world.disturb());

const lamports = async () =>
  (await world.rpc.call<{ value: number }>('getBalance', world.parties.feePayer.toBase58())).value;

/** Sends without a preflight: as a validator runs what it took before the wallet was emptied. */
const land = async (wire: Uint8Array): Promise<SendOutcome> => {
  const options = { encoding: 'base64', skipPreflight: true };
  await world.rpc.call('sendTransaction', Buffer.from(wire).toString('base64'), options).catch(() => undefined);
  return { sent: true };
};

async function drain(wallet: Keypair): Promise<void> {
  const thief = await world.wallet(1n);
  const from = tokenAccountOf(wallet.publicKey);
  const amount = await world.tokens(wallet.publicKey);
  const instructions = [createTransferInstruction(from, tokenAccountOf(thief.publicKey), wallet.publicKey, amount)];
  const { blockhash } = world.blockhashes.latest()!;
  const wire = build({ instructions, payer: wallet.publicKey, signers: [wallet], blockhash });
  await world.rpc.call('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
  await until(
    () => world.tokens(wallet.publicKey),
    (left) => left === 0n,
  );
}

/** Sends all of these at once, empties the wallet before any of them lands, and lets all of them land. */
async function burn(wallet: Keypair, payments: readonly Record<string, string>[], url = world.url) {
  const before = await lamports();
  const seen = (await world.events()).length;
  let emptied: Promise<void> | null = null;
  world.disturb({
    async send(wire) {
      emptied ??= drain(wallet);
      await emptied;
      return land(wire);
    },
  });
  const answers = await Promise.all(payments.map((payment) => world.get('/v2/case?q=burn', payment, url)));
  const failed = () =>
    world.events().then((events) => events.slice(seen).filter(({ type }) => type === 'PaymentFailed').length);
  const submitted = (await world.events()).slice(seen).filter(({ type }) => type === 'PaymentSubmitted').length;
  await until(
    async () => {
      await world.recoverLater().round();
      return failed();
    },
    (count) => count === submitted,
  );
  return { answers, submitted, failed: await failed(), lost: before - (await lamports()) };
}

describe('a wallet without settled payments that empties itself', () => {
  it('makes at most three of sixty payments fail, and is not sponsored again within the hour', async () => {
    const wallet = await world.wallet(60n * PRICE);
    const { answers, submitted, failed, lost } = await burn(
      wallet,
      Array.from({ length: 55 }, () =>
        world.pay(wallet, {
          instructions: [limit(100_000), price(50_000), transfer(world.parties, wallet.publicKey), memo()],
        }),
      ),
    );
    expect(submitted).toBeLessThanOrEqual(3);
    expect(failed).toBe(submitted);
    expect(lost).toBe(failed * MOST_FEE);
    for (const { status, json } of answers) {
      expect([402, 429, 202]).toContain(status);
      if (status !== 202) expect(json.error.details.charged).toBe(false);
    }
    world.disturb();
    if (failed === 3) {
      await world.rpc.call('requestTokenAirdrop', wallet.publicKey.toBase58(), String(10n * USDC));
      const again = await world.get('/v2/case?q=again', world.pay(wallet));
      expect([again.status, again.json.error.details.window]).toEqual([429, 'settlement_failures']);
    }
  });

  it('earns twenty more places with each payment that settles', async () => {
    const wallet = await world.wallet(40n * PRICE);
    expect((await world.get('/v2/case?q=a', world.pay(wallet))).status).toBe(200);
    await until(
      () => world.ports.settledPayments(wallet.publicKey.toBase58()),
      (settled) => settled === 1,
    );
    const { submitted } = await burn(
      wallet,
      Array.from({ length: 28 }, () => world.pay(wallet)),
    );
    expect(submitted).toBeLessThanOrEqual(23);
    expect(submitted).toBeGreaterThan(3);
  });
});

describe('a guard that others can make fail', () => {
  it('is refused before anything is asked or signed', async () => {
    const wallet = await world.wallet(2n * PRICE);
    const before = await lamports();
    const clock = guard(15);
    const foreign = guard(5, [Keypair.generate().publicKey]);
    for (const [extra, reason] of [
      [clock, 'lighthouse_guard_not_allowed'],
      [foreign, 'lighthouse_guard_on_other_account'],
    ] as const) {
      const payment = world.pay(wallet, {
        instructions: [limit(), price(), transfer(world.parties, wallet.publicKey), memo(), extra],
      });
      const { status, json } = await world.get('/v2/case?q=guard', payment);
      expect([status, json.error.details.reason]).toEqual([402, reason]);
    }
    expect(await lamports()).toBe(before);
  });
});

describe('many wallets that each empty themselves', () => {
  it('end sponsorship of new wallets at the budget; known wallets and self-paid transfers go on', async () => {
    const known = await world.wallet(5n * PRICE);
    expect((await world.get('/v2/case?q=known', world.pay(known))).status).toBe(200);
    await until(
      () => world.ports.settledPayments(known.publicKey.toBase58()),
      (settled) => settled === 1,
    );
    const limits = { lamportsPerHour: 25_000, lamportsPerDay: 1_000_000 };
    const sponsoring = new SponsorBudget({ ...world.ports, ...world.storage, limits, logger: world.logger });
    await sponsoring.look();
    const already = sponsoring.standings[0]!.lost;
    expect(already).toBe(0);
    const url = await world.serve(
      createPurchasing({ ...world.ports, chain: world.faultyChain, sponsoring }),
      undefined,
      {
        sponsoring,
      },
    );
    let lost = 0;
    for (let wallets = 0; wallets < 2; wallets++) {
      const wallet = await world.wallet(4n * PRICE);
      lost += (await burn(wallet, [world.pay(wallet), world.pay(wallet), world.pay(wallet)], url)).lost;
    }
    world.disturb();
    await sponsoring.look();
    expect(sponsoring.standings[0]!.lost).toBeLessThanOrEqual(lost);
    // What is under way when the budget ends may exceed it: at most one wallet's worth here.
    expect(sponsoring.pause()).not.toBeNull();
    expect(world.alarms.filter(({ alarm }) => alarm === 'sponsored_payments_paused')).toHaveLength(1);

    const fresh = await world.wallet(3n * PRICE);
    const asked = await world.get('/v2/case?q=terms', {}, url);
    expect([asked.status, asked.json.error.details.sponsorship_paused_for]).toEqual([402, 'new']);
    const paused = await world.get('/v2/case?q=fresh', world.pay(fresh), url);
    expect([paused.status, paused.json.error.details]).toMatchObject([
      503,
      { component: 'sponsored_payments', charged: false, hint: expect.stringContaining('X402-Payment') },
    ]);
    expect((await world.get('/v2/case?q=known again', world.pay(known), url)).status).toBe(200);
    const { blockhash } = world.blockhashes.latest()!;
    const own = selfPaid(world.parties, fresh, { blockhash }).toString('base64');
    expect((await world.get('/v2/case?q=own', { 'x402-payment': own }, url)).status).toBe(200);
  });
});
