import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PurchasePorts, Purchasing } from '../../src/commands/purchase/contract.ts';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import type { RequestedCallback } from '../../src/commands/purchase/query-run.ts';
import { MICROS_PER_SECOND, systemClock } from '../../src/runtime/instant.ts';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import type { Append } from '../../src/storage/event-log.ts';
import { withPayloadsFirst } from '../../src/storage/payloads-first.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { tokenAccountOf, transfer } from '../solana/payment-transactions.ts';
import { dead, until } from './steering.ts';
import { type Answer, altered, openWorld, USDC, type World } from './world.ts';

let world: World;
let wallet: Keypair;
beforeAll(async () => {
  world = await openWorld({
    paidBefore: true,
    slotMs: 40,
    patience: { settlementMs: 2_500, rebroadcastMs: 100, appendRepeatsMs: [20, 60, 120] },
  });
});
beforeEach(async () => {
  wallet = await world.wallet(10n * USDC);
});
afterAll(() => world.close());
afterEach(() => world.disturb());

const typesOf = (requestId: string) => world.eventTypesOf(requestId);

const requestOf = (answer: { json: { meta: { request_id: string } } }) => answer.json.meta.request_id;
const result = (requestId: string) => world.get(world.resultPath(requestId));
const unavailable = async (): Promise<never> => {
  throw new ChainUnavailable('silent');
};

/** Rounds of a recovery that was started just now, until nothing is pending. */
const recovered = () =>
  until(
    () => world.recoverLater().round(),
    ({ pending }) => pending === 0,
  );

describe('a chain that holds every call from the broadcast on', () => {
  it('is waited for no longer than a payment is: 202, and the answer at its result URL once it speaks', async () => {
    const never = () => new Promise<never>(() => {});
    world.disturb({
      signatureStatus: never,
      blockHeight: never,
      send: async (wire) => {
        await world.chain.send(wire);
        return never();
      },
    });
    const began = performance.now();
    const answer = await world.get('/v2/case?q=held', world.pay(wallet));
    expect(answer.status).toBe(202);
    // Its patience is 900 ms here; a last round may take a second more.
    expect(performance.now() - began).toBeLessThan(10_000);
    world.disturb();
    await recovered();
    expect((await result(requestOf(answer))).status).toBe(200);
  });
});

describe('twenty copies of one payment on four nodes that know nothing of each other', () => {
  it('are charged once and answered once', async () => {
    const nodes = await Promise.all(Array.from({ length: 4 }, () => world.serve(createPurchasing(world.ports))));
    const payment = world.pay(wallet);
    const { result: answers, spent } = await world.moved(wallet, () =>
      Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          world.get(i % 2 ? '/v2/case?q=slow' : '/v2/monitor?q=slow', payment, nodes[i % 4]),
        ),
      ),
    );
    expect(spent).toBe(990_000n);
    const [bought, ...copies] = answers.map(({ status }) => status).sort();
    expect(bought).toBe(200);
    // A copy beyond the places of a new wallet may be told to wait: it is undecided then, and as uncharged.
    for (const status of copies) expect([409, 429]).toContain(status);
  });

  it('where some ask what fails: one still buys, if any asks what can be answered', async () => {
    const nodes = await Promise.all(Array.from({ length: 3 }, () => world.serve(createPurchasing(world.ports))));
    const payment = world.pay(wallet);
    const { result: answers, spent } = await world.moved(wallet, () =>
      Promise.all(nodes.map((node, i) => world.get(i === 2 ? '/v2/case?q=slow' : '/v2/case?q=unknown', payment, node))),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 200]);
    expect(spent).toBe(990_000n);
  });
});

