/** Rejections that need more than one request or check: a rejected payment never costs anything. */
import { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAddressLimit } from '../../src/http/address-limit.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { REJECTION } from '../../src/solana/verify-transaction.ts';
import { build, memo, transfer } from '../solana/payment-transactions.ts';
import { until } from './steering.ts';
import { type Answer, answerFor, openWorld, USDC, type World } from './world.ts';

let world: World;
let wallet: Keypair;
/** Lets `held`, a question that is being answered, go on. */
let letGo: () => void;
beforeAll(async () => {
  let held: Promise<void> = Promise.resolve();
  const hold = () => {
    held = new Promise((go) => {
      letGo = go;
    });
  };
  hold();
  world = await openWorld({
    answer: async (question, call) => {
      if (question === 'held') {
        await held;
        hold();
      }
      return answerFor(question, call);
    },
  });
  wallet = await world.wallet(50n * USDC);
});
afterAll(() => world.close());
afterEach(() => world.disturb());

/** Makes a request, and fails if money moved or a query ran. */
async function uncharged(
  headers: Record<string, string>,
  path = '/v2/case?q=refused',
  keypair = wallet,
): Promise<Answer> {
  const asked = world.asked.length;
  const lamports = () => world.rpc.call<{ value: number }>('getBalance', world.parties.feePayer.toBase58());
  const before = await lamports();
  const { result, spent, received } = await world.moved(keypair, () => world.get(path, headers));
  expect([spent, received, (await lamports()).value - before.value, world.asked.length - asked]).toEqual([
    0n,
    0n,
    0,
    0,
  ]);
  expect(result.json.error.details.charged).toBe(false);
  return result;
}

const sponsoredBy = (
  instructions: Parameters<typeof build>[0]['instructions'],
  signers: readonly Keypair[] = [wallet],
) =>
  world.header(
    build({
      instructions,
      payer: world.parties.feePayer,
      signers,
      blockhash: world.blockhashes.latest()!.blockhash,
    }),
  );

describe('a payment that breaks a rule', () => {
  const paying = () => transfer(world.parties, wallet.publicKey);
  const rows: readonly (readonly [string, string, () => Record<string, string>])[] = [
    [
      'a memo that differs from its terms',
      REJECTION.memoMismatch,
      () => {
        const wire = build({
          instructions: [paying(), memo('mine')],
          payer: world.parties.feePayer,
          signers: [wallet],
          blockhash: world.blockhashes.latest()!.blockhash,
        });
        return world.header(wire, { extra: { memo: 'theirs' } });
      },
    ],
    [
      'a blockhash that the chain does not know',
      'blockhash_expired',
      () => world.pay(wallet, { blockhash: Keypair.generate().publicKey.toBase58() }),
    ],
  ];

  it.each(rows)('%s is a 402 with its reason', async (_title, reason, headers) => {
    const answer = await uncharged(headers());
    expect([answer.status, answer.json.error.code, answer.json.error.details.reason]).toEqual([
      402,
      'payment_rejected',
      reason,
    ]);
    expect(answer.headers.get('payment-required')).not.toBeNull();
    expect(answer.json.error.details.accepts).toHaveLength(1);
  });

  it.each([
    ['@@@@', 400],
    [Buffer.from('null').toString('base64'), 400],
    [Buffer.from('{}').toString('base64'), 400],
    [Buffer.from('['.repeat(3_000)).toString('base64'), 400],
    ['A'.repeat(17 * 1024), 400],
    ['A'.repeat(33 * 1024), 431],
    ['', 400],
    ['AAAA', 400],
  ])('a header that cannot be read is JSON and never a 500 (%#)', async (value, status) => {
    for (const name of ['payment-signature', 'x-payment', 'x402-payment']) {
      const answer = await world.get('/v2/case?q=a', { [name]: value });
      expect(answer.status).toBe(status);
      expect(answer.json.error.code).toBe(status === 431 ? 'header_too_large' : 'invalid_payment');
    }
  });

  it('two headers that carry different payments are a 400', async () => {
    const wire = JSON.parse(Buffer.from(world.pay(wallet)['payment-signature']!, 'base64').toString()).payload
      .transaction;
    const answer = await uncharged({ ...world.pay(wallet), 'x402-payment': wire });
    expect([answer.status, answer.json.error.details.reason]).toEqual([400, 'several_payments']);
  });
});

describe('a query that fails', () => {
  it.each([
    ['unknown', 404, 'case_not_found'],
    ['throws', 500, 'internal_error'],
    ['full disk', 503, 'service_unavailable'],
  ])('%s is never broadcast, and the same payment then buys another answer', async (q, status, code) => {
    const payment = world.pay(wallet);
    const failed = await world.moved(wallet, () => world.get(`/v2/case?q=${q}`, payment));
    expect([failed.result.status, failed.result.json.error.code, failed.spent, failed.received]).toEqual([
      status,
      code,
      0n,
      0n,
    ]);
    expect(failed.result.text).not.toContain('the query failed');
    const bought = await world.moved(wallet, () => world.get('/v2/case?q=then', payment));
    expect([bought.result.status, bought.spent]).toEqual([200, 990_000n]);
    expect(world.purchasing.underway.size).toBe(0);
    const failure = await world.get(world.resultPath(failed.result.json.meta.request_id));
    expect(failure.status).toBe(404);
  });

  it('is recorded as released, all in one append', async () => {
    const payment = world.pay(wallet);
    const answer = await world.get('/v2/case?q=unknown', payment);
    const mine = (await world.events()).filter(({ metadata }) => metadata.requestId === answer.json.meta.request_id);
    expect(mine.map(({ type }) => type)).toEqual(['PaymentAuthorized', 'QueryFailed', 'PaymentReleased']);
  });
});

