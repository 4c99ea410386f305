/**
 * Whatever is done to a valid payment: it is refused and nothing moves, or it is settled once
 * (docs/design/payments.md#outcomes-that-must-hold).
 */
import { createApproveInstruction, createCloseAccountInstruction } from '@solana/spl-token';
import { type Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build, guard, limit, memo, price, tokenAccountOf, transfer } from '../solana/payment-transactions.ts';
import { DIALECTS } from './envelopes.ts';
import { openWorld, USDC, type World } from './world.ts';

const PRICE = 990_000n;
/** A wallet is taken for so many payments: below what it may send in a minute. */
const PAYMENTS_OF_A_WALLET = 25;

/** Instructions of every kind, sound and hostile; at least one of them is the transfer. */
const PARTS = {
  transfer: (world: World, { publicKey }: Keypair) => transfer(world.parties, publicKey),
  limit: () => limit(),
  'limit too high': () => limit(150_000),
  price: () => price(),
  'price too high': () => price(5_000_000_000),
  memo: () => memo(),
  guard: (_world: World, { publicKey }: Keypair) => guard(5, [publicKey]),
  'guard that writes': () => guard(0),
  'one unit less': (world: World, { publicKey }: Keypair) => transfer(world.parties, publicKey, { amount: PRICE - 1n }),
  'our SOL': (world: World, { publicKey }: Keypair) =>
    SystemProgram.transfer({ fromPubkey: world.parties.feePayer, toPubkey: publicKey, lamports: 1_000_000 }),
  'our USDC': (world: World, { publicKey }: Keypair) =>
    transfer({ ...world.parties, payTo: publicKey }, world.parties.feePayer),
  approve: (_world: World, { publicKey }: Keypair) =>
    createApproveInstruction(tokenAccountOf(publicKey), publicKey, publicKey, 1n),
  close: (_world: World, { publicKey }: Keypair) =>
    createCloseAccountInstruction(tokenAccountOf(publicKey), publicKey, publicKey),
} satisfies Record<string, (world: World, wallet: Keypair) => TransactionInstruction>;
type Part = keyof typeof PARTS;

const hostile = fc.constantFrom(...(Object.keys(PARTS) as Part[]));
/** Mostly what clients send, shuffled; sometimes with anything at all in between. */
const parts = fc
  .tuple(
    fc.subarray<Part>(['limit', 'price', 'memo', 'guard']),
    fc.oneof({ weight: 3, arbitrary: fc.constant<Part[]>([]) }, fc.array(hostile, { maxLength: 3 })),
    fc.integer(),
  )
  .map(([usual, more, order]) => {
    const all: Part[] = ['transfer', ...usual, ...more];
    return all.sort((a, b) => hashOf(a, order) - hashOf(b, order));
  });
const hashOf = (text: string, salt: number): number =>
  [...text].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) | 0, salt);

const bytes = fc.option(
  fc.oneof(
    fc.record({ at: fc.nat(1_500), bit: fc.nat(7) }).map(({ at, bit }) => (wire: Buffer) => {
      const index = at % wire.length;
      wire.writeUInt8(wire.readUInt8(index) ^ (1 << bit), index);
      return wire;
    }),
    fc.nat(1_500).map((length) => (wire: Buffer) => wire.subarray(0, length % wire.length)),
    fc.uint8Array({ minLength: 1, maxLength: 8 }).map((more) => (wire: Buffer) => Buffer.concat([wire, more])),
    fc.tuple(fc.nat(1_500), fc.nat(255)).map(([at, value]) => (wire: Buffer) => {
      wire.writeUInt8(value, at % wire.length);
      return wire;
    }),
  ),
  { nil: null, freq: 2 },
);

const mutation = fc.record({
  dialect: fc.constantFrom(...DIALECTS),
  parts,
  selfPaid: fc.boolean(),
  signed: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
  version: fc.constantFrom<('legacy' | 0)[]>('legacy', 0),
  bytes,
});

/** @param runs how many mutations are tried */
export function describeMutations(runs: number): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ paidBefore: true, slotMs: 20 });
  });
  afterAll(() => world.close());

  const lamportsOf = async (address: { toBase58(): string }) =>
    BigInt((await world.rpc.call<{ value: number }>('getBalance', address.toBase58())).value);

  describe(`${runs} mutations of a valid payment`, () => {
    it('are refused and move nothing, or are settled once', async () => {
      let wallet = await world.wallet(100n * USDC);
      let uses = 0;
      let settled = 0;
      await fc.assert(
        fc.asyncProperty(mutation, async (mutated) => {
          if (++uses % PAYMENTS_OF_A_WALLET === 0) wallet = await world.wallet(100n * USDC);
          const { parties } = world;
          const sound = build({
            instructions: mutated.parts.map((part) => PARTS[part](world, wallet)),
            payer: mutated.selfPaid ? wallet.publicKey : parties.feePayer,
            signers: mutated.signed ? [wallet] : [],
            blockhash: world.blockhashes.latest()!.blockhash,
            version: mutated.version,
          });
          const wire = mutated.bytes ? mutated.bytes(sound) : sound;
          const headers = mutated.dialect.headers(world, wire);
          const ours = async () => [await lamportsOf(parties.feePayer), await world.tokens(parties.feePayer)] as const;
          const [sol, usdc] = await ours();
          const asked = world.asked.length;
          const {
            result: answer,
            spent,
            received,
          } = await world.moved(wallet, () => world.get('/v2/case?q=mutated', headers));
          const [solAfter, usdcAfter] = await ours();
          expect(usdcAfter).toBe(usdc);
          if (answer.status !== 200) {
            expect([400, 402, 409]).toContain(answer.status);
            expect([spent, received, solAfter, world.asked.length]).toEqual([0n, 0n, sol, asked]);
            return;
          }
          settled++;
          expect([spent, received]).toEqual([PRICE, PRICE]);
          // Two signatures and the priority fee that is allowed at most.
          expect(sol - solAfter).toBeLessThanOrEqual(mutated.selfPaid ? 0n : 15_000n);
          const again = await world.moved(wallet, () => world.get('/v2/case?q=again', headers));
          expect([again.result.status, again.spent]).toEqual([409, 0n]);
        }),
        { numRuns: runs },
      );
      // A generator that only made nonsense would prove nothing.
      expect(settled).toBeGreaterThan(runs / 20);
    });
  });
}
