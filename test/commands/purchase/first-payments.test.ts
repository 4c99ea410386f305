import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FirstPaymentRequest,
  FirstPayments,
  UNPROVEN_OF_A_CLIENT,
} from '../../../src/commands/purchase/first-payments.ts';
import { WaitingLines } from '../../../src/commands/purchase/waiting-lines.ts';
import { countSettlementFailure } from '../../../src/commands/purchase/wallet-limits.ts';
import { MICROS_PER_SECOND } from '../../../src/runtime/instant.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { openTestStorage } from '../../support/storage.ts';

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

let wallets = 0;

/** A wallet that has never paid, and nodes that share a store and a clock. */
function newcomer() {
  const wallet = `newcomer-${++wallets}`;
  let [now, settled] = [1_780_000_000_000_000, 0];
  const ports = {
    readStore: storage.readStore,
    clock: { now: () => now },
    settledPayments: async () => settled,
  };
  const lines = new WaitingLines();
  let nodes = 0;
  const node = (owner = `node-${++nodes}`) => {
    const first = new FirstPayments({ ...ports, owner });
    return {
      take: (stream: string, more: Partial<FirstPaymentRequest> = {}, patienceMs = 0) =>
        first.take({ wallet, stream, client: null, failures: 0, ...more }, lines, {
          until: performance.now() + patienceMs,
          signal: new AbortController().signal,
        }),
      leave: (stream: string) => first.leave({ wallet, stream }),
      decided: (stream: string, outcome: 'settled' | 'failed' | 'expired') =>
        first.decided({ wallet, stream }, outcome),
    };
  };
  return {
    node,
    pass: (seconds: number) => {
      now += seconds * MICROS_PER_SECOND;
    },
    pay: () => {
      settled++;
    },
    fail: () => countSettlementFailure(ports, wallet),
  };
}

const refused = { problem: 'rate_limit_exceeded', details: { window: 'payments_under_way', limit: 1 } };

describe('payments of a wallet that has never paid', () => {
  it.each(['settled', 'failed', 'expired'] as const)(
    'are submitted one at a time: the next once one has %s',
    async (outcome) => {
      const { node, pay } = newcomer();
      const [one, other] = [node(), node()];
      expect(await one.take('a')).toBeNull();
      expect(await other.take('b')).toMatchObject(refused);
      const waiting = other.take('b', {}, 5_000);
      if (outcome === 'settled') pay();
      await one.decided('a', outcome);
      expect(await waiting).toBeNull();
    },
  );

  it('wait for none that was not submitted after all', async () => {
    const { node } = newcomer();
    const [one, other] = [node(), node()];
    expect(await one.take('a')).toBeNull();
    await one.leave('a');
    expect(await other.take('b')).toBeNull();
  });

  it('wait for no process that was killed on this machine, and two minutes for one elsewhere', async () => {
    const { node, pass } = newcomer();
    const killed = `${hostname()}/${2 ** 22 + 1}/1/killed`;
    expect(await node(killed).take('a')).toBeNull();
    expect(await node('elsewhere').take('b')).toBeNull();
    expect(await node().take('c')).toMatchObject(refused);
    pass(121);
    expect(await node().take('c')).toBeNull();
  });

  it('are not submitted once another has failed since they were admitted, whether they had to wait or not', async () => {
    const { node, fail } = newcomer();
    const one = node();
    expect(await one.take('a')).toBeNull();
    const waiting = one.take('b', {}, 5_000);
    await fail();
    await one.decided('a', 'failed');
    expect(await waiting).toMatchObject(refused);
    expect(await one.take('c')).toMatchObject(refused);
    expect(await one.take('d', { failures: 1 })).toBeNull();
  });

  it('wait for nobody once the wallet has paid', async () => {
    const { node, pay } = newcomer();
    expect(await node().take('a')).toBeNull();
    pay();
    expect([await node().take('b'), await node().take('c')]).toEqual([null, null]);
  });
});

describe('a client with many new wallets', () => {
  const sent = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

  it('has ten undecided or failed at most; those that settle or expire do not count', async () => {
    const client = '203.0.113.7';
    // One node counts all of them, so each payment is of a wallet of its own there.
    const settledPayments = async () => 0;
    const first = new FirstPayments({ readStore: storage.readStore, clock: { now: () => 1 }, settledPayments });
    const lines = new WaitingLines();
    const take = (stream: string, address: string | null = client) =>
      first.take({ wallet: `of-many-${stream}`, stream, client: address, failures: 0 }, lines, {
        until: 0,
        signal: new AbortController().signal,
      });
    const decided = (stream: string, outcome: 'settled' | 'failed' | 'expired') =>
      first.decided({ wallet: `of-many-${stream}`, stream }, outcome);
    for (const stream of sent(UNPROVEN_OF_A_CLIENT)) expect(await take(stream)).toBeNull();
    const tooMany = { problem: 'rate_limit_exceeded', details: { window: 'first_payments' } };
    expect(await take('more')).toMatchObject(tooMany);
    expect([await take('else', '203.0.113.8'), await take('unknown', null)]).toEqual([null, null]);

    await decided('p0', 'failed');
    expect(await take('more')).toMatchObject(tooMany);
    await decided('p1', 'settled');
    await decided('p2', 'expired');
    expect([await take('q1'), await take('q2')]).toEqual([null, null]);
    expect(await take('q3')).toMatchObject(tooMany);
  });
});
