/**
 * Given a service that took real payments on a local chain, `docket audit reconcile` agrees with the chain; and given one
 * planted difference, it names exactly that one.
 */

import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { buy, dataOf, openShop, reconciled, type Shop, untilFinal } from './shop.ts';

let shop: Shop;
let wallet: Keypair;
let streams: string[];
beforeAll(async () => {
  shop = await openShop();
  wallet = await shop.wallet();
  streams = [];
  for (let count = 0; count < 3; count++) streams.push(await buy(shop, wallet));
  await untilFinal(shop);
});
afterAll(() => shop.close());

describe('a log and a chain that agree', () => {
  it('have no difference, and the balance and the fees are proven', async () => {
    const run = await reconciled(shop);
    expect([run.code, run.findings, run.err]).toEqual([EXIT.ok, [], '']);
    expect(run.summary).toMatchObject({
      complete: true,
      left: 0,
      differences: 0,
      payments: { settled: 3, matches: 3, notKept: 0, pending: 0 },
      charged: { amount: '2970000', usdc: '2.97' },
      incoming: { transfers: 3, amount: '2970000', usdc: '2.97' },
      outgoing: { transfers: 0, amount: '0' },
      balances: [{ account: String(shop.ports.payee.destination), balance: { amount: '2970000' }, verdict: 'matches' }],
      fees: [{ feePayer: shop.receiver.feePayer, transactions: 3, lamports: expect.stringMatching(/^[1-9]\d+$/) }],
    });
  });

  it('are summed up for people', async () => {
    const { code, out } = await docketInProcess(['audit', 'reconcile', '--rpc-url', shop.rpcUrl], dataOf(shop));
    expect(code).toBe(EXIT.ok);
    expect(out).toMatch(/^settled {5}3 payments, 2.97 USDC: 3 on the chain as logged$/m);
    expect(out).toMatch(/^balance {5}2.97 USDC in \S+, the sum of its transfers$/m);
    expect(out).toMatch(/^fees {8}0.0000\d+ SOL for 3 sponsored transactions, paid by \S+$/m);
  });
});