describe('a used payment', () => {
  it('that is still in progress must not be replaced: the same request finds its answer a moment later', async () => {
    const payment = world.pay(wallet);
    const first = world.get('/v2/case?q=held', payment);
    await until(
      async () => world.purchasing.underway.size,
      (size) => size > 0,
    );
    const { status, json, text } = await world.get('/v2/case?q=held', payment);
    letGo();
    expect([status, json.error.code, json.error.details.transaction]).toEqual([409, 'payment_already_used', null]);
    expect(json.error.details.hint).toMatch(/do not pay again: send it unchanged in a second/);
    expect((await first).status).toBe(200);
    expect(text).not.toContain((await first).json.meta.request_id);
  });

  it('is a 409 on every endpoint, under every header and signature, and explains how to continue', async () => {
    const payment = world.pay(wallet);
    const bought = await world.get('/v2/case?q=once', payment);
    expect(bought.status).toBe(200);
    const again = await uncharged(payment);
    expect(again).toMatchObject({
      status: 409,
      json: { error: { code: 'payment_already_used', details: { retry_after: 1, result_hint: expect.any(String) } } },
    });
    const { transaction, hint } = again.json.error.details;
    // A caller who only repeats a request must not be led to pay for it twice.
    expect(hint).toMatch(/another answer, which is charged separately, .*newer blockhash.*stays free/);
    expect(await world.chain.signatureStatus(transaction)).toMatchObject({ error: null });
    expect(again.text).not.toContain(bought.json.meta.request_id);
    expect((await uncharged(payment, '/v2/monitor?q=a')).status).toBe(409);
    expect((await uncharged({ 'x-payment': payment['payment-signature']! })).status).toBe(409);

    const envelope = JSON.parse(Buffer.from(payment['payment-signature']!, 'base64').toString());
    const wire = Buffer.from(envelope.payload.transaction, 'base64');
    wire.fill(9, 1, 65);
    expect((await uncharged(world.header(wire))).status).toBe(409);
    for (const spoiled of [Buffer.concat([wire, Buffer.alloc(1)]).toString('base64'), ` ${wire.toString('base64')}`]) {
      envelope.payload.transaction = spoiled;
      const header = Buffer.from(JSON.stringify(envelope)).toString('base64');
      const answer = await uncharged({ 'payment-signature': header });
      expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_payment']);
    }
  });

  it('is not named before it was submitted: its id is the signature that would complete it', async () => {
    const payment = world.pay(wallet);
    const first = world.get('/v2/case?q=held', payment);
    await until(
      async () => world.purchasing.underway.size,
      (size) => size > 0,
    );
    const copy = await world.get('/v2/case?q=held', payment);
    letGo();
    expect([copy.status, copy.json.error.details.transaction]).toEqual([409, null]);
    expect((await first).status).toBe(200);
  });

  it('never counts against its wallet', async () => {
    const mine = await world.wallet();
    const payment = world.pay(mine);
    await world.get('/v2/case?q=a', payment);
    for (let i = 0; i < 3; i++) expect((await world.get('/v2/case?q=a', payment)).status).toBe(409);
    const next = await world.get('/v2/case?q=a', world.pay(mine));
    expect(next.headers.get('ratelimit-remaining')).toBe('58');
  });

  it('that its sender has landed alone buys nothing', async () => {
    const wire = build({
      instructions: [transfer(world.parties, wallet.publicKey), memo()],
      payer: wallet.publicKey,
      signers: [wallet],
      blockhash: world.blockhashes.latest()!.blockhash,
    });
    expect(await world.chain.send(wire)).toEqual({ sent: true });
    const answer = await uncharged({ 'x402-payment': wire.toString('base64') });
    const { message, details } = answer.json.error;
    expect([answer.status, details.reason]).toEqual([402, 'already_on_chain']);
    expect(message).toBe('This transfer is on the chain already; it can buy no answer.');
    expect(details.hint).toMatch(
      /^This call charged nothing, but .* its money has moved.*Never send a transfer yourself/,
    );
  });

  it('explains what must be done before another payment can succeed', async () => {
    const selfPaid = (payer: Keypair, blockhash = world.blockhashes.latest()!.blockhash) => ({
      'x402-payment': build({
        instructions: [transfer(world.parties, payer.publicKey), memo()],
        payer: payer.publicKey,
        signers: [payer],
        blockhash,
      }).toString('base64'),
    });
    const poor = await world.wallet(USDC / 2n);
    const hintOf = async (headers: Record<string, string>) => (await uncharged(headers)).json.error.details.hint;
    expect(await hintOf(world.pay(poor))).toMatch(
      /^The wallet is short of 0\.49 USDC: fund it first\. Then build a new payment/,
    );
    expect(await hintOf(selfPaid(Keypair.generate()))).toMatch(
      /^The wallet has too little SOL .* Then build a new payment/,
    );
    expect(await hintOf(selfPaid(wallet, Keypair.generate().publicKey.toBase58()))).toMatch(
      /^The blockhash is too old\. .* Then build a new payment/,
    );
  });

  it('states the price of the call if none was sent', async () => {
    const { message } = (await uncharged({}, '/v2/case?q=batch')).json.error;
    expect(message).toBe('This call costs 1.98 USDC on Solana, paid through x402 in the same call.');
  });

  it('that landed without us, or whose blockhash has expired, uses no limit of its wallet, regardless of who replays it', async () => {
    const victim = await world.wallet();
    const headers = world.header(
      build({
        instructions: [transfer(world.parties, victim.publicKey), memo()],
        payer: victim.publicKey,
        signers: [victim],
        blockhash: world.blockhashes.latest()!.blockhash,
      }),
    );
    const wire = JSON.parse(Buffer.from(headers['payment-signature']!, 'base64').toString()).payload.transaction;
    await world.chain.send(Buffer.from(wire, 'base64'));
    const ended = world.pay(victim, { blockhash: Keypair.generate().publicKey.toBase58() });
    for (const replayed of [{ 'x402-payment': wire }, ended]) {
      const refused = await world.get('/v2/case?q=a', replayed);
      expect([refused.status, refused.headers.get('ratelimit-remaining')]).toEqual([402, null]);
    }
    const own = await world.get('/v2/case?q=a', world.pay(victim));
    expect([own.status, own.headers.get('ratelimit-remaining')]).toEqual([200, '59']);
  });
});

