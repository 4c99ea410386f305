/**
 * Attack: a wallet has many sponsored payments under way and empties itself before they land, so that each fails on chain
 * at the fee payer's cost. Counted in lamports on the local chain.
 */
import { createApproveInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FAILED_OF_A_SITE, FIRST_OF_A_SITE } from '../../src/commands/purchase/first-payments.ts';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { SponsorBudget } from '../../src/commands/purchase/sponsor-budget.ts';
import { createClientAddresses } from '../../src/http/client-address.ts';
import type { SendOutcome } from '../../src/solana/chain.ts';
import { until } from '../payments/steering.ts';
import { openWorld, type World } from '../payments/world.ts';
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
/** What the transfer that empties a wallet costs its owner. */
const ATTACKERS_FEE = 5_000;

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

/**
 * Sends all of these at once, empties the wallet before any of them lands, and lets all of them land.
 * @param together how many at least are broadcast before the wallet is emptied: on a slow machine others come later
 */
async function burn(wallet: Keypair, payments: readonly Record<string, string>[], url = world.url, together = 1) {
  const before = await lamports();
  const seen = (await world.events()).length;
  let emptied: Promise<void> | null = null;
  let broadcast = 0;
  world.disturb({
    async send(wire) {
      broadcast++;
      await until(
        async () => broadcast,
        (count) => count >= together,
      );
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
  it('makes one of sixty payments fail each time, at three times its own cost, and three within the hour', async () => {
    const wallet = await world.wallet(60n * PRICE);
    for (const [round, sent] of [55, 3, 3].entries()) {
      const { answers, submitted, failed, lost } = await burn(
        wallet,
        Array.from({ length: sent }, () =>
          world.pay(wallet, {
            instructions: [limit(100_000), price(50_000), transfer(world.parties, wallet.publicKey), memo()],
          }),
        ),
      );
      expect([round, submitted, failed, lost]).toEqual([round, 1, 1, MOST_FEE]);
      expect(lost).toBeLessThanOrEqual(3 * ATTACKERS_FEE);
      for (const { status, json } of answers) {
        expect([402, 429, 202]).toContain(status);
        if (status !== 202) expect(json.error.details.charged).toBe(false);
      }
      world.disturb();
      await world.rpc.call('requestTokenAirdrop', wallet.publicKey.toBase58(), String(60n * PRICE));
    }
    const again = await world.get('/v2/case?q=again', world.pay(wallet));
    expect([again.status, again.json.error.details.window]).toEqual([429, 'settlement_failures']);
  }, 60_000);

  it('sends its payments one after the other until one has settled', async () => {
    const wallet = await world.wallet(10n * PRICE);
    const answers = await Promise.all(Array.from({ length: 3 }, () => world.get('/v2/case?q=slow', world.pay(wallet))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const submitted = (await world.events()).filter(({ type }) => type === 'PaymentSubmitted').slice(-3);
    const settled = (await world.events()).filter(({ type }) => type === 'PaymentSettled').slice(-3);
    // The second was submitted when the first had settled.
    expect(submitted[1]!.position > settled[0]!.position).toBe(true);
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
      world.url,
      4,
    );
    expect(submitted).toBeLessThanOrEqual(21);
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

describe('wallets that lend their accounts to one delegate, who empties all of them by one transfer', () => {
  it('are not sponsored before they have paid; a transfer that pays its own fee is', async () => {
    const [wallet, delegate] = [await world.wallet(5n * PRICE), Keypair.generate()];
    const account = tokenAccountOf(wallet.publicKey);
    const instructions = [createApproveInstruction(account, delegate.publicKey, wallet.publicKey, 5n * PRICE)];
    const { blockhash } = world.blockhashes.latest()!;
    const wire = build({ instructions, payer: wallet.publicKey, signers: [wallet], blockhash });
    await world.rpc.call('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
    await until(
      () => world.ports.chain.tokenBalance(account.toBase58()),
      (balance) => balance?.isDelegated === true,
    );
    const before = await lamports();
    const { status, json } = await world.get('/v2/case?q=lent', world.pay(wallet));
    expect([status, json.error.details.reason]).toEqual([402, 'source_not_sponsored']);
    expect(await lamports()).toBe(before);
    const own = selfPaid(world.parties, wallet, { blockhash: world.blockhashes.latest()!.blockhash }).toString(
      'base64',
    );
    expect((await world.get('/v2/case?q=own', { 'x402-payment': own })).status).toBe(200);
  });
});

describe('many wallets that each empty themselves', () => {
  it('end sponsorship of new wallets at the budget; known wallets and self-paid transfers continue', async () => {
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
    for (let wallets = 0; wallets < 3; wallets++) {
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

describe('a client with many wallets that empty themselves', () => {
  it('is sponsored until six of them have failed within the hour; other clients, and wallets that have paid, continue', async () => {
    const known = await world.wallet(5n * PRICE);
    expect((await world.get('/v2/case?q=known', world.pay(known))).status).toBe(200);
    await until(
      () => world.ports.settledPayments(known.publicKey.toBase58()),
      (settled) => settled === 1,
    );
    const url = await world.serve(createPurchasing({ ...world.ports, chain: world.faultyChain }), undefined, {
      clientAddresses: createClientAddresses({ trustedProxies: ['127.0.0.1/32'] }),
    });
    const from = (address: string, payment: Record<string, string>) => ({ ...payment, 'x-forwarded-for': address });
    for (let count = 0; count < FAILED_OF_A_SITE; count++) {
      const wallet = await world.wallet(2n * PRICE);
      expect((await burn(wallet, [from('203.0.113.7', world.pay(wallet))], url)).failed).toBe(1);
    }
    world.disturb();
    const before = await lamports();
    const fresh = await world.wallet(5n * PRICE);
    const refused = await world.get('/v2/case?q=fresh', from('203.0.113.7', world.pay(fresh)), url);
    expect([refused.status, refused.json.error.details]).toMatchObject([
      429,
      { window: 'first_payments', limit: FIRST_OF_A_SITE, charged: false, hint: expect.stringContaining('X402') },
    ]);
    expect(await lamports()).toBe(before);
    const bought = async (wallet: Keypair, address: string) =>
      (await world.get('/v2/case?q=other', from(address, world.pay(wallet)), url)).status;
    expect([await bought(known, '203.0.113.7'), await bought(fresh, '203.0.113.8')]).toEqual([200, 200]);
    // It has paid by now.
    expect(await bought(fresh, '203.0.113.7')).toBe(200);
  }, 120_000);
});
