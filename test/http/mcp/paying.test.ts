import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { PaymentRequiredV2Schema } from '@x402/core/schemas';
import type { PaymentRequired } from '@x402/core/types';
import { x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paidAnswers } from '../../../src/http/mcp/paid-answer.ts';
import { paymentTerms } from '../../../src/http/mcp/payment-terms.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { ChainRpc } from '../../support/rpc.ts';
import { callTool, type Instructions, paymentFor, post, postModern, unpacked } from './client.ts';
import { CASE, openWorld, PRICE, SINCE, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const call = (name: string, args: object, more = {}) => callTool(world.mcp, name, args, more);
const query = (more: object = {}, options = {}) =>
  call('service_case_query', { ...CASE, last_checked: SINCE, ...more }, options);
const UNKNOWN = { court_code: 'cand', case_id: '4:25-cv-00999' };

/** The amounts that something moved out of a wallet and into ours. */
async function moved<T>(wallet: Keypair, work: () => Promise<T>) {
  const [before, ours] = [await world.balance(wallet), await world.received()];
  const result = await work();
  const [spent, received] = [before - (await world.balance(wallet)), (await world.received()) - ours];
  expect(received).toBe(spent);
  return { result, spent };
}

/** The payload that the reference client makes from x402's own form of the terms. */
async function x402Payment(required: PaymentRequired, wallet: Keypair, identifier?: string) {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: world.rpcUrl }));
  const payload = await client.createPaymentPayload(required);
  if (identifier === undefined) return payload;
  return { ...payload, extensions: { 'payment-identifier': { info: { required: false, id: identifier } } } };
}

