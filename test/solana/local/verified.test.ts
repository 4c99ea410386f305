/** What a simulation has verified is not verified again: no attacker may exploit that. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { SlotMemory } from '../../../src/solana/local/slot-memory.ts';
import { openChain, openMarket, type TestChain } from './harness.ts';

const SIGNATURE_FAILURE = -32003;

let chain: TestChain;
beforeAll(async () => {
  chain = await openChain({ slotMs: 60_000 });
});
afterAll(() => chain.dispose());

/** The same message under another signature. */
function forge(wire: Buffer, bit: number): Buffer {
  const forged = Buffer.from(wire);
  const at = 1 + (bit >> 3);
  forged.writeUInt8(forged.readUInt8(at) ^ (1 << (bit & 7)), at);
  return forged;
}

const STEPS = ['simulate and verify', 'simulate', 'simulate anew', 'send', 'send unseen'] as const;

function take(step: (typeof STEPS)[number], wire: Buffer, on = chain) {
  const method = step.startsWith('send') ? 'sendTransaction' : 'simulateTransaction';
  return on.rpc(method, wire.toString('base64'), {
    encoding: 'base64',
    ...(step === 'simulate and verify' && { sigVerify: true }),
    ...(step === 'simulate anew' && { replaceRecentBlockhash: true }),
    ...(step === 'send unseen' && { skipPreflight: true }),
  });
}

it('moves money only for verified bytes, once, regardless of earlier simulations and sends', async () => {
  const { buyer, seller, payment } = await openMarket(chain);
  let sold = 0n;
  const step = fc.record({ step: fc.constantFrom(...STEPS), forged: fc.option(fc.nat({ max: 511 }), { freq: 2 }) });
  const affordable = fc.boolean();
  await fc.assert(
    fc.asyncProperty(affordable, fc.array(step, { minLength: 1, maxLength: 6 }), async (enough, steps) => {
      const wire = await payment(enough ? 1n : 10n ** 12n);
      for (const { step: each, forged } of steps) {
        const lamports = await chain.connection.getBalance(buyer.publicKey);
        const answer = await take(each, forged === null ? wire : forge(wire, forged));
        const moved = (await chain.usdc(seller.publicKey)) - sold;
        sold += moved;
        if (forged === null) continue;
        expect([moved, await chain.connection.getBalance(buyer.publicKey)]).toEqual([0n, lamports]);
        if (each === 'send' || each === 'simulate and verify') expect(answer.error?.code).toBe(SIGNATURE_FAILURE);
      }
      const sent = steps.some(({ step: each, forged }) => forged === null && each.startsWith('send'));
      const before = sold;
      await take('send', wire);
      sold = await chain.usdc(seller.publicKey);
      expect(sold - before).toBe(enough && !sent ? 1n : 0n);
    }),
    {
      numRuns: 30,
      examples: [
        [
          true,
          [
            { step: 'simulate and verify', forged: null },
            { step: 'send', forged: 0 },
            { step: 'send unseen', forged: 511 },
          ],
        ],
      ],
    },
  );
}, 60_000);

it('remembers nothing that no block could accept, however often it is simulated', async () => {
  const quick = await openChain({ slotMs: 10 });
  try {
    const { payment } = await openMarket(quick);
    const wire = await payment();
    const err = async () => {
      const { result } = await take('simulate and verify', wire, quick);
      return (result as { value: { err: unknown } }).value.err;
    };
    await vi.waitUntil(async () => (await err()) === 'BlockhashNotFound', { timeout: 20_000, interval: 50 });
    const noting = vi.spyOn(SlotMemory.prototype, 'note');
    for (let times = 0; times < 5; times++) expect(await err()).toBe('BlockhashNotFound');
    expect(noting).not.toHaveBeenCalled();
    noting.mockRestore();
  } finally {
    await quick.dispose();
  }
}, 60_000);
