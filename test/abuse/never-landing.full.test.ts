/**
 * Attack: payments that pass every check, but whose wallet then moves away the SOL for the fee, so that none can ever
 * land. Measured in calls to the chain and in bytes that stay stored.
 */
import { SystemProgram } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { SETTLEMENT_FAILURES_PER_HOUR } from '../../src/commands/purchase/wallet-limits.ts';
import { createPayloadHousekeeping } from '../../src/processes/payload-housekeeping.ts';
import { MICROS_PER_SECOND, systemClock } from '../../src/runtime/instant.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import { until } from '../payments/steering.ts';
import { openWorld, USDC, type World } from '../payments/world.ts';
import { build, selfPaid } from '../solana/payment-transactions.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ slotMs: 20, endpoints: 1, callsPerSecond: 1_000, patience: { settlementMs: 6_000 } });
});
afterAll(() => world.close());
afterEach(() => world.disturb());

const HOUR = 3_600 * MICROS_PER_SECOND;
/** Housekeeping with a clock that the test controls. */
function housekeeper() {
  let passed = 0;
  const housekeeping = createPayloadHousekeeping({
    ...world.storage,
    logger: world.logger,
    owner: 'test',
    clock: { now: () => systemClock.now() + passed },
    steady: { now: () => steadyClock.now() + passed },
  });
  return (micros: number) => {
    passed = micros;
    return housekeeping.round();
  };
}

async function stored(): Promise<number> {
  let count = 0;
  for await (const _ of world.storage.payloads.list('answer', '2999-01-01T00:00:00.000000Z')) count++;
  return count;
}

describe('ten self-paid payments whose wallet moves its SOL away', () => {
  it('run a few at a time, cost few calls each, end their wallet’s hour, and leave nothing stored', async () => {
    const wallet = await world.wallet(20n * USDC);
    const { blockhash } = world.blockhashes.latest()!;
    const payments = Array.from({ length: 10 }, () =>
      selfPaid(world.parties, wallet, { blockhash }).toString('base64'),
    );
    const thief = await world.wallet(1n);
    const drained = async () => {
      const { value } = await world.rpc.call<{ value: number }>('getBalance', wallet.publicKey.toBase58());
      const instructions = [
        SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: thief.publicKey, lamports: value - 5_000 }),
      ];
      const latest = await world.rpc.latestBlockhash();
      const wire = build({ instructions, payer: wallet.publicKey, signers: [wallet], blockhash: latest });
      await world.rpc.call('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
      await until(
        () => world.rpc.call<{ value: number }>('getBalance', wallet.publicKey.toBase58()),
        ({ value: left }) => left === 0,
      );
    };
    let emptied: Promise<void> | null = null;
    world.disturb({
      async send(wire, options) {
        emptied ??= drained();
        await emptied;
        return world.chain.send(wire, options);
      },
    });
    const from = world.endpoints[0]!.calls.length;
    const answers = await Promise.all(
      payments.map((payment) => world.get('/v2/case?q=never', { 'x402-payment': payment })),
    );
    const submitted = (await world.events()).filter(({ type }) => type === 'PaymentSubmitted').length;
    expect(submitted).toBeLessThanOrEqual(3);
    expect(new Set(answers.map(({ status }) => status))).not.toContain(200);
    await until(
      async () => {
        await world.recoverLater().round();
        return (await world.events()).filter(({ type }) => type === 'PaymentFailed').length;
      },
      (failed) => failed === submitted,
      15_000,
    );
    const calls = world.endpoints[0]!.calls.slice(from).filter(({ method }) => method !== 'getLatestBlockhash');
    expect(calls.length / submitted).toBeLessThan(60);

    // Failures count even for payments whose fee we would not have paid.
    if (submitted === SETTLEMENT_FAILURES_PER_HOUR) {
      await world.rpc.call('requestAirdrop', wallet.publicKey.toBase58(), 1_000_000_000);
      world.disturb();
      const latest = world.blockhashes.latest()!.blockhash;
      const more = selfPaid(world.parties, wallet, { blockhash: latest }).toString('base64');
      const limited = await world.get('/v2/case?q=more', { 'x402-payment': more });
      expect([limited.status, limited.json.error.details.window]).toEqual([429, 'settlement_failures']);
    }

    // While a failure may still prove wrong, its answer is kept; then the answer is deleted, and its events stay.
    await until(
      () => world.storage.readStore.count({ collection: 'payments', equals: { attention: 'doubt' } }),
      (count) => count === submitted,
    );
    expect(await stored()).toBe(submitted);
    const roundAfter = housekeeper();
    expect(await roundAfter(0)).toMatchObject({ unpaid: 0, expired: 0 });
    expect(await roundAfter(HOUR / 2)).toMatchObject({ unpaid: 0, expired: 0 });
    expect(await roundAfter(2 * HOUR)).toMatchObject({ unpaid: submitted, expired: 0 });
    expect(await stored()).toBe(0);
    expect((await world.events()).filter(({ type }) => type === 'QueryAnswered')).toHaveLength(submitted);
    expect(await roundAfter(3 * HOUR)).toMatchObject({ unpaid: 0, expired: 0 });
  });
});

describe('what is stored for paid answers', () => {
  it('is removed when its time has passed, and its result then says that it is gone', async () => {
    const wallet = await world.wallet();
    const roundAfter = housekeeper();
    await roundAfter(0);
    const patient = await world.serve(createPurchasing(world.ports));
    const bought = await world.get('/v2/case?q=kept', world.pay(wallet), patient);
    expect(bought.status).toBe(200);
    const result = bought.headers.get('content-location')!;
    expect((await world.get(result)).status).toBe(200);
    const day = 24 * HOUR;
    await roundAfter(0);
    expect(await roundAfter(29 * day)).toMatchObject({ expired: 0 });
    expect(await stored()).toBe(1);
    expect(await roundAfter(31 * day)).toMatchObject({ expired: 1 });
    expect(await stored()).toBe(0);
    const gone = await world.get(result);
    expect([gone.status, gone.json.error.code]).toEqual([410, 'result_gone']);
  });
});
