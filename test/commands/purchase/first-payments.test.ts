import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  FAILED_OF_A_SITE,
  FIRST_OF_A_SITE,
  type FirstOutcome,
  FirstPayment,
  FirstPayments,
  type FirstTransaction,
} from '../../../src/commands/purchase/first-payments.ts';
import { ProvenWallets } from '../../../src/commands/purchase/proven-wallets.ts';
import { giveBack, RESERVATION_WINDOW, reserve } from '../../../src/commands/purchase/reservation.ts';
import { WaitingLines } from '../../../src/commands/purchase/waiting-lines.ts';
import { countSettlementFailure } from '../../../src/commands/purchase/wallet-limits.ts';
import { isProblem } from '../../../src/errors.ts';
import { associatedTokenAddress } from '../../../src/solana/addresses.ts';
import { ChainUnavailable, type TokenBalance } from '../../../src/solana/chain.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { openTestStorage } from '../../support/storage.ts';

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

let directory: string;
let storage: Storage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-first-payments-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

const address = () => Keypair.generate().publicKey.toBase58();

/** A wallet that has never paid, and nodes that share a store and a clock. */
function newcomer() {
  const wallet = address();
  let [now, settled] = [1_780_000_000_000_000, 0];
  let tokenBalance = async (): Promise<TokenBalance | null> => ({ amount: 100n, isDelegated: false });
  const ports = {
    readStore: storage.readStore,
    clock: { now: () => now },
    settledPayments: async () => settled,
    chain: { tokenBalance: () => tokenBalance() },
    mint: MINT,
  };
  const node = () => {
    const proven = new ProvenWallets(ports);
    const lines = new WaitingLines();
    const first = new FirstPayments({ ...ports, proven });
    return {
      lines,
      begin: (over: Partial<FirstTransaction> = {}, site: string | null = null) => {
        const source = associatedTokenAddress(wallet, MINT);
        return first.begin({ wallet, source, sponsored: true, othersCanBreak: false, ...over }, site);
      },
      reserve: async (patienceMs = 0) => {
        const reserved = await reserve(
          { ...ports, proven, lines },
          { wallet, source: 'source', own: () => true, amount: 1n },
          patienceOf(patienceMs),
        );
        return isProblem(reserved) ? reserved : null;
      },
      end: (until = now + RESERVATION_WINDOW) => giveBack(ports, wallet, 1n, until),
    };
  };
  return {
    wallet,
    node,
    pass: (micros: number) => {
      now += micros;
    },
    pay: () => {
      settled++;
    },
    answers: (balance: typeof tokenBalance) => {
      tokenBalance = balance;
    },
    fail: () => countSettlementFailure(ports, wallet),
  };
}

const patienceOf = (milliseconds: number) => ({
  until: performance.now() + milliseconds,
  signal: new AbortController().signal,
});
const rejected = (reason: string) => ({ problem: 'payment_rejected', details: { reason } });
const oneAtATime = { problem: 'rate_limit_exceeded', details: { window: 'payments_under_way', limit: 1 } };

