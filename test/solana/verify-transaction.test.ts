import { createHash, createPublicKey, verify as edVerify } from 'node:crypto';
import {
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  REJECTION,
  transactionId,
  type VerifiedTransaction,
  verifyTransaction,
  withFeePayerSignature,
} from '../../src/solana/verify-transaction.ts';
import { breachesBy } from './breaches.ts';
import {
  build,
  guard,
  limit,
  MINT,
  memo,
  price,
  randomBlockhash,
  selfPaid,
  sponsored,
  termsOf,
  tokenAccountOf,
  transfer,
} from './payment-transactions.ts';

const feePayer = Keypair.generate();
const wallet = Keypair.generate();
const other = Keypair.generate();
const parties = { feePayer: feePayer.publicKey, payTo: Keypair.generate().publicKey };
const terms = termsOf(parties);
const me = wallet.publicKey;

const verify = (wire: Buffer, expectedMemo: string | null = null) => verifyTransaction(wire, terms, expectedMemo);

async function accepted(wire: Buffer, expectedMemo: string | null = null): Promise<VerifiedTransaction> {
  const verdict = await verify(wire, expectedMemo);
  if (!verdict.ok) throw new Error(`refused: ${verdict.reason}`);
  return verdict.transaction;
}

const reasonOf = async (wire: Buffer, expectedMemo: string | null = null) => {
  const verdict = await verify(wire, expectedMemo);
  return verdict.ok ? 'accepted' : verdict.reason;
};

const usual = (...extra: readonly TransactionInstruction[]) => [
  limit(),
  price(),
  transfer(parties, me),
  memo(),
  ...extra,
];
const bySponsor = (...instructions: readonly TransactionInstruction[]) =>
  build({ instructions, payer: parties.feePayer, signers: [wallet] });
const bySelf = (...instructions: readonly TransactionInstruction[]) =>
  build({ instructions, payer: me, signers: [wallet] });

describe('a valid payment', () => {
  it('is identified by the hash of its message and by the wallet that signed it', async () => {
    const blockhash = randomBlockhash();
    const wire = sponsored(parties, wallet, { blockhash });
    const payment = await accepted(wire);
    const { message } = VersionedTransaction.deserialize(wire);
    expect(payment).toMatchObject({
      sponsored: true,
      wallet: me.toBase58(),
      source: tokenAccountOf(me).toBase58(),
      blockhash,
      messageHash: createHash('sha256').update(message.serialize()).digest('hex'),
    });
  });

  it('is completed by our signature in the first place, whose base58 is its id', async () => {
    const payment = await accepted(sponsored(parties, wallet));
    const transaction = VersionedTransaction.deserialize(payment.wire);
    transaction.sign([feePayer]);
    const signed = withFeePayerSignature(payment, transaction.signatures[0]!);
    expect(signed).toEqual(Buffer.from(transaction.serialize()));
    expect(PublicKey.default.toBase58()).not.toBe(transactionId(signed));
    expect((await accepted(signed)).messageHash).toBe(payment.messageHash);
  });

  it('may be a legacy message', async () => {
    await accepted(sponsored(parties, wallet, { version: 'legacy' }));
    await accepted(selfPaid(parties, wallet, { version: 'legacy' }));
  });

  it('may pay its own network fee, at any price', async () => {
    const wire = bySelf(limit(1_400_000), price(9_000_000), transfer(parties, me));
    expect(await accepted(wire)).toMatchObject({ sponsored: false, wallet: me.toBase58() });
  });

  it('may omit limit, price and memo', async () => {
    await accepted(bySponsor(transfer(parties, me)));
    await accepted(bySelf(transfer(parties, me)));
  });

  it('may be a plain Transfer if its sender pays for it', async () => {
    await accepted(bySelf(createTransferInstruction(tokenAccountOf(me), tokenAccountOf(parties.payTo), me, 990_000n)));
  });

  it('may create our token account if its sender pays for it', async () => {
    const create = createAssociatedTokenAccountIdempotentInstruction(
      me,
      tokenAccountOf(parties.payTo),
      parties.payTo,
      MINT,
    );
    await accepted(bySelf(create, transfer(parties, me)));
    expect(await reasonOf(bySponsor(create, transfer(parties, me)))).toBe(REJECTION.unknownInstruction);
  });

  it('may carry the guards of wallets, before and after', async () => {
    for (const discriminator of [2, 3, 4, 5, 6, 9, 10]) {
      await accepted(bySponsor(guard(discriminator, [tokenAccountOf(me)]), ...usual(), guard(discriminator, [me])));
    }
  });

  it('may move delegated tokens: the delegate who signed is the caller', async () => {
    const lender = tokenAccountOf(other.publicKey);
    const payment = await accepted(bySponsor(transfer(parties, me, { source: lender })));
    expect(payment).toMatchObject({ wallet: me.toBase58(), source: lender.toBase58() });
  });

  it('carries the memo of its terms, if the client kept it', async () => {
    const wire = bySponsor(transfer(parties, me), memo('abc'));
    await accepted(wire, 'abc');
    expect(await reasonOf(wire, 'abd')).toBe(REJECTION.memoMismatch);
    expect(await reasonOf(bySponsor(transfer(parties, me)), 'abc')).toBe(REJECTION.memoCount);
  });
});

function changed(wire: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(wire);
  change(copy);
  return copy;
}

const nonceAdvance = SystemProgram.nonceAdvance({ noncePubkey: other.publicKey, authorizedPubkey: me });

