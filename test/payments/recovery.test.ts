/** Whatever became of the request that paid: recovery brings its payment to an end, and says so. */
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { MICROS_PER_SECOND, systemClock } from '../../src/runtime/instant.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import type { Chain } from '../../src/solana/chain.ts';
import { dyingAt, until } from './steering.ts';
import { altered, openWorld, USDC, type World } from './world.ts';

let world: World;
let wallet: Keypair;
beforeAll(async () => {
  world = await openWorld({ paidBefore: true, slotMs: 40, patience: { settlementMs: 1_500, rebroadcastMs: 100 } });
});
beforeEach(async () => {
  wallet = await world.wallet(10n * USDC);
});
afterAll(() => world.close());
afterEach(() => world.disturb());

const typesOf = (requestId: string) => world.eventTypesOf(requestId);

const requestOf = (answer: { json: { meta: { request_id: string } } }) => answer.json.meta.request_id;
const result = (requestId: string) => world.get(world.resultPath(requestId));

/** Rounds of a recovery that was started just now, until nothing is pending. */
const recovered = () =>
  until(
    () => world.recoverLater().round(),
    ({ pending }) => pending === 0,
  );

describe('a process that dies', () => {
  const points: readonly (readonly [string, boolean])[] = [
    ['before the answer is sealed', false],
    ['between the answer and the claim, where they are stored apart', false],
    ['before the claim', false],
    ['after the claim', true],
    ['before the broadcast', true],
    ['after the broadcast', true],
    ['before the settlement is recorded', true],
    ['after the settlement is recorded', true],
  ];

  it.each(points)('%s: the payment ends paid and answered, or free to be used', async (point, isClaimed) => {
    const seen = (await world.events()).length;
    let die = () => {};
    const death = new Promise<void>((died) => {
      die = died;
    });
    const node = await world.serve(createPurchasing({ ...world.ports, ...dyingAt(world, point, die) }));
    const payment = world.pay(wallet);
    const { spent } = await world.moved(wallet, async () => {
      const answered = fetch(`${node}/v2/case?q=dies`, { headers: payment }).catch(() => undefined);
      // Or its patience ended before, so that the outcome is left to recovery as well.
      await Promise.race([death, answered]);
      await recovered();
    });
    const events = (await world.events()).slice(seen);
    if (!isClaimed) {
      expect([spent, events.length]).toEqual([0n, 0]);
      const again = await world.moved(wallet, () => world.get('/v2/case?q=again', payment));
      expect([again.result.status, again.spent]).toEqual([200, 990_000n]);
      return;
    }
    expect(spent).toBe(990_000n);
    expect(events.map(({ type }) => type)).toEqual([
      'PaymentAuthorized',
      'QueryAnswered',
      'PaymentSubmitted',
      'PaymentSettled',
    ]);
    const { requestId } = events[0]!.data as { requestId: string };
    expect(await result(requestId)).toMatchObject({ status: 200, json: { question: 'dies' } });
    expect((await world.get('/v2/case?q=again', payment)).status).toBe(409);
  });
});

describe('a chain that denies a landed transaction for a while', () => {
  it('is detected: the payment settles late, its answer is served, and an alarm is raised', async () => {
    world.disturb({ signatureStatus: async () => null, blockHeight: async () => Number.MAX_SAFE_INTEGER });
    const { result: answer, spent } = await world.moved(wallet, () =>
      world.get('/v2/case?q=denied', world.pay(wallet)),
    );
    expect([answer.status, spent]).toEqual([402, 990_000n]);
    world.disturb();
    await world.runner.waitFor('payments', (await world.storage.log.head())!, 30_000);
    const round = await world.recoverLater().round();
    expect(round.settledLate).toBe(1);
    expect(world.alarms.map(({ alarm }) => alarm)).toContain('payment_settled_late');
    expect(await result(requestOf(answer))).toMatchObject({ status: 200, json: { question: 'denied' } });
  });
});

describe('finality', () => {
  const later = 60 * MICROS_PER_SECOND;
  const visible = async () => world.runner.waitFor('payments', (await world.storage.log.head())!, 30_000);

  it('is recorded once', async () => {
    const answer = await world.get('/v2/case?q=final', world.pay(wallet));
    await visible();
    // 32 slots of 40 ms must pass.
    const types = await until(
      async () => {
        await world.recoverLater(later).round();
        return typesOf(requestOf(answer));
      },
      (seen) => seen.includes('PaymentFinalized'),
    );
    expect(types).toEqual([
      'PaymentAuthorized',
      'QueryAnswered',
      'PaymentSubmitted',
      'PaymentSettled',
      'PaymentFinalized',
    ]);
    await visible();
    expect(await world.recoverLater(later).round()).toMatchObject({ finalized: 0 });
  });

  it('that never happens is a rollback in the log; a later landing is a late settlement', async () => {
    const answer = await world.get('/v2/case?q=undone', world.pay(wallet));
    await visible();
    world.disturb({ signatureStatus: async () => null, blockHeight: async () => Number.MAX_SAFE_INTEGER });
    const round = await world.recoverLater(later).round();
    expect(round.rolledBack).toBeGreaterThan(0);
    expect(await typesOf(requestOf(answer))).toContain('PaymentRolledBack');
    expect(world.alarms.map(({ alarm }) => alarm)).toContain('payment_rolled_back');
    expect((await result(requestOf(answer))).status).toBe(402);
    await visible();
    world.disturb();
    expect(await world.recoverLater(later).round()).toMatchObject({ settledLate: round.rolledBack });
    expect((await result(requestOf(answer))).status).toBe(200);
  });
});