describe('payment_tx', () => {
  it('is requested by an ordinary result with everything needed to make it', async () => {
    const { data, isError } = await query();
    expect(isError).toBe(false);
    const { usdcMint, selfPaid } = NETWORKS.local;
    expect(data).toMatchObject({
      payment_required: true,
      amount_usdc: '0.99',
      amount_base_units: '990000',
      network: selfPaid,
      asset: usdcMint,
      recipient: world.parties.payTo.toBase58(),
      meta: { query_cost_usd: 0 },
    });
    const { next_step: step, recipient_token_account: account, recent_blockhash: blockhash, memo } = data;
    for (const part of [
      'service_case_query',
      'payment_tx',
      '990000',
      '0.99 USDC',
      usdcMint,
      account,
      blockhash,
      memo,
    ]) {
      expect(step).toContain(part);
    }
    expect(step).toMatch(/^Nothing was charged yet\./);
    expect((await query()).data.memo).not.toBe(memo);
  });

  it('buys what GET /v2/case answers, once, and names where it is kept', async () => {
    const wallet = await world.wallet();
    const instructions = (await query()).data;
    const payment_tx = paymentFor(instructions, wallet);
    const { result: bought, spent } = await moved(wallet, () =>
      query({ payment_tx }, { headers: { 'x-service-tag': 'mcp' } }),
    );
    expect([bought.isError, spent]).toEqual([false, PRICE]);
    expect(bought.data).toMatchObject({
      case_id: CASE.case_id,
      meta: { query_cost_usd: 0.99, sandbox: false, tag: 'mcp' },
      delta: { changed: true, change_count: 2 },
    });
    expect(JSON.parse(bought.text)).toEqual(bought.data);
    expect(bought.meta['x402/payment-response']).toMatchObject({
      success: true,
      payer: wallet.publicKey.toBase58(),
      amount: '990000',
    });
    const address = String(bought.meta['service/result_url']);
    expect(bought.notes[0]).toContain(address);
    expect(bought.notes[0]).toContain('Paid 0.99 USDC');
    const again = await fetch(address.replace('https://dockets.example', world.url));
    expect(await again.text()).toBe(bought.text);

    const { result: repeated, spent: more } = await moved(wallet, () => query({ payment_tx }));
    expect([repeated.isError, repeated.data.error.code, more]).toEqual([true, 'payment_already_used', 0n]);
    expect(repeated.data.case).toBeUndefined();
    expect(repeated.data.next_step).toMatch(/^Nothing was charged\./);
  });

  it('names where the answer is kept before its first byte, alone and as the one paid message of a batch', async () => {
    const wallet = await world.wallet();
    const message = (payment_tx: string | undefined, last_checked: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'service_case_query', arguments: { ...CASE, last_checked, payment_tx } },
    });
    const paid = async (since: string) =>
      message(paymentFor((await query({ last_checked: since })).data, wallet), since);
    const alone = await post(world.mcp, await paid(SINCE));
    const inBatch = await post(world.mcp, [
      message(undefined, SINCE),
      await paid('2025-03-02T00:00:00Z'),
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    ]);
    for (const { headers, json } of [alone, { ...inBatch, json: inBatch.json[1] }]) {
      const { text, meta } = unpacked(json.result);
      const location = String(headers.get('content-location'));
      expect(meta['service/result_url']).toBe(`https://dockets.example${location}`);
      expect(await (await fetch(world.url + location)).text()).toBe(text);
    }

    const several = await post(world.mcp, [await paid('2025-03-03T00:00:00Z'), await paid('2025-03-04T00:00:00Z')]);
    expect(several.json.map((each: { result: object }) => unpacked(each.result).isError)).toEqual([false, false]);
    expect(several.headers.get('content-location')).toBeNull();
    expect((await post(world.mcp, message(undefined, SINCE))).headers.get('content-location')).toBeNull();
  });

  it('buys a monitor, in the newer revision too', async () => {
    const wallet = await world.wallet();
    const args = { ...CASE, last_checked: SINCE };
    const ask = await postModern(world.mcp, 'tools/call', { name: 'service_case_monitor', arguments: args });
    const payment_tx = paymentFor(ask.json.result.structuredContent, wallet);
    const { result, spent } = await moved(wallet, () =>
      postModern(world.mcp, 'tools/call', { name: 'service_case_monitor', arguments: { ...args, payment_tx } }),
    );
    expect(spent).toBe(PRICE);
    const bought = unpacked(result.json.result);
    expect(bought.data).toMatchObject({ changed: true, change_count: 2 });
    expect(result.json.result.resultType).toBe('complete');
    expect(Object.keys(bought.meta)).toEqual(
      expect.arrayContaining(['io.modelcontextprotocol/serverInfo', 'x402/payment-response']),
    );
  });

  it('that is rejected is answered with instructions for another, which is accepted', async () => {
    const wallet = await world.wallet();
    const instructions: Instructions = (await query()).data;
    const short = paymentFor({ ...instructions, amount_base_units: '989999' }, wallet);
    const { result: refused, spent } = await moved(wallet, () => query({ payment_tx: short }));
    expect([refused.isError, refused.data.error.code, spent]).toEqual([true, 'payment_rejected', 0n]);
    expect(refused.data.error.details).toMatchObject({ charged: false, reason: expect.stringContaining('amount') });
    const another = refused.data.payment_instructions;
    expect(another.payment_required).toBe(true);
    expect((await query({ payment_tx: paymentFor(another, wallet) })).data.delta.change_count).toBe(2);
  });

  it('names what the wallet is missing', async () => {
    const wallet = await world.wallet(500_000n);
    const { data } = await query({ payment_tx: paymentFor((await query()).data, wallet) });
    expect(data.error).toMatchObject({ code: 'payment_rejected', details: { shortfall: '490000' } });
    expect(data.next_step).toContain('short of 0.49 USDC');
  });

  it('that its owner has already sent to the chain buys nothing, and is distinguished from a charge', async () => {
    const wallet = await world.wallet();
    const payment_tx = paymentFor((await query()).data, wallet);
    await new ChainRpc(world.rpcUrl).call('sendTransaction', payment_tx, { encoding: 'base64' });
    const { data } = await query({ payment_tx });
    expect(data.error).toMatchObject({ code: 'payment_rejected', details: { reason: 'already_on_chain' } });
    expect(data.next_step).toMatch(
      /^This call charged nothing, but .* its money has moved.*Never send a transfer yourself/,
    );
  });

  it.each(['AAAA', 'not base64!', 'e30=', 'bnVsbA==', 'x'.repeat(17_000)])(
    'that cannot be read is explained: %.12s',
    async (payment_tx) => {
      const { data, isError } = await query({ payment_tx });
      expect([isError, data.error.code]).toEqual([true, 'invalid_payment']);
      expect(data.next_step).toMatch(/^Nothing was charged\..*payment_tx/);
    },
  );

  it('costs nothing if the case does not exist, and can be used for another', async () => {
    const wallet = await world.wallet();
    const payment_tx = paymentFor({ ...(await query()).data, memo: 'unbound' }, wallet);
    const { result, spent } = await moved(wallet, () => call('service_case_query', { ...UNKNOWN, payment_tx }));
    expect([result.isError, result.data.error.code, spent]).toEqual([true, 'case_not_found', 0n]);
    expect(result.data.next_step).toContain('can be presented again');
    expect((await query({ payment_tx })).isError).toBe(false);
  });

  it('counts against the limits of its wallet, over both transports; exceeding a limit is a result', async () => {
    const wallet = await world.wallet();
    const rest = `${world.url}/v2/case?court_code=${UNKNOWN.court_code}&case_id=${UNKNOWN.case_id}`;
    const overRest = async (payment: string) => {
      const answer = await fetch(rest, { headers: { 'x402-payment': payment } });
      return ((await answer.json()) as { error: { code: string } }).error.code;
    };
    const overMcp = async (payment_tx: string) =>
      (await call('service_case_query', { ...UNKNOWN, payment_tx })).data.error.code;
    for (let round = 0; round < 6; round++) {
      const instructions: Instructions = (await query()).data;
      const codes = Array.from({ length: 10 }, (_, index) => {
        const payment = paymentFor({ ...instructions, memo: `${round} ${index}` }, wallet);
        return index % 2 ? overRest(payment) : overMcp(payment);
      });
      expect(new Set(await Promise.all(codes))).toEqual(new Set(['case_not_found']));
    }
    const payment_tx = paymentFor((await call('service_case_query', UNKNOWN)).data, wallet);
    const { data, isError } = await call('service_case_query', { ...UNKNOWN, payment_tx });
    expect([isError, data.error.code]).toEqual([true, 'rate_limit_exceeded']);
    expect(data.error.details.retry_after).toBeGreaterThan(0);
    expect(data.next_step).toMatch(/^Nothing was charged\. Wait \d+ seconds/);
  });
});