describe('a payment that another node spends while this one asks the chain about it', () => {
  const refusals = (answers: readonly Answer[]) =>
    answers.map(({ status, json }) => [status, json.error?.code ?? null]).sort();
  const ONE_BUYS = [
    [200, null],
    [409, 'payment_already_used'],
  ];

  it('counts as used, and is not rejected with terms for another one', async () => {
    const simulating = new EventEmitter();
    const begun = once(simulating, 'begun');
    const goOn = once(simulating, 'go on');
    const chain = altered(world.chain, {
      async simulate(wire) {
        simulating.emit('begun');
        await goOn;
        return world.chain.simulate(wire);
      },
    });
    const behind = await world.serve(createPurchasing({ ...world.ports, chain }));
    const payment = world.pay(wallet);
    const { result: answers, spent } = await world.moved(wallet, async () => {
      const late = world.get('/v2/case?q=a', payment, behind);
      await begun;
      const first = await world.get('/v2/case?q=a', payment);
      simulating.emit('go on');
      return [first, await late];
    });
    expect(spent).toBe(990_000n);
    expect(refusals(answers)).toEqual(ONE_BUYS);
    // The payment counts once, though the one that was counted for it did not buy.
    const { headers } = await world.get('/v2/case?q=a', world.pay(wallet));
    expect(headers.get('ratelimit-remaining')).toBe('58');
  });

  it("counts as used and not as unfunded if it was the last of its wallet's money", async () => {
    const poor = await world.wallet(990_000n);
    const nodes = await Promise.all([0, 1].map(() => world.serve(createPurchasing(world.ports))));
    const payment = world.pay(poor);
    const { result: answers, spent } = await world.moved(poor, () =>
      Promise.all(nodes.map((node) => world.get('/v2/case?q=slow', payment, node))),
    );
    expect(spent).toBe(990_000n);
    expect(refusals(answers)).toEqual(ONE_BUYS);
  });
});

describe('a chain that falls silent after the broadcast', () => {
  it('is a 202, and the answer appears at its URL once the chain speaks again', async () => {
    world.disturb({
      // The first look goes with the broadcast.
      signatureStatus: unavailable,
      blockHeight: unavailable,
    });
    const { result: answer, spent } = await world.moved(wallet, () =>
      world.get('/v2/case?q=silent', world.pay(wallet)),
    );
    expect(answer.status).toBe(202);
    expect(spent).toBe(990_000n);
    expect(answer.headers.get('payment-response')).toBeNull();
    expect(answer.json).toMatchObject({
      meta: { query_cost_usd: 0 },
      payment: { status: 'pending', transaction: expect.any(String), retry_after: 2 },
    });
    expect(answer.json.payment.result_url).toBe(`${world.url}${world.resultPath(requestOf(answer))}`);
    const pending = await result(requestOf(answer));
    expect([pending.status, pending.json.payment]).toEqual([202, answer.json.payment]);
    world.disturb();
    await recovered();
    expect(await result(requestOf(answer))).toMatchObject({ status: 200, json: { question: 'silent' } });
  });

  it('reaches a caller of version 1 without a meta', async () => {
    world.disturb({
      signatureStatus: unavailable,
      blockHeight: unavailable,
    });
    const { result: answer } = await world.moved(wallet, () => world.get('/v1/case?q=silent', world.pay(wallet)));
    expect([answer.status, Object.keys(answer.json)]).toEqual([202, ['queried_at', 'payment']]);
    const { pathname } = new URL(answer.json.payment.result_url);
    world.disturb();
    await recovered();
    expect(await world.get(pathname)).toMatchObject({ status: 200, json: { question: 'silent' } });
  });
});

describe('a transaction that never reaches the cluster', () => {
  it('is broadcast again until it does', async () => {
    let attempts = 0;
    world.disturb({ send: async (wire) => (++attempts <= 2 ? { sent: true } : world.chain.send(wire)) });
    const { result: answer, spent } = await world.moved(wallet, () => world.get('/v2/case?q=again', world.pay(wallet)));
    expect([answer.status, spent]).toEqual([200, 990_000n]);
    expect(attempts).toBeGreaterThan(2);
  });
});