describe('a payment that cannot be looked up', () => {
  it('keeps no other one from its outcome, nor from finality', async () => {
    const visible = async () => world.runner.waitFor('payments', (await world.storage.log.head())!, 30_000);
    world.disturb({ send: async () => ({ sent: true }) });
    // At once: the second must still be valid when recovery sends it again.
    const [broken, pending] = await Promise.all([
      world.get('/v2/case?q=broken', world.pay(wallet)),
      world.get('/v2/case?q=pending', world.pay(wallet)),
    ]);
    world.disturb();
    const settled = await world.get('/v2/case?q=settled', world.pay(wallet));
    expect([broken.status, pending.status, settled.status]).toEqual([202, 202, 200]);
    await visible();
    const signatureStatus: Chain['signatureStatus'] = (signature, options) =>
      signature === broken.json.payment.transaction
        ? Promise.reject(new Error('nobody foresaw this'))
        : world.chain.signatureStatus(signature, options);
    world.disturb({ signatureStatus });
    const types = await until(
      async () => {
        await world.recoverLater(60 * MICROS_PER_SECOND).round();
        return [await typesOf(requestOf(pending)), await typesOf(requestOf(settled))];
      },
      ([first, second]) => !!first?.includes('PaymentSettled') && !!second?.includes('PaymentFinalized'),
    );
    expect(types.map((seen) => seen.at(-1))).toEqual(['PaymentSettled', 'PaymentFinalized']);
    expect(world.alarms.some((line) => JSON.stringify(line).includes('nobody foresaw this'))).toBe(true);
    world.disturb();
    await recovered();
    expect(await typesOf(requestOf(broken))).toContain('PaymentSettled');
  });
});

describe('a wall clock that is set while recovery runs', () => {
  const HOUR = 3_600 * MICROS_PER_SECOND;
  const visible = async () => world.runner.waitFor('payments', (await world.storage.log.head())!, 30_000);
  const denied = async (question: string) => {
    world.disturb({ signatureStatus: async () => null, blockHeight: async () => Number.MAX_SAFE_INTEGER });
    const answer = await world.get(`/v2/case?q=${question}`, world.pay(wallet));
    expect(answer.status).toBe(402);
    world.disturb();
    await visible();
    return answer;
  };

  it.each([-6, 6])(
    'by %i hours hides no payment that was given up: it is looked at in half a minute',
    async (hours) => {
      let shift = 0;
      let passed = 0;
      const recovery = world.recoverBy(
        { now: () => systemClock.now() + shift + passed },
        { now: () => steadyClock.now() + passed },
      );
      await recovery.round();
      const answer = await denied(`denied-${hours}`);
      shift = hours * HOUR;
      expect(await recovery.round()).toMatchObject({ settledLate: 0 });
      passed = 30 * MICROS_PER_SECOND;
      expect(await recovery.round()).toMatchObject({ settledLate: 1 });
      expect(await result(requestOf(answer))).toMatchObject({ status: 200 });
    },
  );

  it('back by hours puts off no look at finality', async () => {
    const answer = await world.get('/v2/case?q=final-by-another-clock', world.pay(wallet));
    await visible();
    const recovery = world.recoverLater(-6 * HOUR);
    const types = await until(
      async () => {
        await recovery.round();
        return typesOf(requestOf(answer));
      },
      (seen) => seen.includes('PaymentFinalized'),
    );
    expect(types).toContain('PaymentFinalized');
  });

  it('back by hours leaves its lease to be renewed, so that it is not taken for dead', async () => {
    let shift = 0;
    const asked: number[] = [];
    const clock = { now: () => systemClock.now() + shift };
    const readStore = altered(world.storage.readStore, {
      acquireLease: (name, owner, now, duration) => {
        asked.push(now);
        return world.storage.readStore.acquireLease(name, owner, now, duration);
      },
    });
    const recovery = world.recoverBy(clock, steadyClock, readStore);
    const stop = new AbortController();
    const running = recovery.run(stop.signal);
    await until(
      async () => asked.length,
      (count) => count === 1,
    );
    shift = -6 * HOUR;
    await until(
      async () => asked.length,
      (count) => count > 1,
      8_000,
    );
    stop.abort();
    await running;
    expect(asked.at(-1)!).toBeLessThan(systemClock.now() - 5 * HOUR);
  });
});

describe('a read model that lags', () => {
  it('hides nothing from recovery', async () => {
    await world.runner.stop();
    try {
      const node = await world.serve(createPurchasing({ ...world.ports, ...dyingAt(world, 'after the claim') }));
      const { spent } = await world.moved(wallet, async () => {
        void fetch(`${node}/v2/case?q=hidden`, { headers: world.pay(wallet) }).catch(() => undefined);
        await until(world.events, (events) => events.at(-1)?.type === 'PaymentSubmitted');
        await recovered();
      });
      expect(spent).toBe(990_000n);
    } finally {
      await world.runner.start();
    }
  });
});

describe('recovery as a process', () => {
  it('holds its lease, finishes pending work, and ends when stopped', async () => {
    const node = await world.serve(createPurchasing({ ...world.ports, ...dyingAt(world, 'after the claim') }));
    const stop = new AbortController();
    const { spent } = await world.moved(wallet, async () => {
      void fetch(`${node}/v2/case?q=process`, { headers: world.pay(wallet) }).catch(() => undefined);
      await until(world.events, (events) => events.at(-1)?.type === 'PaymentSubmitted');
      const running = [world.recoverLater().run(stop.signal), world.recoverLater().run(stop.signal)];
      await until(world.events, (events) => events.at(-1)?.type === 'PaymentSettled');
      stop.abort();
      await Promise.all(running);
    });
    expect(spent).toBe(990_000n);
    expect((await world.events()).filter(({ type }) => type === 'PaymentSettled').at(-1)?.metadata.actor).toBe(
      'payment-recovery',
    );
  });
});
