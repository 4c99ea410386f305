/** x402's `payment-identifier`: a caller who names its request is answered as often as it asks, and pays once. */
import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PurchasePorts } from '../../src/commands/purchase/contract.ts';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { paymentIdentifierStream } from '../../src/events/payment.ts';
import { identifierHashOf } from '../../src/http/x402/payment-identifier.ts';
import { MICROS_PER_SECOND, systemClock } from '../../src/runtime/instant.ts';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import { tokenAccountOf, transfer } from '../solana/payment-transactions.ts';
import { dead, until } from './steering.ts';
import { type Answer, altered, openWorld, USDC, type World } from './world.ts';

let world: World;
let wallet: Keypair;
let id: string;
beforeAll(async () => {
  world = await openWorld({ paidBefore: true, slotMs: 40, patience: { settlementMs: 3_000, rebroadcastMs: 100 } });
});
beforeEach(async () => {
  wallet = await world.wallet(10n * USDC);
  id = `id-${randomUUID()}`;
});
afterAll(() => world.close());
afterEach(() => world.disturb());

const payment = (over: Parameters<World['pay']>[1] = {}) => world.pay(wallet, over, id);
const buy = (headers = payment(), q = 'named', base?: string) => world.get(`/v2/case?q=${q}`, headers, base);
const uncharged = async (work: () => Promise<Answer>): Promise<Answer> => {
  const asked = world.asked.length;
  const { result, spent, received } = await world.moved(wallet, work);
  expect([spent, received, world.asked.length - asked]).toEqual([0n, 0n, 0]);
  return result;
};
const locationOf = (answer: Answer) => answer.headers.get('content-location');
const claims = async () =>
  world.storage.log.read(paymentIdentifierStream(identifierHashOf(wallet.publicKey.toBase58(), id)));
const streamsSubmitted = async () =>
  (await world.events())
    .filter(({ data, type }) => type === 'PaymentAuthorized' && data.wallet === wallet.publicKey.toBase58())
    .map(({ stream }) => stream);
const nodeLater = (seconds: number, over: Partial<PurchasePorts> = {}) =>
  world.serve(
    createPurchasing({
      ...world.ports,
      clock: { now: () => systemClock.now() + seconds * MICROS_PER_SECOND },
      ...over,
    }),
  );
/** A node that dies between its claim of the identifier and the submission of its payment. */
const dyingNode = () => {
  let appends = 0;
  return world.serve(
    createPurchasing({
      ...world.ports,
      log: altered(world.storage.log, {
        append: (appended) => (++appends === 1 ? world.storage.log.append(appended) : dead()),
      }),
    }),
  );
};
async function dieAfterClaim(headers = payment()) {
  void buy(headers, 'named', await dyingNode()).catch(() => undefined);
  await until(claims, (events) => events.length > 0);
  return headers;
}