describe('payments of a wallet that has never paid', () => {
  it('are under way one at a time, on all nodes together', async () => {
    const { node } = newcomer();
    const [one, other] = [node(), node()];
    expect(await one.reserve()).toBeNull();
    expect([await one.reserve(), await other.reserve()]).toMatchObject([oneAtATime, oneAtATime]);
    const waiting = other.reserve(30_000);
    await one.end();
    expect(await waiting).toBeNull();
    expect(await one.reserve()).toMatchObject(oneAtATime);
  });

  it('wait for one that was left by a killed process until it can no longer land, and each has that long', async () => {
    const { node, pass } = newcomer();
    const one = node();
    expect(await one.reserve()).toBeNull();
    pass(RESERVATION_WINDOW - 1);
    expect(await one.reserve()).toMatchObject(oneAtATime);
    await one.end();
    // What came and went before takes nothing of the time of this one.
    expect(await one.reserve()).toBeNull();
    pass(RESERVATION_WINDOW - 1);
    expect(await one.reserve()).toMatchObject(oneAtATime);
    pass(1);
    expect(await one.reserve()).toBeNull();
  });

  it('keep the place of the next one when an outcome comes late', async () => {
    const { node, pass } = newcomer();
    const one = node();
    await one.reserve();
    const ended = 1_780_000_000_000_000 + RESERVATION_WINDOW;
    pass(RESERVATION_WINDOW + 1);
    expect(await one.reserve()).toBeNull();
    await one.end(ended);
    expect(await one.reserve()).toMatchObject(oneAtATime);
  });

  it('are given in order of arrival: a new payment queues behind those that wait', async () => {
    const { node, wallet } = newcomer();
    const one = node();
    await one.reserve();
    const given: number[] = [];
    const waitFor = async (number: number) => {
      const refusal = await one.reserve(60_000);
      given.push(number);
      await one.end();
      return refusal;
    };
    const waiting = [waitFor(0)];
    await vi.waitUntil(() => one.lines.has(wallet), { timeout: 20_000 });
    waiting.push(...[1, 2, 3, 4].map(waitFor));
    expect(await one.reserve()).toMatchObject(oneAtATime);
    await one.end();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => null));
    expect(given).toEqual([0, 1, 2, 3, 4]);
  });

  it('wait without writing, and are woken by what frees their place', async () => {
    const { node } = newcomer();
    const one = node();
    await one.reserve();
    const written = vi.spyOn(storage.readStore, 'incrementInTurn');
    const waiting = one.reserve(60_000);
    await vi.waitUntil(() => written.mock.calls.length > 0);
    const looks = vi.spyOn(storage.readStore, 'increment');
    await vi.waitUntil(() => looks.mock.calls.filter(([, amount]) => amount === 0).length > 8, 30_000);
    expect(written).toHaveBeenCalledTimes(1);
    written.mockRestore();
    looks.mockRestore();
    await one.end();
    expect(await waiting).toBeNull();
  });

  it('are not sponsored from a delegated account or one of another owner: one transfer could empty many', async () => {
    const { node, answers, pay } = newcomer();
    expect(await node().begin({ source: address() })).toMatchObject(rejected('source_not_sponsored'));
    const first = (await node().begin()) as FirstPayment;
    expect(first).toBeInstanceOf(FirstPayment);
    expect(await first.refusal()).toBeNull();
    answers(async () => ({ amount: 100n, isDelegated: true }));
    expect(await first.refusal()).toMatchObject(rejected('source_not_sponsored'));
    answers(() => Promise.reject(new ChainUnavailable('silent')));
    const unavailable = { problem: 'service_unavailable', details: { component: 'chain' } };
    expect(await first.refusal()).toMatchObject(unavailable);
    // An endpoint that is behind knows no such account: it cannot tell whether it is lent.
    answers(async () => null);
    expect(await first.refusal()).toMatchObject(unavailable);
    pay();
    expect(await node().begin({ source: address() })).toBeNull();
  });

  it('are not sponsored with a guard that others can break: one transaction could break many', async () => {
    const { node, pay } = newcomer();
    expect(await node().begin({ othersCanBreak: true })).toMatchObject(rejected('guard_not_sponsored'));
    pay();
    expect(await node().begin({ othersCanBreak: true })).toBeNull();
  });

  it('may have any account and guard where the wallet pays the fee itself', async () => {
    const { node } = newcomer();
    expect(await node().begin({ sponsored: false, source: address(), othersCanBreak: true })).toBeNull();
  });

  it('are as those of a new wallet again once as many have failed as one settled payment pays for', async () => {
    const { node, fail, pay, pass } = newcomer();
    pay();
    expect([await node().reserve(), await node().reserve()]).toEqual([null, null]);
    for (let count = 0; count < 20; count++) await fail();
    pass(3_600_000_000);
    expect(await node().begin({ othersCanBreak: true })).toMatchObject(rejected('guard_not_sponsored'));
    expect([await node().reserve(), await node().reserve()]).toMatchObject([null, oneAtATime]);
    pay();
    expect(await node().reserve()).toBeNull();
  });
});