describe('a wallet that is emptied between the check and the settlement', () => {
  it('gets no answer and is not charged', async () => {
    const poor = await world.wallet(1n * USDC);
    const rich = await world.wallet(0n);
    const [{ build }, payment] = [await import('../solana/payment-transactions.ts'), world.pay(poor)];
    const drain = build({
      instructions: [
        transfer(world.parties, poor.publicKey, { destination: tokenAccountOf(rich.publicKey), amount: 500_000n }),
      ],
      payer: poor.publicKey,
      signers: [poor],
      blockhash: world.blockhashes.latest()!.blockhash,
    });
    const asked = world.asked.length;
    const answering = world.get('/v2/case?q=slow', payment);
    await until(
      async () => world.asked.length,
      (length) => length > asked,
    );
    expect(await world.chain.send(drain)).toEqual({ sent: true });
    // The endpoint's preflight refuses it from now on; it is given up when its blockhash has ended.
    world.disturb({ blockHeight: async () => Number.MAX_SAFE_INTEGER });
    const answer = await answering;
    expect([answer.status, answer.json.error.code]).toEqual([402, 'settlement_failed']);
    expect(await world.tokens(poor.publicKey)).toBe(500_000n);
  });

  it('and fails on chain at our cost, three times in an hour, must pause', async () => {
    const poor = await world.wallet(1n * USDC);
    world.disturb({
      simulate: async () => ({ ok: true }),
      // Past the endpoint's own preflight, as a faster drain would be.
      send: async (wire) => {
        await world.rpc.call('sendTransaction', Buffer.from(wire).toString('base64'), {
          encoding: 'base64',
          skipPreflight: true,
        });
        return { sent: true };
      },
    });
    const first = await world.get('/v2/case?q=a', world.pay(poor));
    expect(first.status).toBe(200);
    for (let i = 0; i < 3; i++) {
      const failed = await world.get('/v2/case?q=a', world.pay(poor));
      expect([failed.status, failed.json.error.code, failed.json.error.details.reason]).toEqual([
        402,
        'settlement_failed',
        'on_chain_error',
      ]);
    }
    const limited = await world.get('/v2/case?q=a', world.pay(poor));
    expect([limited.status, limited.json.error.details.window]).toEqual([429, 'settlement_failures']);
    expect(await world.tokens(poor.publicKey)).toBe(10_000n);
  });
});