describe('the same identifier and the same request', () => {
  it('give the stored bytes, uncharged and uncounted, whether paid for again or not', async () => {
    const paid = payment();
    const bought = await world.moved(wallet, () => buy(paid));
    expect([bought.result.status, bought.spent]).toEqual([200, 990_000n]);
    for (const headers of [paid, payment(), payment({ payer: wallet.publicKey })]) {
      const again = await uncharged(() => buy(headers));
      expect([again.status, again.text, locationOf(again)]).toEqual([
        200,
        bought.result.text,
        locationOf(bought.result),
      ]);
      expect(again.headers.get('payment-response')).not.toBeNull();
      expect(again.headers.get('ratelimit-remaining')).toBeNull();
    }
    const receipt = (answer: Answer) => answer.headers.get('payment-response');
    expect(receipt(await buy(payment()))).toBe(receipt(bought.result));
    expect((await world.get('/v2/case?q=next', world.pay(wallet))).headers.get('ratelimit-remaining')).toBe('58');
  });

  it('even when the wallet is empty, the blockhash has expired or the chain is silent', async () => {
    const bought = await buy();
    const drain = world.wallet(0n);
    const rest = await world.tokens(wallet.publicKey);
    const { build } = await import('../solana/payment-transactions.ts');
    await world.chain.send(
      build({
        instructions: [
          transfer(world.parties, wallet.publicKey, {
            destination: tokenAccountOf((await drain).publicKey),
            amount: rest,
          }),
        ],
        payer: wallet.publicKey,
        signers: [wallet],
        blockhash: world.blockhashes.latest()!.blockhash,
      }),
    );
    await until(
      () => world.tokens(wallet.publicKey),
      (left) => left === 0n,
    );
    const expired = payment({ blockhash: wallet.publicKey.toBase58() });
    const unavailable = async (): Promise<never> => {
      throw new ChainUnavailable('silent');
    };
    world.disturb({ simulate: unavailable, signatureStatus: unavailable, isBlockhashValid: unavailable });
    expect((await uncharged(() => buy(expired))).text).toBe(bought.text);
  });

  it('are refused without the wallet’s signature, and mean nothing to another wallet', async () => {
    await buy();
    const forged = payment();
    const envelope = JSON.parse(Buffer.from(forged['payment-signature']!, 'base64').toString());
    const wire = Buffer.from(envelope.payload.transaction, 'base64');
    wire.fill(7, 65, 129);
    envelope.payload.transaction = wire.toString('base64');
    const refused = await uncharged(() =>
      buy({ 'payment-signature': Buffer.from(JSON.stringify(envelope)).toString('base64') }),
    );
    expect([refused.status, refused.json.error.code]).toEqual([402, 'payment_rejected']);
    const other = await world.wallet();
    const { result, spent } = await world.moved(other, () => buy(world.pay(other, {}, id)));
    expect([result.status, spent, result.json.answer]).toEqual([200, 990_000n, `for ${other.publicKey}`]);
  });

  it('after 30 days, or once the bytes are gone, are a 410 and no second charge', async () => {
    await buy();
    const gone = await uncharged(async () => buy(payment(), 'named', await nodeLater(31 * 86_400)));
    expect([gone.status, gone.json.error.code, gone.json.error.details.charged]).toEqual([410, 'result_gone', false]);
  });

  it('get an error while the answer is damaged and the answer once it is restored, both uncharged', async () => {
    const bought = await buy();
    const { data } = (await world.events()).findLast(({ type }) => type === 'QueryAnswered')!;
    const ask = [() => buy(), () => world.get(locationOf(bought)!)];
    await world.storage.damage(data.answer as string);
    for (const again of ask) {
      const damaged = await uncharged(again);
      expect([damaged.status, damaged.json.error.code]).toEqual([500, 'result_damaged']);
      const { charged, transaction, hint } = damaged.json.error.details;
      expect([charged, hint]).toEqual([false, expect.stringContaining('charges nothing')]);
      const settled = (await world.events()).filter(({ type }) => type === 'PaymentSubmitted');
      expect(settled.map((event) => event.data.transaction)).toContain(transaction);
    }
    await world.storage.damage(data.answer as string);
    for (const again of ask) expect((await uncharged(again)).text).toBe(bought.text);
  });

  it('while it is pending are a 202 with the winner’s result_url, and the answer after that', async () => {
    const { blockHeight, signatureStatus } = world.chain;
    world.disturb({ signatureStatus: async () => null, blockHeight: async () => 0 });
    const first = await buy();
    expect(first.status).toBe(202);
    const again = await uncharged(() => buy(payment()));
    expect([again.status, again.json.payment.result_url]).toEqual([202, first.json.payment.result_url]);
    expect(again.json.meta.request_id).not.toBe(first.json.meta.request_id);
    world.disturb({ signatureStatus, blockHeight });
    await until(
      () => world.recoverLater().round(),
      ({ pending }) => pending === 0,
    );
    const answer = await uncharged(() => buy(payment()));
    expect([answer.status, answer.json.question]).toEqual([200, 'named']);
    expect(first.json.payment.result_url.endsWith(locationOf(answer)!)).toBe(true);
  });
});

describe('the same identifier and another request', () => {
  it('is a 409, uncharged, with a hint', async () => {
    await buy();
    for (const headers of [payment(), payment({ payer: wallet.publicKey })]) {
      const answer = await uncharged(() => buy(headers, 'another'));
      expect([answer.status, answer.json.error.code]).toEqual([409, 'idempotency_conflict']);
      expect(answer.json.error.details).toMatchObject({ charged: false });
    }
    const elsewhere = await uncharged(() => world.get('/v2/monitor?q=named', payment()));
    expect(elsewhere.json.error.code).toBe('idempotency_conflict');
  });
});

describe('a payment without its identifier', () => {
  it('is used, whatever identifier it once came with', async () => {
    const paid = payment();
    await buy(paid);
    const envelope = JSON.parse(Buffer.from(paid['payment-signature']!, 'base64').toString());
    const bare = world.header(Buffer.from(envelope.payload.transaction, 'base64'));
    const other = world.header(Buffer.from(envelope.payload.transaction, 'base64'), {}, `id-${randomUUID()}`);
    for (const headers of [bare, other]) {
      const answer = await uncharged(() => buy(headers));
      expect([answer.status, answer.json.error.code]).toEqual([409, 'payment_already_used']);
    }
  });
});