describe('one transaction over REST and MCP at the same moment', () => {
  it('is charged once and answered once', async () => {
    for (let round = 0; round < 5; round++) {
      const wallet = await world.wallet();
      const payment_tx = paymentFor({ ...(await query()).data, memo: `round ${round}` }, wallet);
      const rest = async () => {
        const answer = await fetch(
          `${world.url}/v2/case?court_code=${CASE.court_code}&case_id=${CASE.case_id}&last_checked=${SINCE}`,
          { headers: { 'x402-payment': payment_tx } },
        );
        const body = (await answer.json()) as { case?: object; error?: { code: string } };
        return body.case ? 'answered' : body.error?.code;
      };
      const mcp = async () => {
        const { data } = await query({ payment_tx });
        return data.case ? 'answered' : data.error.code;
      };
      const calls = round % 2 ? [rest, mcp, rest, mcp] : [mcp, rest, mcp, rest];
      const { result, spent } = await moved(wallet, () => Promise.all(calls.map((each) => each())));
      expect(result.sort()).toEqual([
        'answered',
        'payment_already_used',
        'payment_already_used',
        'payment_already_used',
      ]);
      expect(spent).toBe(PRICE);
    }
  });
});

describe('x402 over MCP', () => {
  const asked = async (args: object = {}): Promise<PaymentRequired> => {
    const { data, isError } = await callTool(`${world.mcp}?payment=x402`, 'service_case_query', { ...CASE, ...args });
    expect(isError).toBe(true);
    return data;
  };

  it('asks in its own form if the caller opts in', async () => {
    const required = await asked();
    expect(PaymentRequiredV2Schema.safeParse(required).success).toBe(true);
    expect(required).toMatchObject({ x402Version: 2, resource: { url: 'mcp://tool/service_case_query' } });
    expect(required.accepts[0]).toMatchObject({ amount: '990000', extra: { memo: expect.any(String) } });
  });

  it.each(['', '?payment=x402'])(
    'accepts a payment of the reference client and returns the receipt: /v2/mcp%s',
    async (search) => {
      const wallet = await world.wallet();
      const payment = await x402Payment(await asked(), wallet);
      const { result, spent } = await moved(wallet, () =>
        callTool(`${world.mcp}${search}`, 'service_case_query', CASE, { meta: { 'x402/payment': payment } }),
      );
      expect([result.isError, spent]).toEqual([false, PRICE]);
      expect(result.data.case.case_name).toContain('Heron Marsh');
      expect(result.meta['x402/payment-response']).toMatchObject({
        success: true,
        network: NETWORKS.local.caip2,
        payer: wallet.publicKey.toBase58(),
      });
    },
  );

  it('is rejected in its own form', async () => {
    const wallet = await world.wallet(100_000n);
    const payment = await x402Payment(await asked(), wallet);
    const { data, isError } = await call('service_case_query', CASE, { meta: { 'x402/payment': payment } });
    expect(isError).toBe(true);
    expect(PaymentRequiredV2Schema.safeParse(data).success).toBe(true);
    expect(data).toMatchObject({ x402Version: 2, details: { charged: false, shortfall: '890000' } });
  });

  it.each([{}, [], 'junk', 7, { x402Version: 9 }, { x402Version: 2 }])(
    'explains an invalid payment: %j',
    async (payment) => {
      const { data, isError } = await call('service_case_query', CASE, { meta: { 'x402/payment': payment } });
      expect(isError).toBe(true);
      expect(data.next_step).toMatch(/^Nothing was charged\./);
    },
  );

  it('together with payment_tx is rejected, and neither is charged', async () => {
    const wallet = await world.wallet();
    const payment = await x402Payment(await asked(), wallet);
    const payment_tx = paymentFor((await query()).data, wallet);
    const { result, spent } = await moved(wallet, () => query({ payment_tx }, { meta: { 'x402/payment': payment } }));
    expect(result.data.error).toMatchObject({ code: 'invalid_payment', details: { reason: 'several_payments' } });
    expect([result.isError, spent]).toEqual([true, 0n]);
  });

  it('recognizes a payment identifier of the same request over either transport', async () => {
    const wallet = await world.wallet();
    const identifier = `mcp_${'7'.repeat(20)}`;
    const pay = async () => ({ 'x402/payment': await x402Payment(await asked(), wallet, identifier) });
    const first = await call('service_case_query', CASE, { meta: await pay() });
    const { result: again, spent } = await moved(wallet, async () =>
      call('service_case_query', CASE, { meta: await pay() }),
    );
    expect([again.text, spent]).toEqual([first.text, 0n]);
    expect(again.notes[0]).toContain('not charged again');
    const header = Buffer.from(JSON.stringify((await pay())['x402/payment'])).toString('base64');
    const { result: rest, spent: more } = await moved(wallet, async () => {
      const address = `${world.url}/v2/case?court_code=${CASE.court_code}&case_id=${CASE.case_id}`;
      return (await fetch(address, { headers: { 'payment-signature': header } })).text();
    });
    expect([rest, more]).toEqual([first.text, 0n]);
    const other = await query({}, { meta: await pay() });
    expect(other.data.error.code).toBe('idempotency_conflict');
  });
});