describe('what goes wrong before the claim', () => {
  const refusedAs = async (component: string) => {
    const { result: answer, spent } = await world.moved(wallet, () => world.get('/v2/case?q=early', world.pay(wallet)));
    expect([answer.status, answer.json.error.code, answer.json.error.details.component, spent]).toEqual([
      503,
      'service_unavailable',
      component,
      0n,
    ]);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(world.asked.at(-1)).not.toBe('early');
  };

  it('a silent chain is a 503, uncharged', async () => {
    world.disturb({ simulate: unavailable });
    await refusedAs('chain');
  });
  it('an endpoint that does not know the blockhash is asked again, and then a 503', async () => {
    let simulations = 0;
    world.disturb({
      simulate: async () => {
        simulations++;
        return { ok: false, error: '"BlockhashNotFound"', logs: [] };
      },
    });
    await refusedAs('chain');
    expect(simulations).toBe(2);
  });
  it('a query that takes too long is a 504, and its payment is free', async () => {
    const slow = await openWorld({ patience: { queryMs: 100 }, answer: () => dead() });
    try {
      const payer = await slow.wallet();
      const { result: answer, spent } = await slow.moved(payer, () => slow.get('/v2/case?q=a', slow.pay(payer)));
      expect([answer.status, answer.json.error.code, spent]).toEqual([504, 'query_timeout', 0n]);
      expect((await slow.events()).at(-1)?.type).toBe('PaymentReleased');
    } finally {
      await slow.close();
    }
  });
  it('that is unexpected is a 500, and releases everything reserved of the wallet', async () => {
    const poor = await world.wallet(990_000n);
    const feePayer = { sign: () => Promise.reject(new Error('the key is out of reach')) };
    const node = await world.serve(createPurchasing({ ...world.ports, feePayer }));
    const { result: answer, spent } = await world.moved(poor, () => world.get('/v2/case?q=a', world.pay(poor), node));
    expect([answer.status, answer.json.error.code, spent]).toEqual([500, 'internal_error', 0n]);
    expect(answer.text).not.toContain('out of reach');
    expect((await world.get('/v2/case?q=a', world.pay(poor))).status).toBe(200);
  });

  /** Breaks off once the query is being answered, not before it was begun, and gives what that cost. */
  async function breakOff(payment: Record<string, string>, callbacks: readonly RequestedCallback[]): Promise<bigint> {
    const { purchasing } = world;
    let begun = false;
    const untilGone: Purchasing['buy'] = (request) =>
      purchasing.buy({
        ...request,
        isPushed: callbacks.length > 0,
        async answer(call) {
          begun = true;
          await until(async () => request.isAbandoned(), Boolean);
          const answer = await request.answer(call);
          return 'body' in answer ? { ...answer, callbacks } : answer;
        },
      });
    const node = await world.serve({ underway: purchasing.underway, buy: untilGone });
    const { spent } = await world.moved(wallet, async () => {
      const caller = new AbortController();
      const broken = fetch(`${node}/v2/case?q=a`, { headers: payment, signal: caller.signal });
      const gone = expect(broken).rejects.toThrow();
      await until(async () => begun, Boolean);
      caller.abort();
      await gone;
      expect(
        await until(
          async () => purchasing.underway.size,
          (size) => size === 0,
        ),
      ).toBe(0);
    });
    return spent;
  }

  it('a caller who breaks off pays for what is pushed to them all the same', async () => {
    expect(await breakOff(world.pay(wallet), [{ url: 'https://receiver.example/', result: null }])).toBe(990_000n);
    expect((await world.events()).findLast(({ type }) => type === 'PaymentSettled')?.data).toMatchObject({
      wallet: wallet.publicKey.toBase58(),
      owes: { deliveries: [expect.any(String)] },
    });
  });
  it('a caller who breaks off pays for nothing else, and the payment is free', async () => {
    const payment = world.pay(wallet);
    expect(await breakOff(payment, [])).toBe(0n);
    const again = await world.get('/v2/case?q=a', payment);
    // One payment counts once for the minute, and each time for the day: its answer was made twice.
    expect([again.status, again.headers.get('ratelimit-remaining')]).toEqual([200, '59']);
    const day = `${wallet.publicKey.toBase58()}-cases-day`;
    const now = systemClock.now();
    expect((await world.storage.readStore.increment(day, 0, 10_000, now, 86_400 * MICROS_PER_SECOND)).count).toBe(2);
  });
  it('an answer that cannot be stored is a 503, and its payment is free', async () => {
    let full = true;
    const log = withPayloadsFirst(world.storage.log, {
      store: async (payload) => {
        if (full) throw new StorageFailure('storage_unavailable', 'no answer');
        return world.storage.payloads.store(payload);
      },
    });
    const node = await world.serve(createPurchasing({ ...world.ports, log }));
    const payment = world.pay(wallet);
    const refused = await world.moved(wallet, () => world.get('/v2/case?q=a', payment, node));
    expect([refused.result.status, refused.result.json.error.details.component, refused.spent]).toEqual([
      503,
      'storage',
      0n,
    ]);
    full = false;
    expect((await world.get('/v2/case?q=a', payment, node)).status).toBe(200);
  });
});