describe('the identifier in the log', () => {
  it('is a hash, claimed before its payment is submitted', async () => {
    await buy();
    const events = (await world.events()).filter(({ metadata }) => metadata.requestId !== null).slice(-5);
    expect(events.map(({ type }) => type)).toEqual([
      'PaymentIdClaimed',
      'PaymentAuthorized',
      'QueryAnswered',
      'PaymentSubmitted',
      'PaymentSettled',
    ]);
    expect(events[0]!.stream).toBe(paymentIdentifierStream(events[1]!.data.identifierHash as string));
    expect(JSON.stringify(events)).not.toContain(id);
  });

  it('is not claimed by a query that fails', async () => {
    const failed = await buy(payment(), 'unknown');
    expect([failed.status, (await claims()).length]).toEqual([404, 0]);
    expect((await buy(payment(), 'other')).status).toBe(200);
  });
});

describe('one identifier with several transactions at once', () => {
  it.each([1, 2, 3])('is charged once, over four nodes that know nothing of each other (%#)', async () => {
    const nodes = await Promise.all(Array.from({ length: 4 }, () => world.serve(createPurchasing(world.ports))));
    const { result: answers, spent } = await world.moved(wallet, async () => {
      const all = await Promise.all(nodes.flatMap((node) => [0, 1].map(() => buy(payment(), 'slow', node))));
      // The losers may ask again, and so may those that had no place beside the wallet's other payments (429).
      const again = (node: string) =>
        until(
          () => buy(payment(), 'slow', node),
          ({ status }) => status !== 429,
        );
      return [...all, ...(await Promise.all(nodes.map(again)))];
    });
    expect(spent).toBe(990_000n);
    expect(answers.filter(({ status }) => ![200, 202, 409, 429].includes(status))).toEqual([]);
    const answered = answers.filter(({ status }) => status === 200);
    expect(new Set(answered.map(({ text }) => text)).size).toBe(1);
    expect(answers.slice(-4).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await streamsSubmitted()).toHaveLength(1);
  });
});

describe('a process that dies between its claim and the submission', () => {
  it('leaves the same payment free to be sent again at once', async () => {
    const paid = await dieAfterClaim();
    const { result, spent } = await world.moved(wallet, () => buy(paid));
    expect([result.status, spent, (await claims()).length]).toEqual([200, 990_000n, 1]);
  });

  it('makes another payment wait a minute, and then lets it claim the identifier', async () => {
    await dieAfterClaim();
    const early = await world.moved(wallet, () => buy());
    expect([early.result.status, early.result.json.error.code, early.spent]).toEqual([409, 'payment_already_used', 0n]);
    expect(early.result.json.error.details).toMatchObject({ transaction: null, retry_after: 1, charged: false });
    const late = await world.moved(wallet, async () => buy(payment(), 'named', await nodeLater(61)));
    expect([late.result.status, late.spent, (await claims()).length]).toEqual([200, 990_000n, 2]);
    const [lost] = await claims();
    expect((await world.storage.log.read(`payment-${lost!.data.payment}`)).map(({ data }) => data)).toEqual([
      { reason: 'claim_taken_over' },
    ]);
  });

  it('and resumes after the takeover never charges a second time', async () => {
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let appends = 0;
    const sleeping = await world.serve(
      createPurchasing({
        ...world.ports,
        log: altered(world.storage.log, {
          async append(appended) {
            if (++appends === 2) await asleep;
            return world.storage.log.append(appended);
          },
        }),
      }),
    );
    const { result, spent } = await world.moved(wallet, async () => {
      const sleeper = buy(payment(), 'named', sleeping);
      await until(claims, (events) => events.length > 0);
      const taken = await buy(payment(), 'named', await nodeLater(61));
      wake();
      return [taken, await sleeper] as const;
    });
    expect(result.map(({ status }) => status)).toEqual([200, 200]);
    expect([spent, result[1].text]).toEqual([990_000n, result[0].text]);
    expect(await streamsSubmitted()).toHaveLength(1);
  });
});

describe('an attempt that failed', () => {
  it('is repeated for its own payment, and another payment with the identifier is a new attempt', async () => {
    const paid = payment();
    world.disturb({ send: async () => ({ sent: true }), blockHeight: async () => Number.MAX_SAFE_INTEGER });
    const failed = await world.moved(wallet, () => buy(paid));
    expect([failed.result.json.error.code, failed.spent]).toEqual(['settlement_failed', 0n]);
    world.disturb();
    const told = await uncharged(() => buy(paid));
    expect([told.status, told.json.error.code]).toEqual([402, 'settlement_failed']);
    const anew = await world.moved(wallet, () => buy());
    expect([anew.result.status, anew.spent]).toEqual([200, 990_000n]);
    expect((await uncharged(() => buy())).text).toBe(anew.result.text);
  });
});
