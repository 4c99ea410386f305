/**
 * Given endpoints that have forgotten a part of the chain, fail, lie or may be asked only so often, `docket audit reconcile`
 * says what it could not compare, keeps within its budget, and continues where it ended.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reconcile } from '../../../src/audit/reconcile/reconcile.ts';
import { ReconcileState } from '../../../src/audit/reconcile/state.ts';
import { EXIT } from '../../../src/cli/command.ts';
import { MICROS_PER_SECOND, systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { CallBudget } from '../../../src/solana/call-budget.ts';
import { RpcHistory } from '../../../src/solana/rpc-history.ts';
import { type Fault, type FaultyRpc, openFaultyRpc, pass, type RpcCall } from '../../solana/faulty-rpc.ts';
import { append, buy, claim, openShop, payment, reconciled, type Shop, settled, untilFinal } from './shop.ts';

let shop: Shop;
let wallet: Keypair;
let streams: string[];
let slots: number[];
beforeAll(async () => {
  shop = await openShop();
  wallet = await shop.wallet();
  streams = [];
  for (let count = 0; count < 4; count++) {
    streams.push(await buy(shop, wallet));
    await untilFinal(shop);
  }
  slots = (await shop.events()).filter(({ type }) => type === 'PaymentSettled').map(({ data }) => Number(data.slot));
});
// The last test plants a payment.
afterAll(() => shop.close({ planted: true }));

let directory: string;
let state: string;
const opened: FaultyRpc[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reconcile-'));
  state = join(directory, 'state.db');
});
afterEach(async () => {
  rmSync(directory, { recursive: true, force: true });
  await Promise.all(opened.splice(0).map((endpoint) => endpoint.close()));
});

async function endpoint(fault: (call: RpcCall) => Fault = () => pass): Promise<FaultyRpc> {
  const proxy = await openFaultyRpc(shop.rpcUrl, fault);
  opened.push(proxy);
  return proxy;
}

/** A node that has dropped everything before a slot, as a validator does: it lists and gives nothing older. */
const pruned =
  (first: number) =>
  (call: RpcCall): Fault => {
    if (call.method === 'getFirstAvailableBlock') return { type: 'result', result: first };
    if (call.method === 'getTransaction')
      return {
        type: 'alter',
        change: (result) => (((result as { slot: number } | null)?.slot ?? 0) < first ? null : result),
      };
    if (call.method === 'getSignaturesForAddress')
      return { type: 'alter', change: (result) => (result as { slot: number }[]).filter(({ slot }) => slot >= first) };
    return pass;
  };

describe('an endpoint that no longer keeps the older half', () => {
  it('confirms the newer half, and names each older payment without calling it a difference', async () => {
    const first = slots[2] ?? 0;
    const { code, findings, summary, err } = await reconciled(shop, '--rpc-url', (await endpoint(pruned(first))).url);
    expect([code, err]).toEqual([EXIT.ok, '']);
    expect(findings.map(({ type, stream, keptFrom }) => [type, stream, keptFrom]).sort()).toEqual(
      streams
        .slice(0, 2)
        .map((stream) => ['not_kept_by_endpoint', stream, first])
        .sort(),
    );
    expect(summary).toMatchObject({
      complete: true,
      payments: { settled: 4, matches: 2, notKept: 2 },
      balances: [{ verdict: 'not_provable' }],
      listedFrom: { [shop.ports.payee.destination]: first },
    });
  });

  it('is not asked for what it cannot have', async () => {
    const proxy = await endpoint(pruned(slots[2] ?? 0));
    await reconciled(shop, '--rpc-url', proxy.url);
    expect(proxy.calls.filter(({ method }) => method === 'getTransaction')).toHaveLength(2);
  });

  it('is completed by a second one that keeps everything', async () => {
    const short = await endpoint(pruned(slots[2] ?? 0));
    const { code, summary } = await reconciled(shop, '--rpc-url', short.url, '--rpc-url', shop.rpcUrl);
    expect([code, summary.payments.matches, summary.balances[0].verdict]).toEqual([EXIT.ok, 4, 'matches']);
  });
});

