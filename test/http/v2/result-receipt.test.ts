/** The receipt of a paid answer. Given a payment's outcome, when its receipt is read, then it says what was charged. */
import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../payments/steering.ts';
import { type Answer, openWorld, type World } from '../../payments/world.ts';

let world: World;
let wallet: Keypair;
beforeAll(async () => {
  world = await openWorld({ paidBefore: true, slotMs: 40, patience: { settlementMs: 3_000, rebroadcastMs: 100 } });
});
beforeEach(async () => {
  wallet = await world.wallet();
});
afterEach(() => world.disturb());
afterAll(() => world.close());

const buy = (question: string) => world.get(`/v2/case?q=${question}`, world.pay(wallet));
const receiptOf = (requestId: string) => world.get(`${world.resultPath(requestId)}/receipt`);
const requestOf = (answer: Answer): string => answer.json.meta.request_id;

describe('the receipt of a settled payment', () => {
  it('says what was paid, to whom and how, and names the events that prove it', async () => {
    const requestId = requestOf(await buy('secret question'));
    const { status, json, headers, text } = await receiptOf(requestId);
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    const events = (await world.events()).filter(({ stream }) => stream === json.receipt.events[0].stream);
    const settled = events.find(({ type }) => type === 'PaymentSettled');
    expect(json.receipt).toEqual({
      request_id: requestId,
      status: 'settled',
      paid_at: settled?.metadata.recordedAt,
      final_at: events.find(({ type }) => type === 'PaymentFinalized')?.metadata.recordedAt ?? null,
      endpoint: 'GET /v2/case',
      queries: 1,
      amount: '990000',
      amount_usdc: '0.99',
      asset: world.merchant.network.usdcMint,
      network: world.merchant.network.caip2,
      pay_to: world.merchant.payTo,
      payer: wallet.publicKey.toBase58(),
      transaction: settled?.data.transaction,
      slot: settled?.data.slot,
      events: events.map(({ type, stream, revision, metadata: { hash } }) => ({ type, stream, revision, hash })),
    });
    expect(json.meta).toMatchObject({ request_id: headers.get('x-request-id'), query_cost_usd: 0 });
    expect(text).not.toContain('secret question');
  });

  it('remains after the answer is gone', async () => {
    const requestId = requestOf(await buy('gone'));
    const answered = (await world.events()).findLast(({ type }) => type === 'QueryAnswered');
    await world.storage.payloads.remove(answered?.data.answer as string);
    expect((await world.get(world.resultPath(requestId))).status).toBe(410);
    expect((await receiptOf(requestId)).status).toBe(200);
  });

  it('of a payment that was presented twice covers only the request that was charged', async () => {
    const payment = world.pay(wallet);
    const failed = await world.get('/v2/case?q=unknown', payment);
    expect(failed.status).toBe(404);
    const requestId = requestOf(await world.get('/v2/case?q=known', payment));
    const { json } = await receiptOf(requestId);
    expect(json.receipt.events.slice(0, 2)).toEqual([
      expect.objectContaining({ type: 'PaymentAuthorized', revision: 3 }),
      expect.objectContaining({ type: 'QueryAnswered', revision: 4 }),
    ]);
    const charged = await world.get(`${world.resultPath(requestOf(failed))}/receipt`);
    expect([charged.status, charged.json.error.code]).toEqual([404, 'result_not_found']);
  });
});

describe('the receipt of a payment that is not settled', () => {
  it('is the 202 of its result while it is pending, and a receipt afterwards', async () => {
    world.disturb({ signatureStatus: async () => null });
    const answer = await buy('pending');
    expect(answer.status).toBe(202);
    const pending = await receiptOf(requestOf(answer));
    expect([pending.status, pending.json.payment]).toEqual([202, answer.json.payment]);
    world.disturb();
    await until(
      () => world.recoverLater().round(),
      (round) => round.pending === 0,
    );
    expect((await receiptOf(requestOf(answer))).json.receipt).toMatchObject({ amount: '990000' });
  });

  it('is a 402 without terms if nothing was charged', async () => {
    world.disturb({ send: async () => ({ sent: true }), blockHeight: async () => Number.MAX_SAFE_INTEGER });
    const answer = await buy('expired');
    expect(answer.status).toBe(402);
    const requestId = String(
      (await world.events()).findLast(({ type }) => type === 'PaymentAuthorized')?.data.requestId,
    );
    const { status, json, headers } = await receiptOf(requestId);
    expect([status, json.error.code, json.error.details.charged]).toEqual([402, 'settlement_failed', false]);
    expect(headers.has('payment-required')).toBe(false);
  });
});

describe('a receipt', () => {
  it.each([
    ['another id', () => randomUUID()],
    ['the request id of a sold answer', async () => requestOf(await buy('mine'))],
    ['nonsense', () => 'r1-%00'],
  ])('is not found by %s', async (_what, id) => {
    const { status, json } = await world.get(`/v2/results/${await id()}/receipt`);
    expect([status, json.error.code]).toEqual([404, 'result_not_found']);
  });

  it('may be read 60 times a minute, without using up the reads of the answer', async () => {
    const requestId = requestOf(await buy('popular'));
    for (let count = 0; count < 60; count++) expect((await receiptOf(requestId)).status).toBe(200);
    const { status, json } = await receiptOf(requestId);
    expect([status, json.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect((await world.get(world.resultPath(requestId))).status).toBe(200);
  });
});
