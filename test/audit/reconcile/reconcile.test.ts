/**
 * Given a service that took real payments on a local chain, `docket audit reconcile` agrees with the chain; and given one
 * planted difference, it names exactly that one.
 */

import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { ReceiverChanged } from '../../../src/events/log-identity.ts';
import { PaymentFailed, PaymentFinalized, PaymentRolledBack, PaymentSettledLate } from '../../../src/events/payment.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { tokenAccountOf } from '../../solana/payment-transactions.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import {
  append,
  buy,
  type Claim,
  claim,
  dataOf,
  eventsOf,
  land,
  openShop,
  payment,
  type Run,
  reconciled,
  type Shop,
  settled,
  signatureOf,
  transferDirectly,
  untilFinal,
} from './shop.ts';

const OTHER = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';

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
afterAll(() => shop.close({ planted: true }));

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

describe('a planted difference is found, and no other', () => {
  /** What a run finds beyond the one before it. */
  let before: Run;
  beforeAll(async () => {
    before = await reconciled(shop);
  });
  async function newFindings() {
    const now = await reconciled(shop);
    const known = new Set(before.findings.map((finding) => JSON.stringify(finding)));
    before = now;
    return { ...now, findings: now.findings.filter((finding) => !known.has(JSON.stringify(finding))) };
  }
  const address = () => wallet.publicKey.toBase58();

  it('a transfer that never passed through the service', async () => {
    const transaction = await transferDirectly(shop, wallet, 123_456n);
    const run = await newFindings();
    expect(run.findings).toEqual([
      {
        type: 'difference',
        code: 'transfer_without_payment',
        stream: null,
        requestId: null,
        transaction,
        expected: 'a payment in the log',
        found: `123456 base units from ${address()}`,
      },
    ]);
    expect([run.code, run.err]).toEqual([EXIT.found, expect.stringMatching(/^1 difference between log and chain\.\n/)]);
    expect(run.summary.balances[0].verdict).toBe('matches');
  });

  it('a payment that the log calls settled, whose transaction failed', async () => {
    // More than the wallet has.
    const wire = await payment(shop, wallet, 1_000_000_000n);
    const slot = await land(shop, wire);
    const stream = await claim(shop, wire, { wallet });
    await append(shop, stream, [settled(wire, address(), slot)]);
    const { findings } = await newFindings();
    expect(findings).toEqual([
      expect.objectContaining({ code: 'failed_on_chain', stream, found: expect.stringContaining('InstructionError') }),
    ]);
  });

  it('a payment that the log calls settled, and that was never sent', async () => {
    const wire = await payment(shop, wallet, 990_000n);
    const stream = await claim(shop, wire, { wallet });
    await append(shop, stream, [settled(wire, address(), 5)]);
    const { findings } = await newFindings();
    expect(findings).toEqual([
      expect.objectContaining({ code: 'not_on_chain', stream, expected: 'settled in slot 5' }),
    ]);
  });

  it.each<[what: string, code: string, over: Partial<Claim>, charged: string, expected: unknown]>([
    ['another amount, authorized and settled', 'amount_differs', { amount: '1' }, '1', '1'],
    ['another amount, settled only', 'amount_differs', {}, '1', '990000 authorized, 1 settled'],
    ['another wallet', 'payer_differs', { says: OTHER }, '990000', OTHER],
    [
      'another memo',
      'memo_differs',
      { wire: Buffer.from('memo') },
      '990000',
      expect.stringMatching(/^\["[0-9a-f]{32}"\]$/),
    ],
  ])('a settled payment whose events say %s', async (_, code, over, charged, expected) => {
    const wire = await payment(shop, wallet, 990_000n);
    const slot = await land(shop, wire);
    const held = over.wire ? await payment(shop, wallet, 990_000n) : wire;
    const stream = await claim(shop, wire, { wallet, ...over, wire: held });
    await append(shop, stream, [settled(wire, over.says ?? address(), slot, charged)]);
    const { findings } = await newFindings();
    expect(findings).toEqual([expect.objectContaining({ code, stream, expected })]);
  });

  it('a payment that the log calls failed, or rolled back, and that landed', async () => {
    const expected: string[] = [];
    for (const status of ['failed', 'rolled_back'] as const) {
      const wire = await payment(shop, wallet, 990_000n);
      const slot = await land(shop, wire);
      const stream = await claim(shop, wire, { wallet });
      const transaction = signatureOf(wire);
      const charge = { transaction, requestId: randomUUID(), wallet: address() };
      if (status === 'failed')
        await append(shop, stream, [PaymentFailed.of({ ...charge, reason: 'expired', detail: null })]);
      else
        await append(shop, stream, [
          settled(wire, address(), slot),
          PaymentRolledBack.of({
            ...charge,
            slot,
            amount: '990000',
            answeredCases: 1,
            reason: 'not_on_the_finalized_chain',
          }),
        ]);
      expected.push(stream);
    }
    const { findings } = await newFindings();
    expect(findings.map(({ code, stream }) => [code, stream]).sort()).toEqual(
      expected.map((stream) => ['landed_but_not_settled', stream]).sort(),
    );
  });

  it('a late settlement, and a rolled-back payment that is not on the chain, are none', async () => {
    const late = await payment(shop, wallet, 990_000n);
    const slot = await land(shop, late);
    const never = await payment(shop, wallet, 990_000n);
    const charge = { requestId: randomUUID(), wallet: address(), amount: '990000', answeredCases: 1 };
    const failure = { requestId: charge.requestId, wallet: address(), reason: 'expired', detail: null } as const;
    await append(shop, await claim(shop, late, { wallet }), [
      PaymentFailed.of({ ...failure, transaction: signatureOf(late) }),
      PaymentSettledLate.of({ ...charge, transaction: signatureOf(late), slot, owes: null }),
    ]);
    await append(shop, await claim(shop, never, { wallet }), [
      settled(never, address(), slot),
      PaymentRolledBack.of({ ...charge, transaction: signatureOf(never), slot, reason: 'not_on_the_finalized_chain' }),
    ]);
    const { findings, summary } = await newFindings();
    expect(findings).toEqual([]);
    expect(summary.payments.late).toBe(1);
  });

  it('a final slot that is another one', async () => {
    const wire = await payment(shop, wallet, 990_000n);
    const slot = await land(shop, wire);
    const stream = await claim(shop, wire, { wallet });
    const transaction = signatureOf(wire);
    await append(shop, stream, [
      settled(wire, address(), slot + 1),
      PaymentFinalized.of({ transaction, slot: slot + 1 }),
    ]);
    const { findings } = await newFindings();
    expect(findings).toEqual([
      expect.objectContaining({ code: 'slot_differs', stream, expected: `slot ${slot + 1}`, found: `slot ${slot}` }),
    ]);
  });

  it('a payment to somebody else, in a log that names no such receiver', async () => {
    const wire = await payment(shop, wallet, 990_000n);
    const slot = await land(shop, wire);
    const stream = await claim(shop, wire, { wallet, payTo: OTHER });
    await append(shop, stream, [settled(wire, address(), slot)]);
    const { findings } = await newFindings();
    expect(findings.map(({ code, stream: at }) => [code, at])).toEqual([
      ['other_receiver', stream],
      ['recipient_differs', stream],
    ]);
  });

  it('a transaction that two payments name', async () => {
    const [one = ''] = streams;
    const [first] = (await shop.events()).filter(({ stream, type }) => stream === one && type === 'PaymentSubmitted');
    const wire = Buffer.from(String(first?.data.wire), 'base64');
    const stream = `payment-${'0'.repeat(64)}`;
    await append(shop, stream, await eventsOf(shop, one));
    const { findings } = await newFindings();
    expect(findings.map(({ code }) => code)).toEqual(['message_differs', 'transaction_of_two_payments']);
    expect(findings[1].transaction).toBe(signatureOf(wire));
  });

  it('a payment without an outcome is listed apart, and says whether it is on the chain', async () => {
    const landed = await payment(shop, wallet, 990_000n);
    await land(shop, landed);
    const never = await payment(shop, wallet, 990_000n);
    const places = [await claim(shop, landed, { wallet }), await claim(shop, never, { wallet })];
    const { findings, summary } = await newFindings();
    const pending = findings.map(({ type, stream, onChain }) => [type, stream, onChain]);
    expect(pending.sort()).toEqual(
      [
        ['pending', places[0], 'final'],
        ['pending', places[1], 'absent'],
      ].sort(),
    );
    expect(summary.payments.pending).toBe(2);
  });
});

