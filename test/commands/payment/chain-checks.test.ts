import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOnChain, LEAST_REMAINING_BLOCKS } from '../../../src/commands/payment/chain-checks.ts';
import { BLOCKHASH_LIFE_BLOCKS, type Chain } from '../../../src/solana/chain.ts';
import type { VerifiedTransaction } from '../../../src/solana/verify-transaction.ts';

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

describe('whether a payment is already on the chain', () => {
  const blockhashes = { lastValidBlockHeightOf: () => 1_000, blockHeight: () => 900 };
  const landed = { slot: 1, commitment: 'confirmed', error: null } as const;
  const already = { problem: 'payment_rejected', details: { reason: 'already_on_chain' } };
  const ask = async (sponsored: boolean, answers: Partial<Chain>) => {
    const asked: string[] = [];
    const signatureStatus = async (signature: string) => {
      asked.push(signature);
      return landed;
    };
    const transaction = { ...payment.transaction, sponsored };
    const ports = { chain: { ...chain, signatureStatus, ...answers }, blockhashes };
    return { outcome: await checkOnChain(ports, { ...payment, transaction }), asked };
  };

  it('is always checked for one that its sender can land alone, even if a lagging endpoint would run it', async () => {
    const { outcome, asked } = await ask(false, {});
    expect(outcome).toMatchObject(already);
    expect(asked).toEqual([payment.signature]);
  });

  it('is checked for one that needs our signature if the chain refuses to run it', async () => {
    for (const error of ['"BlockhashNotFound"', '"AlreadyProcessed"', '{"InstructionError":[0,{"Custom":1}]}']) {
      const { outcome, asked } = await ask(true, { simulate: async () => ({ ok: false, error, logs: [] }) });
      expect(outcome).toMatchObject(already);
      expect(asked).toEqual([payment.signature]);
    }
  });

  it('need not be checked if the chain would run it and only we can send it', async () => {
    const { outcome, asked } = await ask(true, {});
    expect(outcome).toEqual({ lastValidBlockHeight: 1_000 });
    expect(asked).toEqual([]);
  });
});

describe('the height after which a payment is dead', () => {
  it('is never earlier than the chain’s, however far behind the endpoint that reports the height is', async () => {
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

  it.each([
    [2 ** 50, 1_000],
    [1_000, 2 ** 50],
  ])('is unknown if the chain says %d and was seen at %d: nothing is charged', async (asked, seen) => {
    const checked = await checkOnChain(
      {
        chain: { ...chain, blockHeight: async () => asked },
        blockhashes: { lastValidBlockHeightOf: () => null, blockHeight: () => seen },
      },
      payment,
    );
    expect(checked).toMatchObject({ problem: 'service_unavailable', details: { component: 'chain' } });
  });

  it('is known for a blockhash that was seen here, which must have enough life left', async () => {
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