describe('a site with many new wallets', () => {
  const tooMany = { problem: 'rate_limit_exceeded', details: { window: 'first_payments' } };
  let sites = 0;

  function visitors() {
    const { begin } = newcomer().node();
    const site = `198.51.100.${sites++}`;
    const next = async (where: string | null = site): Promise<FirstPayment> => {
      const first = await begin({}, where);
      if (!(first instanceof FirstPayment)) throw new Error(JSON.stringify(first));
      return first;
    };
    const submitted = async (patienceMs = 0, where: string | null = site) => {
      const first = await next(where);
      return { first, refusal: await first.turn(patienceOf(patienceMs)) };
    };
    return { begin: () => begin({}, site), next, submitted, site };
  }

  it('has five submitted at once; others of it wait, those of other sites do not', async () => {
    const { submitted, site } = visitors();
    const five = [];
    for (let count = 0; count < FIRST_OF_A_SITE; count++) five.push(await submitted());
    expect(five.map(({ refusal }) => refusal)).toEqual(five.map(() => null));
    expect((await submitted()).refusal).toMatchObject(tooMany);
    expect((await submitted(0, `${site}0`)).refusal).toBeNull();
    expect((await submitted(0, null)).refusal).toBeNull();

    const waiting = submitted(30_000);
    five[0]?.first.end('harmless');
    // The first end counts.
    five[0]?.first.end('failed');
    expect((await waiting).refusal).toBeNull();
    expect((await submitted()).refusal).toMatchObject(tooMany);
  });

  it('has no place taken by a payment that is refused before it is submitted', async () => {
    const { next, submitted } = visitors();
    for (let count = 0; count < 2 * FIRST_OF_A_SITE; count++) (await next()).end('failed');
    expect((await submitted()).refusal).toBeNull();
  });

  it('is sponsored no more once six have failed within an hour', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { begin, next, submitted } = visitors();
      const early = await next();
      for (let count = 0; count < FAILED_OF_A_SITE; count++) {
        expect(await begin()).toBeInstanceOf(FirstPayment);
        (await submitted()).first.end('failed');
        vi.advanceTimersByTime(60_000);
      }
      const retryAfter = 3_600 - FAILED_OF_A_SITE * 60;
      expect(await begin()).toMatchObject({ details: { window: 'first_payments', retry_after: retryAfter } });
      // One that was admitted before is not submitted either.
      expect(await early.turn(patienceOf(0))).toMatchObject(tooMany);
      early.end('harmless');
      vi.advanceTimersByTime(3_600_000 - FAILED_OF_A_SITE * 60_000);
      expect(await begin()).toBeInstanceOf(FirstPayment);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ['failed', FAILED_OF_A_SITE - 1],
    ['harmless', 0],
  ] as const)('keeps the place of an undecided payment until it is %s', async (outcome, failedBefore) => {
    const { begin, submitted } = visitors();
    for (let count = 0; count < failedBefore; count++) (await submitted()).first.end('failed');
    const undecided = [];
    for (let count = 0; count < FIRST_OF_A_SITE; count++) undecided.push((await submitted()).first);

    const look = vi.fn(async (): Promise<FirstOutcome> => 'undecided');
    const pauses: (() => void)[] = [];
    const pause = () => new Promise<void>((resolve) => pauses.push(resolve));
    for (const first of undecided) first.follow(look, pause);
    // The request itself ends now, and its place stays taken.
    for (const first of undecided) first.end('harmless');
    for (const goOn of pauses.splice(0)) goOn();
    await vi.waitUntil(() => pauses.length === FIRST_OF_A_SITE);
    expect((await submitted()).refusal).toMatchObject(tooMany);

    look.mockResolvedValue(outcome);
    for (const goOn of pauses.splice(0)) goOn();
    if (outcome === 'failed') await vi.waitUntil(async () => !((await begin()) instanceof FirstPayment));
    else await vi.waitUntil(async () => (await submitted()).refusal === null);
    expect(look).toHaveBeenCalledTimes(2 * FIRST_OF_A_SITE);
  });
});