describe('a log with more than one receiver, and a broken event', () => {
  it('compares every account that the log ever named, and lists what its owner took', async () => {
    const next = await shop.wallet();
    const receiver = next.publicKey.toBase58();
    const { payTo } = shop.receiver;
    await append(shop, 'log-identity', [ReceiverChanged.of({ receiver, previous: payTo, reason: 'test', by: 'us' })]);
    const parties = { ...shop.parties, payTo: wallet.publicKey };
    await land(shop, await payment(shop, next, 2_000_000n, parties));
    // From one of our accounts to the other: no wallet paid.
    await land(shop, await payment(shop, next, 500_000n));
    const { findings, summary } = await reconciled(shop);
    const account = tokenAccountOf(next.publicKey).toBase58();
    expect(findings.filter(({ type }) => type === 'outgoing')).toEqual([
      expect.objectContaining({ account, amount: '2000000', usdc: '2.00', to: [wallet.publicKey.toBase58()] }),
      expect.objectContaining({ account, amount: '500000', usdc: '0.50', to: [payTo] }),
    ]);
    // Only what the faucet gave it at first came from nowhere.
    const toIt = findings.filter(
      ({ code, found }) => code === 'transfer_without_payment' && found.startsWith('20000000 '),
    );
    expect(toIt).toHaveLength(1);
    expect(findings.filter(({ found }) => String(found).startsWith('500000 '))).toEqual([]);
    expect(summary.balances.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['matches', 'matches']);
  });

  it('reports an event that cannot be read, and compares the rest', async () => {
    const copy = join(shop.directory, 'copy');
    mkdirSync(copy);
    const original = new Database(join(shop.directory, 'data', 'log.sqlite'));
    original.prepare('VACUUM INTO ?').run(join(copy, 'log.sqlite'));
    original.close();
    const [broken = '', ...whole] = streams;
    const file = new Database(join(copy, 'log.sqlite'));
    file.prepare("UPDATE events SET data = '{' WHERE stream = ? AND type = 'PaymentAuthorized'").run(broken);
    file.close();
    const { findings } = await reconciled({ ...shop, data: copy });
    expect(findings.filter(({ code }) => code === 'unreadable_event')).toEqual([
      expect.objectContaining({ stream: broken, found: expect.stringContaining('its data is not JSON') }),
    ]);
    const mentioned = findings.filter(({ stream }) => whole.includes(stream));
    expect(mentioned.map(({ code }) => code)).toEqual([]);
  });
});
