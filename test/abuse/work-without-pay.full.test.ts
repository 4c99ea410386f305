/**
 * Attack: self-paid batches whose client hangs up while they are composed. Measured in cases composed for no caller,
 * and in events.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerBatch } from '../../src/queries/batch-answer.ts';
import { until } from '../payments/steering.ts';
import { answerFor, openWorld, USDC, type World } from '../payments/world.ts';
import { limit, memo, price, selfPaid, transfer } from '../solana/payment-transactions.ts';

const CASES = 50;
const BATCHES = 12;
/** Serialized again for each case: as much work as a large docket. */
const docket = Array.from({ length: 5_000 }, (_, entry) => ({
  entry,
  text: `an entry of the docket ${entry}`.repeat(4),
}));

let world: World;
let composed = 0;
let atOnce = 0;
let mostAtOnce = 0;
beforeAll(async () => {
  world = await openWorld({
    async answer(q, call) {
      if (!q.startsWith('batch')) return answerFor(q, call);
      atOnce++;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      try {
        const answers = await answerBatch(
          Array.from({ length: CASES }, (_, number) => number),
          async () => {
            composed++;
            const text = JSON.stringify(docket);
            return { text, bytes: Buffer.byteLength(text), truncated: false };
          },
          call.signal,
        );
        // The price of a batch in this world is that of two queries.
        return { body: Buffer.from(JSON.stringify({ cases: answers.length })), answeredCases: 2 };
      } finally {
        atOnce--;
      }
    },
  });
});
afterAll(() => world.close());

const batch = () => `${world.url}/v2/cases/batch?q=batch`;

describe('twelve batches whose callers hang up', () => {
  it('cause little composing, no charge, and no event', async () => {
    const wallet = await world.wallet(60n * USDC);
    const paymentOf = () =>
      selfPaid(world.parties, wallet, {
        blockhash: world.blockhashes.latest()!.blockhash,
        instructions: [limit(), price(), transfer(world.parties, wallet.publicKey, { amount: 1_980_000n }), memo()],
      }).toString('base64');
    const { spent } = await world.moved(wallet, async () => {
      await Promise.all(
        Array.from({ length: BATCHES }, async () => {
          const caller = new AbortController();
          const headers = { 'x402-payment': paymentOf() };
          const gone = fetch(batch(), { method: 'POST', headers, signal: caller.signal });
          await until(async () => composed, Boolean);
          caller.abort();
          await gone.catch(() => undefined);
        }),
      );
      await until(
        async () => world.purchasing.underway.size,
        (size) => size === 0,
      );
    });
    expect(spent).toBe(0n);
    expect(await world.events()).toEqual([]);
    expect(mostAtOnce).toBeLessThanOrEqual(4);
    // Before: all of them, six hundred.
    expect(composed).toBeLessThan((BATCHES * CASES) / 4);
    // Nothing of the wallet is reserved, and a waiting caller gets its answer.
    const bystander = await world.wallet();
    expect((await world.get('/v2/case?q=bystander', world.pay(bystander))).status).toBe(200);
    const waiting = await fetch(batch(), { method: 'POST', headers: { 'x402-payment': paymentOf() } });
    expect(waiting.status).toBe(200);
  });
});