describe('an address that sends invalid payments', () => {
  it('is limited if an operator wants it, without affecting others: neither first requests nor valid payments', async () => {
    const node = await world.serve(world.purchasing, createAddressLimit(2, systemClock));
    const forged = sponsoredBy([transfer(world.parties, wallet.publicKey)], []);
    const statuses: number[] = [];
    for (const headers of [forged, { 'x-payment': '@' }, forged]) {
      statuses.push((await world.get('/v2/case?q=a', headers, node)).status);
    }
    expect(statuses).toEqual([402, 400, 429]);
    const { result: limited } = await world.moved(wallet, () => world.get('/v2/case?q=a', forged, node));
    expect(limited.json.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { charged: false, window: 'address', limit: 2 },
    });
    expect(limited.headers.get('retry-after')).toBe(String(limited.json.error.details.retry_after));
    expect((await world.get('/v2/case?q=a', {}, node)).status).toBe(402);
    expect((await world.get('/v2/case?q=a', world.pay(wallet), node)).status).toBe(200);
  });
});

describe('a wallet without enough funds', () => {
  it('gets the missing items', async () => {
    const poor = await world.wallet(500_000n);
    const answer = await uncharged(world.pay(poor), undefined, poor);
    expect(answer.json.error).toMatchObject({
      code: 'payment_rejected',
      details: { reason: 'insufficient_funds', shortfall: '490000', shortfall_usd: '0.49' },
    });
  });

  it('also reports a missing token account', async () => {
    const nobody = Keypair.generate();
    const answer = await uncharged(world.pay(nobody), undefined, nobody);
    expect(answer.json.error.details).toMatchObject({ reason: 'insufficient_funds', shortfall: '990000' });
  });

  it('cannot pay its own network fee without SOL', async () => {
    const nobody = Keypair.generate();
    await world.rpc.call('requestTokenAirdrop', nobody.publicKey.toBase58(), '5000000');
    const wire = build({
      instructions: [transfer(world.parties, nobody.publicKey)],
      payer: nobody.publicKey,
      signers: [nobody],
      blockhash: world.blockhashes.latest()!.blockhash,
    });
    const answer = await uncharged({ 'x402-payment': wire.toString('base64') }, undefined, nobody);
    expect(answer.json.error.details.reason).toBe('insufficient_sol_for_network_fee');
  });
});

describe('a result', () => {
  it('that was given to no caller is a 404, and so is an invalid id', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000', 'x', '..%2f..%2fv2%2fcase']) {
      const answer = await world.get(`/v2/results/${id}`);
      expect([answer.status, answer.json.error.code]).toEqual([404, 'result_not_found']);
    }
  });

  it('whose bytes are gone is a 410', async () => {
    const bought = await world.get('/v2/case?q=gone', world.pay(wallet));
    const answered = (await world.events()).findLast(({ type }) => type === 'QueryAnswered');
    await world.storage.payloads.remove(answered!.data.answer as string);
    const again = await world.get(bought.headers.get('content-location')!);
    expect([again.status, again.json.error.code]).toEqual([410, 'result_gone']);
  });
});