describe('a transaction that breaks one rule is rejected for it', () => {
  const breaches = breachesBy({ parties, wallet, other, blockhash: randomBlockhash() });

  it.each(breaches)('$title', async ({ wire, reason }) => {
    expect(await reasonOf(wire)).toBe(reason);
  });

  it('covers every reason', () => {
    const covered = new Set<string>(breaches.map(({ reason }) => reason));
    covered.add(REJECTION.memoMismatch);
    expect([...covered].sort()).toEqual(Object.values(REJECTION).sort());
  });

  it('empty bytes are not a transaction', async () => {
    expect(await reasonOf(Buffer.alloc(0))).toBe(REJECTION.couldNotBeDecoded);
  });

  it('a transaction is rejected if a key would let one signature fit every message', async () => {
    const identity = new PublicKey(Buffer.from('01'.padEnd(64, '0'), 'hex'));
    const wire = build({ instructions: [transfer(parties, identity)], payer: parties.feePayer, signers: [] });
    // R = B (the base point), S = 1: valid under the identity for any message.
    Buffer.from('58'.padEnd(64, '6'), 'hex').copy(wire, 65);
    Buffer.from('01'.padEnd(64, '0'), 'hex').copy(wire, 97);
    const key = createPublicKey({
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), identity.toBuffer()]),
      format: 'der',
      type: 'spki',
    });
    const { message } = VersionedTransaction.deserialize(wire);
    expect(edVerify(null, message.serialize(), key, wire.subarray(65, 129)), 'OpenSSL takes it').toBe(true);
    expect(await reasonOf(wire)).toBe(REJECTION.signatureInvalid);
  });
});

/** What moves, and for whom: two transactions with the same effect are the same payment. */
const effectOf = ({ messageHash, sponsored, wallet, source }: VerifiedTransaction) => ({
  messageHash,
  sponsored,
  wallet,
  source,
});

describe('any change to a valid payment', () => {
  const originals = [
    sponsored(parties, wallet),
    sponsored(parties, wallet, { version: 'legacy' }),
    selfPaid(parties, wallet),
    build({
      instructions: [guard(2, [me]), ...usual(), guard(9, [tokenAccountOf(me)])],
      payer: parties.feePayer,
      signers: [wallet],
    }),
  ];
  const original = fc.constantFrom(...originals);

  const refusedOrTheSame = async (before: Buffer, after: Buffer) => {
    const verdict = await verify(after);
    if (verdict.ok) expect(effectOf(verdict.transaction)).toEqual(effectOf(await accepted(before)));
    else expect(Object.values(REJECTION)).toContain(verdict.reason);
  };

  it('a flipped bit is rejected, or leaves the same payment', async () => {
    for (const wire of originals.slice(0, 3)) {
      for (let bit = 0; bit < wire.length * 8; bit++) {
        await refusedOrTheSame(
          wire,
          changed(wire, (bytes) => bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)),
        );
      }
    }
  });

  it('inserted, removed and overwritten bytes are rejected, or leave the same payment', async () => {
    const edit = fc.record({
      at: fc.nat(1_000),
      remove: fc.nat(40),
      insert: fc.uint8Array({ maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(original, fc.array(edit, { minLength: 1, maxLength: 4 }), async (wire, edits) => {
        const after = edits.reduce((bytes, { at, remove, insert }) => {
          const start = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)]);
        }, wire);
        await refusedOrTheSame(wire, after);
      }),
      { numRuns: 2_000 },
    );
  });

  it('any bytes give a verdict', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1_300 }), async (bytes) => {
        expect((await verify(Buffer.from(bytes))).ok).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it('an instruction that is added, omitted, doubled or moved is only accepted if it moves the same money', async () => {
    const pool: readonly TransactionInstruction[] = [
      limit(),
      limit(100_001),
      price(),
      price(60_000_000),
      transfer(parties, me),
      transfer(parties, me, { amount: 1n }),
      transfer(parties, me, { destination: tokenAccountOf(other.publicKey) }),
      memo('a'),
      guard(2, [me]),
      guard(0, [me]),
      nonceAdvance,
      createApproveInstruction(tokenAccountOf(me), other.publicKey, me, 5n),
      SystemProgram.transfer({ fromPubkey: me, toPubkey: other.publicKey, lamports: 5 }),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...pool), { maxLength: 7 }),
        fc.boolean(),
        async (instructions, ours) => {
          let wire: Buffer;
          try {
            wire = ours ? bySponsor(...instructions) : bySelf(...instructions);
          } catch {
            return; // web3.js does not sign for a wallet that has no part in it
          }
          if (!(await verify(wire)).ok) return;
          const allowed = new Set<TransactionInstruction>([
            pool[0],
            pool[2],
            pool[4],
            pool[7],
            pool[8],
          ] as TransactionInstruction[]);
          if (!ours) for (const cheap of [pool[1], pool[3]]) allowed.add(cheap!);
          expect(instructions.every((instruction) => allowed.has(instruction))).toBe(true);
          expect(instructions.filter((instruction) => instruction === pool[4])).toHaveLength(1);
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it('another valid signature of the same message is the same payment', async () => {
    const wire = sponsored(parties, wallet);
    const garbage = changed(wire, (bytes) => bytes.fill(7, 1, 65));
    expect((await accepted(garbage)).messageHash).toBe((await accepted(wire)).messageHash);
  });
});