describe('a log that fails', () => {
  const failing = (which: number, times: number): Partial<PurchasePorts> => {
    const { log } = world.storage;
    let appends = 0;
    return {
      log: altered(log, {
        async append(appended) {
          const number = ++appends;
          if (number < which || number >= which + times) return log.append(appended);
          // The worst of failures: it was kept, and nobody was told.
          if (number === which) await log.append(appended);
          throw new Error('the disk is gone');
        },
      }),
    };
  };

  it('for a moment at the claim is asked again, unchanged', async () => {
    const node = await world.serve(createPurchasing({ ...world.ports, ...failing(1, 2) }));
    const { result: answer, spent } = await world.moved(wallet, () =>
      world.get('/v2/case?q=a', world.pay(wallet), node),
    );
    expect([answer.status, spent]).toEqual([200, 990_000n]);
    expect(await typesOf(requestOf(answer))).toHaveLength(4);
  });

  it.each([
    ['the claim', 1],
    ['the settlement', 2],
  ])('for good at %s is never a refusal: 202, and recovery decides', async (_title, which) => {
    const node = await world.serve(createPurchasing({ ...world.ports, ...failing(which, 99) }));
    const { result: answer, spent } = await world.moved(wallet, async () => {
      const pending = await world.get('/v2/case?q=kept', world.pay(wallet), node);
      await recovered();
      return pending;
    });
    expect([answer.status, spent]).toEqual([202, 990_000n]);
    expect(await result(requestOf(answer))).toMatchObject({ status: 200, json: { question: 'kept' } });
  });
});

describe('a disk that is full at the claim', () => {
  /** As SQLite fails then: nothing is written, and it is certain. */
  const full = (onlyFor: (append: Append) => boolean = () => true) => {
    let room = false;
    const { log } = world.storage;
    const ports: Partial<PurchasePorts> = {
      log: altered(log, {
        append: (append) =>
          room || !onlyFor(append)
            ? log.append(append)
            : Promise.reject(new StorageFailure('storage_full', 'no room', { nothingWritten: true })),
      }),
    };
    return {
      ports,
      clear: () => {
        room = true;
      },
    };
  };

  it('is a 503, uncharged, of which nothing is recorded and nothing is kept; then the same payment buys', async () => {
    const disk = full();
    const kept = async () => {
      const names: string[] = [];
      for await (const { name } of world.storage.payloads.list('answer', '9999-01-01T00:00:00.000000Z'))
        names.push(name);
      return names.length;
    };
    const before = await kept();
    const node = await world.serve(createPurchasing({ ...world.ports, ...disk.ports }));
    // It can afford one: what the refused request had reserved is free again.
    const poor = await world.wallet(990_000n);
    const payment = world.pay(poor);
    const { result: refused, spent } = await world.moved(poor, () => world.get('/v2/case?q=a', payment, node));
    expect([refused.status, refused.json.error.code, spent]).toEqual([503, 'service_unavailable', 0n]);
    expect(refused.json.error.details).toMatchObject({ charged: false, component: 'storage', retry_after: 2 });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.headers.get('content-location')).toBeNull();
    expect(await typesOf(requestOf(refused))).toEqual([]);
    expect((await result(requestOf(refused))).status).toBe(404);
    expect(await kept()).toBe(before);
    disk.clear();
    const { result: answer, spent: paid } = await world.moved(poor, () => world.get('/v2/case?q=a', payment, node));
    expect([answer.status, paid]).toEqual([200, 990_000n]);
    expect(await kept()).toBe(before + 1);
  });

  it.each([
    ['after a second, where it is certain that it was not yet', true, 200],
    ['never, where it may have been', false, 402],
  ])('what it had reserved, and could not be given back, is given back %s', async (_title, nothingWritten, status) => {
    const disk = full();
    let failures = 1;
    const readStore = altered(world.storage.readStore, {
      async increment(id, amount, ...rest) {
        if (amount < 0 && id.endsWith('-reserved') && failures-- > 0) {
          throw new StorageFailure('storage_full', 'no room', { nothingWritten });
        }
        return world.storage.readStore.increment(id, amount, ...rest);
      },
    });
    const node = await world.serve(createPurchasing({ ...world.ports, ...disk.ports, readStore }));
    const poor = await world.wallet(990_000n);
    expect((await world.get('/v2/case?q=a', world.pay(poor), node)).status).toBe(503);
    disk.clear();
    // Long enough that it would have been given back.
    if (status === 402) await new Promise((resolve) => setTimeout(resolve, 1_200));
    const answered = await until(
      () => world.get('/v2/case?q=a', world.pay(poor), node),
      ({ status: is }) => is === status,
    );
    expect(answered.status).toBe(status);
  });

  it.each([
    ['was not claimed either', undefined],
    ['was claimed just before', ({ events }: Append) => events.some(({ type }) => type === 'PaymentSubmitted')],
  ])('is the same under a payment identifier that %s', async (_title, onlyFor) => {
    const disk = full(onlyFor);
    const node = await world.serve(createPurchasing({ ...world.ports, ...disk.ports }));
    const payment = world.pay(wallet, {}, `pay_${randomUUID()}`);
    const { result: refused, spent } = await world.moved(wallet, () => world.get('/v2/case?q=a', payment, node));
    expect([refused.status, refused.json.error.details.component, spent]).toEqual([503, 'storage', 0n]);
    disk.clear();
    const { result: answer, spent: paid } = await world.moved(wallet, () => world.get('/v2/case?q=a', payment, node));
    expect([answer.status, paid]).toEqual([200, 990_000n]);
  });
});

