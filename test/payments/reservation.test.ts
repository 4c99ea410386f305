/** A wallet cannot have more sponsored payments under way than it can pay for: each that fails would cost us its fee. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { giveBack, RESERVATION_WINDOW, reserve } from '../../src/commands/purchase/reservation.ts';
import { WaitingLines } from '../../src/commands/purchase/waiting-lines.ts';
import { countSettlementFailure } from '../../src/commands/purchase/wallet-limits.ts';
import { isProblem } from '../../src/errors.ts';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import { until } from './steering.ts';
import { openWorld, type World } from './world.ts';

const PRICE = 990_000n;
let world: World;
beforeAll(async () => {
  world = await openWorld({ slotMs: 150, patience: { settlementMs: 1_500, rebroadcastMs: 200 } });
});
afterAll(() => world.close());
afterEach(() => world.disturb());

describe('payments of one wallet that are sent at once to two nodes', () => {
  it.each([
    [1, 40],
    [6, 30],
  ])(
    'settle %d times where it can pay for so many, and %d were sent; none fails on the chain',
    async (affordable, sent) => {
      const wallet = await world.wallet(PRICE * BigInt(affordable));
      // Those that wait their turn are to have it.
      const ports = { ...world.ports, patience: { settlementMs: 15_000, rebroadcastMs: 200 } };
      const nodes = await Promise.all([0, 1].map(() => world.serve(createPurchasing(ports))));
      const payments = Array.from({ length: sent }, () => world.pay(wallet));
      const answers = await Promise.all(
        payments.map((payment, i) => world.get('/v2/case?q=slow', payment, nodes[i % 2])),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(affordable);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const { status, json } of refused) {
        expect([status, json.error.details]).toMatchObject([402, { reason: 'insufficient_funds', charged: false }]);
      }
      expect((await world.events()).filter(({ type }) => type === 'PaymentFailed')).toEqual([]);
      expect(await world.tokens(wallet.publicKey)).toBe(0n);
    },
    60_000,
  );
});

describe('a wallet that has never paid, while its first payment is undecided', () => {
  it.each([false, true])(
    'learns on another node that a copy is used, or what its identifier bought (%s), and never has to sign again',
    async (named) => {
      const wallet = await world.wallet(5n * PRICE);
      const id = named ? `id-${randomUUID()}` : undefined;
      const nodes = await Promise.all(
        [0, 1].map(() => world.serve(createPurchasing({ ...world.ports, chain: world.faultyChain }))),
      );
      world.disturb({ send: async () => ({ sent: true }) });
      const first = world.pay(wallet, {}, id);
      const second = named ? world.pay(wallet, {}, id) : first;
      const answers = await Promise.all([
        world.get('/v2/case?q=slow', first, nodes[0]),
        world.get('/v2/case?q=slow', second, nodes[1]),
      ]);
      // Whichever came first is undecided when its time is up.
      expect(answers.map(({ status }) => status).sort()).toEqual(named ? [202, 202] : [202, 409]);
      world.disturb();
      await until(
        () => world.recoverLater().round(),
        ({ pending }) => pending === 0,
      );
      expect(await world.tokens(wallet.publicKey)).toBe(4n * PRICE);
    },
  );
});

describe('a payment whose outcome is not known', () => {
  it('reserves its amount until recovery records its outcome', async () => {
    const wallet = await world.wallet(PRICE);
    world.disturb({ send: async () => ({ sent: true }) });
    expect((await world.get('/v2/case?q=a', world.pay(wallet))).status).toBe(202);
    const second = await world.get('/v2/case?q=a', world.pay(wallet));
    expect([second.status, second.json.error.details]).toMatchObject([429, { window: 'payments_under_way', limit: 1 }]);
    world.disturb();
    await until(
      () => world.recoverLater().round(),
      ({ pending }) => pending === 0,
    );
    expect(await world.tokens(wallet.publicKey)).toBe(0n);
    await world.rpc.call('requestTokenAirdrop', wallet.publicKey.toBase58(), String(PRICE));
    expect((await world.get('/v2/case?q=a', world.pay(wallet))).status).toBe(200);
  });
});

describe('a reservation', () => {
  let count = 0;
  /** A wallet of its own, with a clock and a balance that a test sets. */
  function holder(balance: () => Promise<{ amount: bigint } | null>, own = true, settled = 60) {
    const wallet = `holder-${count++}`;
    let now = 1_780_000_000_000_000;
    const ports = {
      readStore: world.storage.readStore,
      clock: { now: () => now },
      chain: { tokenBalance: balance },
      lines: new WaitingLines(),
      proven: { isProven: async () => settled > 0 },
      settledPayments: async () => settled,
    };
    return {
      take: async (patienceMs = 0) => {
        const taken = await reserve(
          ports,
          { wallet, source: 'source', own: () => own, amount: PRICE },
          { until: performance.now() + patienceMs, signal: new AbortController().signal },
        );
        return isProblem(taken) ? taken : null;
      },
      end: () => giveBack(ports, wallet, PRICE, now + RESERVATION_WINDOW),
      fail: () => countSettlementFailure(ports, wallet),
      pass: () => {
        now += RESERVATION_WINDOW;
      },
    };
  }
  const rich = async () => ({ amount: 100n * PRICE });
  const undecidedFunds = { details: { reason: 'insufficient_funds', shortfall: '990000' } };
  const tooMany = (limit: number) => ({
    problem: 'rate_limit_exceeded',
    details: { window: 'payments_under_way', limit },
  });
  const undecided = { problem: 'service_unavailable', details: { component: 'chain' } };

  it('of a payment that is alone asks the chain nothing', async () => {
    const mine = holder(() => Promise.reject(new Error('asked')));
    expect(await mine.take()).toBeNull();
    await mine.end();
    expect(await mine.take()).toBeNull();
  });

  it('waits for others to be decided, and is then given', async () => {
    const mine = holder(async () => ({ amount: PRICE }));
    await mine.take();
    const waiting = mine.take(5_000);
    setTimeout(mine.end, 200);
    expect(await waiting).toBeNull();
  });

  it('is waited for in line: however many wait, one looks, and they are given in the order in which they came', async () => {
    let looks = 0;
    const mine = holder(async () => {
      looks++;
      return { amount: PRICE };
    });
    await mine.take();
    const given: number[] = [];
    const waiting = Array.from({ length: 50 }, async (_, number) => {
      const refusal = await mine.take(60_000);
      given.push(number);
      await mine.end();
      return refusal;
    });
    await until(
      async () => looks,
      (count) => count >= 60,
    );
    expect(given).toEqual([]);
    // All have looked once, and since then the first alone.
    const began = performance.now();
    const before = looks;
    await sleep(500);
    expect(looks - before).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 50) + 1);
    await mine.end();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => null));
    expect(given).toEqual(waiting.map((_, number) => number));
  });

  it('of a caller that gave up does not delay those behind it', async () => {
    const mine = holder(async () => ({ amount: PRICE }));
    await mine.take();
    const waiting = [mine.take(50), mine.take(150), mine.take(60_000)];
    // The second may still count the first, if both give up in one slow moment.
    expect(await Promise.all(waiting.slice(0, 2))).toMatchObject(
      Array(2).fill({ details: { reason: 'insufficient_funds' } }),
    );
    await mine.end();
    expect(await waiting[2]).toBeNull();
  });

  it('that a killed process left is free when its window ends', async () => {
    const mine = holder(async () => ({ amount: PRICE }));
    await mine.take();
    expect(await mine.take()).toMatchObject(undecidedFunds);
    mine.pass();
    expect(await mine.take()).toBeNull();
  });

  it('is refused while others are under way and the chain does not answer', async () => {
    const mine = holder(() => Promise.reject(new ChainUnavailable('silent')));
    await mine.take();
    expect(await mine.take()).toMatchObject(undecided);
    await mine.end();
    expect(await mine.take()).toBeNull();
  });

  it('lets no more be under way, once one has failed, than may still fail', async () => {
    const mine = holder(rich);
    await mine.fail();
    expect([await mine.take(), await mine.take()]).toEqual([null, null]);
    expect(await mine.take()).toMatchObject(tooMany(2));
    await mine.fail();
    await mine.end();
    expect(await mine.take()).toMatchObject(tooMany(1));
    await mine.fail();
    expect(await mine.take()).toMatchObject({ details: { window: 'settlement_failures' } });
  });

  it('of an account that is lent to the wallet is one at a time', async () => {
    const mine = holder(rich, false);
    expect(await mine.take()).toBeNull();
    expect(await mine.take()).toMatchObject(tooMany(1));
  });

  it.each([
    [0, 1],
    [1, 21],
  ])('of a wallet with %d settled payments lets %d be under way at once', async (settled, allowed) => {
    const mine = holder(rich, true, settled);
    for (let place = 0; place < allowed; place++) expect(await mine.take()).toBeNull();
    expect(await mine.take()).toMatchObject(tooMany(allowed));
    await mine.end();
    expect(await mine.take()).toBeNull();
  });
});