describe('a payment whose outcome is unknown, or that failed', () => {
  const service = { publicUrl: 'https://dockets.example', clock: systemClock };
  const address = '11111111111111111111111111111111';
  const merchant = { network: NETWORKS.local, payTo: address, feePayer: address, publicUrl: service.publicUrl };
  const terms = paymentTerms(service, merchant, () => null);
  const answers = paidAnswers(service, terms);
  const answered = {
    asked: {
      tool: 'service_case_query',
      argument: 'payment_tx',
      amount: PRICE,
      purpose: { word: 'case', call: 'tool service_case_query', publicUrl: service.publicUrl, request: null },
    } as const,
    description: 'A case',
    requestId: '0b1a3e9e-6f0c-4b0f-8a53-8d7a1c9a4f11',
    tag: null,
    inX402Form: false,
    noteBought: () => {},
  };
  it('asks for the wallet proof of a call that reads one in both forms, and says where to put it', () => {
    const signIn = {
      terms: { ...service, path: '/v2/mcp', statement: 'Show it.', chainId: NETWORKS.local.caip2 },
      needsBound: false,
      sent: undefined,
    };
    const asked = { ...answered.asked, signIn };
    const inX402 = terms.required(asked, 'A history', answered.requestId);
    const inWords = terms.instructions(asked, answered.requestId);
    const declared = { info: { uri: 'https://dockets.example/v2/mcp', statement: 'Show it.' } };
    expect(inX402.extensions).toMatchObject({ 'sign-in-with-x': declared });
    expect(inWords).toMatchObject({ 'sign-in-with-x': declared });
    for (const { next_step } of [inX402, inWords]) expect(next_step).toContain('HTTP header sign-in-with-x');
    const plain = terms.required(answered.asked, 'A case', answered.requestId);
    expect(plain.extensions).not.toHaveProperty('sign-in-with-x');
    expect(plain.next_step).not.toContain('sign-in-with-x');
  });

  const facts = { limits: null, timings: { verify: 0, query: 0, settle: 0 } };
  const receipt = { dialect: 'self-paid', network: NETWORKS.local, payer: 'W', amount: '990000' } as const;
  const shown = (outcome: object, call = answered) =>
    unpacked(
      JSON.parse(
        answers
          .outcome(call, { outcome: { ...outcome, ...facts } as never, receipt })
          .bytes('legacy')
          .toString(),
      ),
    );

  it('says where to look, and never asks to pay again', () => {
    const { data, isError } = shown({
      outcome: 'pending',
      transaction: 'T',
      boughtBy: answered.requestId,
      resultId: 'r1-x',
    });
    expect(isError).toBe(false);
    expect(data).toMatchObject({
      payment: {
        status: 'pending',
        transaction: 'T',
        result_url: `https://dockets.example/v2/results/r1-x`,
      },
      next_step: expect.stringMatching(/^Do not pay again/),
    });
    expect(data.payment_required).toBeUndefined();
  });

  it('asks for another once it is certain that no money moved', () => {
    const failed = { outcome: 'failed', transaction: 'T', reason: 'expired' };
    const { data, isError } = shown(failed);
    expect([isError, data.error.code]).toEqual([true, 'settlement_failed']);
    expect(data.payment_instructions).toMatchObject({ payment_required: true, recent_blockhash: null });
    const form = shown(failed, { ...answered, inX402Form: true }).data;
    expect(form).toMatchObject({ x402Version: 2, 'x402/payment-response': { success: false, errorReason: 'expired' } });
  });
});