describe('limits of a wallet', () => {
  // So many at once take a busy machine a while: here they have the time that a service gives them.
  let patient: World;
  beforeAll(async () => {
    patient = await openWorld({ slotMs: 400 });
  });
  afterAll(() => patient.close());

  it('are exact at once: 60 in a minute, the rest 429 and uncharged', async () => {
    const busy = await patient.wallet(100n * USDC);
    const payments = Array.from({ length: 64 }, () => patient.pay(busy));
    const nodes = await Promise.all([0, 1].map(() => patient.serve(createPurchasing(patient.ports))));
    const { result: answers, spent } = await patient.moved(busy, () =>
      Promise.all(payments.map((payment, i) => patient.get('/v2/case?q=a', payment, nodes[i % 2]))),
    );
    const good = answers.filter(({ status }) => status === 200);
    const limited = answers.filter(({ status }) => status === 429);
    expect([good.length, limited.length]).toEqual([60, 4]);
    expect(spent).toBe(60n * 990_000n);
    const { details, message } = limited[0]!.json.error;
    expect(details).toMatchObject({ charged: false, limit: 60, window: 'minute' });
    expect(limited[0]!.headers.get('retry-after')).toBe(String(details.retry_after));
    expect(message).toContain(String(details.retry_after));
    expect((await patient.get('/v2/case?q=a', patient.pay(await patient.wallet()))).status).toBe(200);
  });
});

describe('a process that has no more time', () => {
  it('answers 202 for what was submitted, and 503 for what was not', async () => {
    const stopping = await openWorld({ paidBefore: true, slotMs: 50 });
    try {
      const payer = await stopping.wallet();
      stopping.disturb({ send: async () => ({ sent: true }) });
      const submitted = stopping.get('/v2/case?q=a', stopping.pay(payer));
      await until(stopping.events, (events) => events.at(-1)?.type === 'PaymentSubmitted');
      const slow = stopping.get('/v2/case?q=slow', stopping.pay(payer));
      await until(
        async () => stopping.asked.length,
        (length) => length > 1,
      );
      stopping.draining.abort();
      expect((await submitted).status).toBe(202);
      expect(await slow).toMatchObject({
        status: 503,
        json: { error: { code: 'service_unavailable', details: { charged: false } } },
      });
      expect((await stopping.get('/v2/case?q=a', stopping.pay(payer))).status).toBe(503);
    } finally {
      await stopping.close();
    }
  });
});