describe('an endpoint that gives no usable answer', () => {
  it('another transaction than the asked one is no answer', async () => {
    let other: unknown = null;
    const proxy = await endpoint(({ method }) =>
      method === 'getTransaction' ? { type: 'alter', change: (result) => (other ??= result) } : pass,
    );
    const { code, err } = await reconciled(shop, '--rpc-url', proxy.url);
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringContaining('does not have the expected shape')]);
  });

  it('a list that never ends is noticed', async () => {
    const [{ signature, slot }] = (await shop.rpc.call<{ signature: string; slot: number }[]>(
      'getSignaturesForAddress',
      shop.ports.payee.destination,
    )) as never as [{ signature: string; slot: number }];
    const proxy = await endpoint(({ method }) =>
      method === 'getSignaturesForAddress' ? { type: 'result', result: [{ signature, slot, err: null }] } : pass,
    );
    const { code, err } = await reconciled(shop, '--rpc-url', proxy.url);
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringContaining('lists the same transactions again')]);
  });

  const invented = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) =>
      String(from + index)
        .replaceAll('0', 'z')
        .padStart(88, 'A'),
    );
  it.each<[what: string, page: (call: number) => readonly [signature: string, slot: number][], problem: string]>([
    [
      'repeats a page after another one',
      (call) => [[invented(1, call % 2)[0] ?? '', 10]],
      'lists the same transactions again',
    ],
    [
      'repeats a transaction in older and older slots',
      (call) => [[invented(1, call % 2)[0] ?? '', 1_000_000 - call]],
      'lists the same transactions again',
    ],
    [
      'goes back to newer slots',
      (call) => [[invented(1, call)[0] ?? '', 10 + call]],
      'a newer transaction after an older one',
    ],
    [
      'invents transactions for ever',
      (call) => invented(1_000, call * 1_000).map((signature) => [signature, 10]),
      'more than 50000 transactions in one slot',
    ],
  ])('a list that %s is noticed', async (_, page, problem) => {
    let call = 0;
    const proxy = await endpoint(({ method }) => {
      if (method !== 'getSignaturesForAddress') return pass;
      const result = page(call++).map(([signature, slot]) => ({ signature, slot, err: null }));
      return { type: 'result', result };
    });
    const { code, err } = await reconciled(shop, '--rpc-url', proxy.url);
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringContaining(problem)]);
    expect(call).toBeLessThan(60);
  });

  it('the next one is asked', async () => {
    const dead = await endpoint(() => ({ type: 'status', status: 500 }));
    const { code, summary } = await reconciled(shop, '--rpc-url', dead.url, '--rpc-url', shop.rpcUrl);
    expect([code, summary.payments.matches]).toEqual([EXIT.ok, 4]);
  });

  it('an endpoint of another chain is refused', async () => {
    const other = await openFaultyRpc(shop.rpcUrl, ({ method }) =>
      method === 'getGenesisHash' ? { type: 'result', result: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' } : pass,
    );
    opened.push(other);
    const { code, err } = await reconciled(shop, '--rpc-url', other.url);
    expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(/^Wrong chain: the log belongs to the chain/)]);
  });
});

describe('a budget of calls', () => {
  it('is never exceeded, and runs with one state together compare everything', async () => {
    const proxy = await endpoint();
    const whole = await reconciled(shop, '--rpc-url', proxy.url);
    const needed = proxy.calls.length;
    expect(whole.summary.calls).toBe(needed);
    for (let runs = 1; ; runs++) {
      const before = proxy.calls.length;
      const run = await reconciled(shop, '--rpc-url', proxy.url, '--state', state, '--max-calls', '8');
      expect(proxy.calls.length - before).toBeLessThanOrEqual(8);
      if (run.code === EXIT.ok) {
        expect(run.summary).toMatchObject({ ...whole.summary, calls: expect.any(Number) });
        expect(runs).toBeGreaterThan(1);
        break;
      }
      expect([run.code, run.summary.complete, run.findings.at(-1)?.error?.message]).toEqual([
        EXIT.unavailable,
        false,
        expect.stringMatching(
          /^The budget of calls is spent\. The comparison is not complete: .* still to be (fetched|read)\.$/,
        ),
      ]);
      expect(runs).toBeLessThan(10);
    }
  });

  it('spaces calls evenly, by the clock', async () => {
    const waits: number[] = [];
    let now = 0;
    const budget = new CallBudget(
      { perSecond: 4, inAll: 6 },
      {
        now: () => now,
        pause: async (milliseconds) => {
          waits.push(milliseconds);
        },
      },
    );
    for (let call = 0; call < 5; call++) await budget.take();
    expect(waits).toEqual([250, 500, 750, 1000]);
    now = 5_000;
    await budget.take();
    expect(waits).toHaveLength(4);
    await expect(budget.take()).rejects.toMatchObject({ code: 'call_budget_spent' });
    expect(budget.calls).toBe(6);
  });
});

