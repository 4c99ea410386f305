import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BLOCKHASH_LIFE_BLOCKS,
  checkOnChain,
  LEAST_REMAINING_BLOCKS,
} from '../../src/commands/payment-chain-checks.ts';
import type { Chain } from '../../src/solana/chain.ts';
import type { VerifiedTransaction } from '../../src/solana/verify-transaction.ts';

const chain = {
  isBlockhashValid: async () => true,
  signatureStatus: async () => null,
  simulate: async () => ({ ok: true }),
} as unknown as Chain;

const payment = {
  transaction: { blockhash: 'some blockhash' } as VerifiedTransaction,
  signed: Buffer.of(1),
  signature: 'some signature',
  amount: 1n,
  destination: 'some account',
};

const heights = fc.integer({ min: 1_000, max: 1_000_000 });

describe('the height after which a payment is dead', () => {
  it('is never earlier than the chain’s, however far the endpoint that says the height is behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        heights,
        fc.nat({ max: BLOCKHASH_LIFE_BLOCKS }),
        fc.nat({ max: 500 }),
        async (height, age, lag) => {
          // Given a blockhash that is still valid, an endpoint that lags, and a watch that has seen the newest block.
          const ends = height - age + BLOCKHASH_LIFE_BLOCKS;
          const checked = await checkOnChain(
            {
              chain: { ...chain, blockHeight: async () => height - lag },
              blockhashes: { lastValidBlockHeightOf: () => null, blockHeight: () => height },
            },
            payment,
          );
          expect(checked).toHaveProperty('lastValidBlockHeight');
          if ('lastValidBlockHeight' in checked) expect(checked.lastValidBlockHeight).toBeGreaterThanOrEqual(ends);
        },
      ),
    );
  });

  it('is known for a blockhash that was seen here, which must last long enough', async () => {
    const known = (ends: number) => ({
      chain,
      blockhashes: { lastValidBlockHeightOf: () => ends, blockHeight: () => 1_000 },
    });
    expect(await checkOnChain(known(1_000 + LEAST_REMAINING_BLOCKS), payment)).toEqual({
      lastValidBlockHeight: 1_000 + LEAST_REMAINING_BLOCKS,
    });
    for (const [ends, reason] of [
      [999 + LEAST_REMAINING_BLOCKS, 'blockhash_expires_too_soon'],
      [1_000, 'blockhash_expired'],
    ] as const) {
      expect(await checkOnChain(known(ends), payment)).toMatchObject({ details: { reason } });
    }
  });
});
