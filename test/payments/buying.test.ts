import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, read, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const typesOf = async (stream: string) => (await world.storage.log.read(stream)).map(({ type }) => type);

describe('a 402', () => {
  it('asks in each dialect at once, is small, and differs each time', async () => {
    const first = await world.get('/v2/case?q=a');
    expect(first.status).toBe(402);
    expect(first.headers.get('cache-control')).toBe('no-store');
    const header = first.headers.get('payment-required')!;
    expect(header.length).toBeLessThan(4_096);
    const required = decodePaymentRequiredHeader(header);
    expect(required.resource!.url).not.toContain('?');
    expect(first.json).toMatchObject({
      x402Version: 1,
      accepts: [{ scheme: 'exact', network: 'solana-devnet', maxAmountRequired: '990000' }],
      error: {
        code: 'payment_required',
        details: { charged: false, amount_usdc: '0.99', accepts: required.accepts },
      },
      meta: { request_id: expect.any(String), queried_at: expect.any(String) },
    });
    expect(JSON.parse(first.headers.get('x-payment-requirements')!)).toMatchObject({ network: 'solana-devnet' });
    const second = decodePaymentRequiredHeader((await world.get('/v2/case?q=a')).headers.get('payment-required')!);
    expect(second.accepts[0]!.extra.memo).not.toBe(required.accepts[0]!.extra.memo);
  });

  it('answers a bare request, but invalid parameters are reported before it', async () => {
    expect((await world.get('/v2/case')).status).toBe(402);
    expect(await world.get('/v2/case?x=1')).toMatchObject({
      status: 400,
      json: { error: { code: 'missing_required_parameter', details: { charged: false } } },
    });
  });

  it('asks for the price of this request', async () => {
    const { json } = await world.get('/v2/case?q=batch');
    expect(json.error.details).toMatchObject({ amount_usdc: '1.98', accepts: [{ amount: '1980000' }] });
  });
});

describe('@x402/fetch with @x402/svm, unmodified', () => {
  it('buys for exactly 0.99, gets a receipt of a transaction on the chain, and the answer again for free', async () => {
    const wallet = await world.wallet();
    const paying = await world.agent(wallet, '$1');
    const { result, spent, received } = await world.moved(wallet, async () =>
      read(await paying(`${world.url}/v2/case?q=hello`, { headers: { 'x-service-tag': 'mine' } })),
    );
    expect(result.status).toBe(200);
    expect([spent, received]).toEqual([990_000n, 990_000n]);
    expect(result.json).toMatchObject({
      answer: `for ${wallet.publicKey}`,
      meta: { query_cost_usd: 0.99, tag: 'mine' },
    });

    const receipt = decodePaymentResponseHeader(result.headers.get('payment-response')!);
    expect(receipt).toMatchObject({ success: true, payer: wallet.publicKey.toBase58(), amount: '990000' });
    expect(await world.chain.signatureStatus(receipt.transaction)).toMatchObject({ error: null });

    const location = result.headers.get('content-location')!;
    expect(location).toMatch(/^\/v2\/results\/r1-[\w-]{43}$/);
    const again = await world.get(location);
    expect([again.status, again.text]).toEqual([200, result.text]);
    expect(result.headers.get('ratelimit-limit')).toBe('60');
    expect(result.headers.get('ratelimit-remaining')).toBe('59');
    expect(Number(result.headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    expect(result.headers.get('server-timing')).toMatch(/^verify;dur=[\d.]+, query;dur=[\d.]+, settle;dur=[\d.]+$/);
  });

  it('leaves the whole history in one stream', async () => {
    const wallet = await world.wallet();
    await (await world.agent(wallet))(`${world.url}/v2/case?q=story`);
    const events = (await world.events()).filter(({ data }) => data.wallet === wallet.publicKey.toBase58());
    expect(await typesOf(events[0]!.stream)).toEqual([
      'PaymentAuthorized',
      'QueryAnswered',
      'PaymentSubmitted',
      'PaymentSettled',
    ]);
    const text = JSON.stringify(await world.storage.log.read(events[0]!.stream));
    expect(text).not.toContain('story');
  });

  it('pays for a more expensive call within its cap, and refuses above it', async () => {
    const wallet = await world.wallet();
    const batch = `${world.url}/v2/cases/batch?q=batch`;
    const post = { method: 'POST' };
    const dearer = await world.moved(wallet, async () => (await world.agent(wallet))(batch, post));
    expect([dearer.result.status, dearer.spent]).toEqual([200, 1_980_000n]);
    const mine = (await world.events()).find(({ data }) => data.wallet === wallet.publicKey.toBase58());
    expect(mine?.data, 'the amount is proven by the number of queries').toMatchObject({
      amount: '1980000',
      queries: 2,
    });
    const cheap = await world.agent(wallet, '$1');
    await expect(cheap(batch, post)).rejects.toThrow(/payment payload/);
  });

  it('is visible in the read models', async () => {
    const wallet = await world.wallet();
    const address = wallet.publicKey.toBase58();
    await (await world.agent(wallet))(`${world.url}/v2/case?q=model`);
    await world.runner.waitFor('wallets', (await world.storage.log.head())!, 30_000);
    const stored = await world.storage.readStore.load('wallets', [address]);
    expect(stored.get(address)?.document).toMatchObject({ answeredCalls: 1, settled: '990000' });
  });
});

describe('other dialects at the same address', () => {
  it('a transfer that the caller signs and pays for alone', async () => {
    const wallet = await world.wallet();
    const { header } = { header: world.pay(wallet, { payer: wallet.publicKey })['payment-signature']! };
    const wire = JSON.parse(Buffer.from(header, 'base64').toString()).payload.transaction;
    const { result, spent } = await world.moved(wallet, () => world.get('/v2/case?q=self', { 'x402-payment': wire }));
    expect([result.status, spent]).toEqual([200, 990_000n]);
    expect(decodePaymentResponseHeader(result.headers.get('payment-response')!)).toMatchObject({ success: true });
    expect(decodePaymentResponseHeader(result.headers.get('x-payment-response')!)).toMatchObject({
      network: 'solana-devnet',
    });
    const [event] = (await world.events()).filter(({ data }) => data.wallet === wallet.publicKey.toBase58());
    expect(event!.data.dialect).toBe('self-paid');
  });

  it('x402 v1', async () => {
    const wallet = await world.wallet();
    const second = JSON.parse(Buffer.from(world.pay(wallet)['payment-signature']!, 'base64').toString());
    const first = { x402Version: 1, scheme: 'exact', network: 'solana-devnet', payload: second.payload };
    const header = Buffer.from(JSON.stringify(first)).toString('base64');
    const { result, spent } = await world.moved(wallet, () => world.get('/v2/case?q=one', { 'x-payment': header }));
    expect([result.status, spent]).toEqual([200, 990_000n]);
    expect(result.headers.get('payment-response')).toBeNull();
    expect(decodePaymentResponseHeader(result.headers.get('x-payment-response')!)).toMatchObject({
      success: true,
      network: 'solana-devnet',
    });
  });
});