describe('a state file', () => {
  it('makes a later run ask only for what is new', async () => {
    const proxy = await endpoint();
    await reconciled(shop, '--rpc-url', proxy.url, '--state', state);
    proxy.calls.length = 0;
    const { summary } = await reconciled(shop, '--rpc-url', proxy.url, '--state', state);
    expect(summary.payments.matches).toBe(4);
    expect(proxy.calls.filter(({ method }) => method === 'getTransaction')).toEqual([]);
  });

  it('that is another file, a folder or in use is refused, and left as it is', async () => {
    writeFileSync(state, 'my notes, which are long enough to be mistaken for a database'.repeat(20));
    for (const path of [
      state,
      directory,
      join(directory, 'nowhere', 'state.db'),
      join(shop.directory, 'data', 'log.sqlite'),
    ]) {
      const { code, err } = await reconciled(shop, '--state', path);
      expect([code, err]).toEqual([
        EXIT.usage,
        expect.stringMatching(/^--state .* cannot be used: .*\nGive another file/),
      ]);
    }
    const used = join(directory, 'used.db');
    const held = ReconcileState.open(used);
    held.setFact('held', 'yes');
    const { code, err } = await reconciled(shop, '--state', used);
    held.close();
    expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('another process uses the file')]);
  });

  it('of another log is refused', async () => {
    const held = ReconcileState.open(state);
    held.setFact('firstEvent', 'another');
    held.close();
    const { code, err } = await reconciled(shop, '--state', state);
    expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('belongs to another log')]);
  });

  it('whose newest event the log no longer has shows that the log was cut', async () => {
    const held = ReconcileState.open(state);
    held.setFact('mark', JSON.stringify({ stream: 'payment-gone', revision: 0, position: '1', hash: 'x' }));
    held.close();
    const { code, err } = await reconciled(shop, '--state', state);
    expect([code, err]).toEqual([EXIT.found, expect.stringContaining('its event payment-gone 0 is missing')]);
  });

  it('that was edited is refused', async () => {
    const held = ReconcileState.open(state);
    held.setFact('mark', 'no JSON');
    held.close();
    const { code, err } = await reconciled(shop, '--state', state);
    expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('cannot be used: it is damaged or was edited')]);
  });
});

it('a balance that is not the sum of its transfers is a difference', async () => {
  const proxy = await endpoint(({ method }) =>
    method === 'getTokenAccountBalance'
      ? { type: 'alter', change: (result) => ({ ...(result as object), value: { amount: '7' } }) }
      : pass,
  );
  const budget = new CallBudget({ perSecond: null, inAll: null });
  const pacing = { now: () => 0, pause: async () => {} };
  const history = new RpcHistory({ urls: [proxy.url], budget, pacing });
  const own = ReconcileState.open(null);
  const findings: unknown[] = [];
  const { log } = shop.storage;
  const progress = { log() {}, listed() {}, fetched() {} };
  await reconcile({ log, history, state: own, report: (finding) => findings.push(finding), progress, pacing });
  own.close();
  history.close();
  expect(findings).toEqual([expect.objectContaining({ code: 'balance_differs', found: '7 base units' })]);
});

it('a payment that is confirmed and not final yet waits apart', async () => {
  const proxy = await endpoint(({ method, params }) => {
    const [, settings] = params as [unknown, { commitment?: string } | undefined];
    if (settings?.commitment !== 'finalized') return pass;
    if (method === 'getTransaction') return { type: 'result', result: null };
    return method === 'getSignaturesForAddress' ? { type: 'result', result: [] } : pass;
  });
  const budget = new CallBudget({ perSecond: null, inAll: null });
  const pacing = { now: () => 0, pause: async () => {} };
  const history = new RpcHistory({ urls: [proxy.url], budget, pacing });
  const own = ReconcileState.open(null);
  const types: string[] = [];
  const { log } = shop.storage;
  const progress = { log() {}, listed() {}, fetched() {} };
  const { payments } = await reconcile({
    log,
    history,
    state: own,
    report: ({ type }) => types.push(type),
    progress,
    pacing,
  });
  own.close();
  history.close();
  expect(payments).toMatchObject({ settled: 4, awaitsFinality: 4 });
  expect(types.filter((type) => type === 'awaits_finality')).toHaveLength(4);
});

it('is no excuse for a payment that names a slot before its history, and was submitted after those in it', async () => {
  const first = slots[2] ?? 0;
  const wire = await payment(shop, wallet, 990_000n);
  const at = toInstant(systemClock.now() + 3_600 * MICROS_PER_SECOND);
  const stream = await claim(shop, wire, { wallet, at });
  await append(shop, stream, [settled(wire, wallet.publicKey.toBase58(), first - 1)], at);
  const { code, findings, summary } = await reconciled(shop, '--rpc-url', (await endpoint(pruned(first))).url);
  expect(code).toBe(EXIT.found);
  expect(findings.filter(({ type }) => type === 'difference')).toEqual([
    expect.objectContaining({ code: 'slot_too_early', stream, found: `slot ${first - 1}, submitted at ${at}` }),
  ]);
  expect(summary).toMatchObject({ payments: { settled: 5, matches: 2, differs: 1, notKept: 2 } });
});
