import { createHash, createPublicKey, verify as edVerify } from 'node:crypto';
import {
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferInstruction,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  REJECTION,
  type RejectionReason,
  transactionId,
  type VerifiedTransaction,
  verifyTransaction,
  withFeePayerSignature,
} from '../../src/solana/verify-transaction.ts';
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

function accepted(wire: Buffer, expectedMemo: string | null = null): VerifiedTransaction {
  const verdict = verify(wire, expectedMemo);
  if (!verdict.ok) throw new Error(`refused: ${verdict.reason}`);
  return verdict.transaction;
}

const reasonOf = (wire: Buffer, expectedMemo: string | null = null) => {
  const verdict = verify(wire, expectedMemo);
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

describe('a payment that keeps the rules', () => {
  it('is known by the hash of its message and by the wallet that signed it', () => {
    const blockhash = randomBlockhash();
    const wire = sponsored(parties, wallet, { blockhash });
    const payment = accepted(wire);
    const { message } = VersionedTransaction.deserialize(wire);
    expect(payment).toMatchObject({
      sponsored: true,
      wallet: me.toBase58(),
      source: tokenAccountOf(me).toBase58(),
      blockhash,
      messageHash: createHash('sha256').update(message.serialize()).digest('hex'),
    });
  });

  it('is completed by our signature in the first place, whose base58 is its id', () => {
    const payment = accepted(sponsored(parties, wallet));
    const transaction = VersionedTransaction.deserialize(payment.wire);
    transaction.sign([feePayer]);
    const signed = withFeePayerSignature(payment, transaction.signatures[0]!);
    expect(signed).toEqual(Buffer.from(transaction.serialize()));
    expect(PublicKey.default.toBase58()).not.toBe(transactionId(signed));
    expect(accepted(signed).messageHash).toBe(payment.messageHash);
  });

  it('may be a legacy message', () => {
    accepted(sponsored(parties, wallet, { version: 'legacy' }));
    accepted(selfPaid(parties, wallet, { version: 'legacy' }));
  });

  it('may pay its own network fee, at any price', () => {
    const wire = bySelf(limit(1_400_000), price(9_000_000), transfer(parties, me));
    expect(accepted(wire)).toMatchObject({ sponsored: false, wallet: me.toBase58() });
  });

  it('may do without limit, price and memo', () => {
    accepted(bySponsor(transfer(parties, me)));
    accepted(bySelf(transfer(parties, me)));
  });

  it('may be a plain Transfer where its sender pays for it', () => {
    accepted(bySelf(createTransferInstruction(tokenAccountOf(me), tokenAccountOf(parties.payTo), me, 990_000n)));
  });

  it('may make sure of our token account where its sender pays for it', () => {
    const create = createAssociatedTokenAccountIdempotentInstruction(
      me,
      tokenAccountOf(parties.payTo),
      parties.payTo,
      MINT,
    );
    accepted(bySelf(create, transfer(parties, me)));
    expect(reasonOf(bySponsor(create, transfer(parties, me)))).toBe(REJECTION.unknownInstruction);
  });

  it('may carry the guards of wallets, before and after', () => {
    for (let discriminator = 2; discriminator <= 15; discriminator++) {
      accepted(bySponsor(guard(discriminator, [tokenAccountOf(me)]), ...usual(), guard(discriminator, [me])));
    }
  });

  it('may move what was lent to the caller: the delegate who signed is the caller', () => {
    const lender = tokenAccountOf(other.publicKey);
    const payment = accepted(bySponsor(transfer(parties, me, { source: lender })));
    expect(payment).toMatchObject({ wallet: me.toBase58(), source: lender.toBase58() });
  });

  it('carries the memo that its terms had, if the client kept them', () => {
    const wire = bySponsor(transfer(parties, me), memo('abc'));
    accepted(wire, 'abc');
    expect(reasonOf(wire, 'abd')).toBe(REJECTION.memoMismatch);
    expect(reasonOf(bySponsor(transfer(parties, me)), 'abc')).toBe(REJECTION.memoCount);
  });
});

const nonceAdvance = SystemProgram.nonceAdvance({ noncePubkey: other.publicKey, authorizedPubkey: me });
const lookupTable = new AddressLookupTableAccount({
  key: other.publicKey,
  state: {
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses: [tokenAccountOf(parties.payTo)],
  },
});

function withLookupTable(): Buffer {
  const message = new TransactionMessage({
    payerKey: parties.feePayer,
    recentBlockhash: randomBlockhash(),
    instructions: usual(),
  }).compileToV0Message([lookupTable]);
  const transaction = new VersionedTransaction(message);
  transaction.sign([wallet]);
  return Buffer.from(transaction.serialize());
}

function changed(wire: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(wire);
  change(copy);
  return copy;
}

describe('a transaction that breaks one rule is refused for it', () => {
  const rows: readonly (readonly [string, RejectionReason, () => Buffer])[] = [
    ['no bytes', REJECTION.couldNotBeDecoded, () => Buffer.alloc(0)],
    ['trailing bytes', REJECTION.couldNotBeDecoded, () => Buffer.concat([sponsored(parties, wallet), Buffer.alloc(1)])],
    ['cut short', REJECTION.couldNotBeDecoded, () => sponsored(parties, wallet).subarray(0, -1)],
    ['longer than a packet', REJECTION.couldNotBeDecoded, () => Buffer.alloc(1_233, 1)],
    [
      'a length not in its shortest form',
      REJECTION.couldNotBeDecoded,
      () => {
        const wire = sponsored(parties, wallet);
        return Buffer.concat([Buffer.from([0x82, 0x00]), wire.subarray(1)]);
      },
    ],
    [
      'an account twice',
      REJECTION.couldNotBeDecoded,
      () => {
        // Behind count, two signatures, version and header: the count of accounts, then the accounts.
        const wire = sponsored(parties, wallet);
        const first = 1 + 128 + 1 + 3 + 1;
        return changed(wire, (bytes) => bytes.copy(bytes, first + 32 * 3, first, first + 32));
      },
    ],
    [
      'a later version',
      REJECTION.unsupportedVersion,
      () => changed(sponsored(parties, wallet), (bytes) => bytes.writeUInt8(0x81, 129)),
    ],
    ['lookup tables', REJECTION.lookupTables, withLookupTable],
    ['a durable nonce', REJECTION.durableNonce, () => bySelf(nonceAdvance, transfer(parties, me))],
    ['a durable nonce at the end', REJECTION.durableNonce, () => bySponsor(...usual(), nonceAdvance)],
    [
      'somebody else as fee payer',
      REJECTION.feePayerMismatch,
      () => build({ instructions: usual(), payer: other.publicKey, signers: [other, wallet] }),
    ],
    [
      'a third signer',
      REJECTION.excessiveSigners,
      () =>
        build({
          instructions: [...usual(), memo('x', [{ pubkey: other.publicKey, isSigner: true, isWritable: false }])],
          payer: parties.feePayer,
          signers: [wallet, other],
        }),
    ],
    [
      'the fee payer as the only signer',
      REJECTION.missingSigner,
      () =>
        build({
          instructions: [transfer(parties, parties.feePayer)],
          payer: parties.feePayer,
          signers: [],
        }),
    ],
    ['no signature', REJECTION.signatureMissing, () => sponsored(parties, wallet, { signers: [] })],
    ['no signature of its own', REJECTION.signatureMissing, () => selfPaid(parties, wallet, { signers: [] })],
    [
      'a forged signature',
      REJECTION.signatureInvalid,
      () => changed(sponsored(parties, wallet), (bytes) => bytes.writeUInt8(bytes.readUInt8(70) ^ 1, 70)),
    ],
    [
      "another transaction's signature",
      REJECTION.signatureInvalid,
      () => {
        const foreign = sponsored(parties, wallet);
        return changed(sponsored(parties, wallet), (bytes) => foreign.copy(bytes, 65, 65, 129));
      },
    ],
    [
      'an authority that did not sign',
      REJECTION.authorityNotSigner,
      () => {
        const instruction = transfer(parties, me, { authority: other.publicKey });
        for (const key of instruction.keys) key.isSigner = false;
        return bySponsor(instruction, guard(2), memo('x'), {
          ...guard(3),
          keys: [{ pubkey: me, isSigner: true, isWritable: false }],
        } as TransactionInstruction);
      },
    ],
    [
      'a multisig authority',
      REJECTION.multisig,
      () => bySponsor(transfer(parties, me, { authority: other.publicKey, multisig: [me] })),
    ],
    ['two compute limits', REJECTION.computeLimitRepeated, () => bySponsor(limit(), ...usual())],
    ['two compute prices', REJECTION.computePriceRepeated, () => bySponsor(price(), ...usual())],
    ['too many compute units', REJECTION.computeLimitTooHigh, () => bySponsor(limit(100_001), transfer(parties, me))],
    [
      'too high a priority fee',
      REJECTION.computePriceTooHigh,
      () => bySponsor(limit(100_000), price(50_001), transfer(parties, me)),
    ],
    [
      'too high a priority fee by the default limit',
      REJECTION.computePriceTooHigh,
      () => bySponsor(price(12_501), transfer(parties, me)),
    ],
    [
      'no transfer',
      REJECTION.noTransfer,
      () =>
        bySponsor(memo('x', []), guard(2, [me]), {
          ...guard(3),
          keys: [{ pubkey: me, isSigner: true, isWritable: false }],
        } as TransactionInstruction),
    ],
    ['two transfers', REJECTION.severalTransfers, () => bySponsor(...usual(transfer(parties, me)))],
    [
      'a plain Transfer that we should pay for',
      REJECTION.uncheckedTransfer,
      () => bySponsor(createTransferInstruction(tokenAccountOf(me), tokenAccountOf(parties.payTo), me, 990_000n)),
    ],
    ['Token-2022', REJECTION.token2022, () => bySponsor(transfer(parties, me, { program: TOKEN_2022_PROGRAM_ID }))],
    ['two memos', REJECTION.memoCount, () => bySponsor(...usual(memo()))],
    [
      'a memo signed by our fee payer',
      REJECTION.memoAccounts,
      () =>
        bySponsor(transfer(parties, me), memo('x', [{ pubkey: parties.feePayer, isSigner: true, isWritable: false }])),
    ],
    ['a memo of 257 bytes', REJECTION.memoTooLong, () => bySponsor(transfer(parties, me), memo('x'.repeat(257)))],
    ['a Lighthouse write', REJECTION.guardWrites, () => bySponsor(...usual(guard(0, [me])))],
    ['a Lighthouse close', REJECTION.guardWrites, () => bySponsor(...usual(guard(1, [me])))],
    ['a Lighthouse call into another program', REJECTION.unknownInstruction, () => bySponsor(...usual(guard(16)))],
    [
      'a Lighthouse guard on our fee payer',
      REJECTION.feePayerInvolved,
      () => bySponsor(...usual(guard(5, [parties.feePayer]))),
    ],
    [
      'a token account for somebody else',
      REJECTION.createNotOurs,
      () =>
        bySelf(
          createAssociatedTokenAccountIdempotentInstruction(me, tokenAccountOf(other.publicKey), other.publicKey, MINT),
          transfer(parties, me),
        ),
    ],
    [
      'an extra Approve',
      REJECTION.unknownInstruction,
      () => bySponsor(...usual(createApproveInstruction(tokenAccountOf(me), other.publicKey, me, 1n))),
    ],
    [
      'a transfer of SOL',
      REJECTION.unknownInstruction,
      () => bySponsor(...usual(SystemProgram.transfer({ fromPubkey: me, toPubkey: other.publicKey, lamports: 1 }))),
    ],
    [
      'a heap request',
      REJECTION.unknownInstruction,
      () => bySponsor(...usual(ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 }))),
    ],
    ['another mint', REJECTION.mintMismatch, () => bySponsor(transfer(parties, me, { mint: other.publicKey }))],
    ['other decimals', REJECTION.decimalsMismatch, () => bySponsor(transfer(parties, me, { decimals: 9 }))],
    ['one unit too few', REJECTION.amountMismatch, () => bySponsor(transfer(parties, me, { amount: 989_999n }))],
    ['one unit too many', REJECTION.amountMismatch, () => bySponsor(transfer(parties, me, { amount: 990_001n }))],
    [
      'another recipient',
      REJECTION.recipientMismatch,
      () => bySponsor(transfer(parties, me, { destination: tokenAccountOf(other.publicKey) })),
    ],
    [
      "the recipient's wallet instead of its token account",
      REJECTION.recipientMismatch,
      () => bySponsor(transfer(parties, me, { destination: parties.payTo })),
    ],
    [
      'our own account as the source',
      REJECTION.sourceIsRecipient,
      () => bySponsor(transfer(parties, me, { source: tokenAccountOf(parties.payTo) })),
    ],
    [
      'our fee payer as the authority',
      REJECTION.feePayerTransfers,
      () =>
        bySponsor(transfer(parties, parties.feePayer), memo('x'), {
          ...guard(3),
          keys: [{ pubkey: me, isSigner: true, isWritable: false }],
        } as TransactionInstruction),
    ],
    [
      'our fee payer as the source',
      REJECTION.feePayerInvolved,
      () => bySponsor(transfer(parties, me, { source: parties.feePayer })),
    ],
  ];

  it.each(rows)('%s', (_title, reason, wire) => {
    expect(reasonOf(wire())).toBe(reason);
  });

  it('has a row for every reason', () => {
    const covered = new Set<string>(rows.map(([, reason]) => reason));
    covered.add(REJECTION.memoMismatch);
    expect([...covered].sort()).toEqual(Object.values(REJECTION).sort());
  });

  it('is refused where a key would let one signature fit every message', () => {
    const identity = new PublicKey(Buffer.from('01'.padEnd(64, '0'), 'hex'));
    const wire = build({ instructions: [transfer(parties, identity)], payer: parties.feePayer, signers: [] });
    // R = B (the base point), S = 1: holds under the identity whatever is signed.
    Buffer.from('58'.padEnd(64, '6'), 'hex').copy(wire, 65);
    Buffer.from('01'.padEnd(64, '0'), 'hex').copy(wire, 97);
    const key = createPublicKey({
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), identity.toBuffer()]),
      format: 'der',
      type: 'spki',
    });
    const { message } = VersionedTransaction.deserialize(wire);
    expect(edVerify(null, message.serialize(), key, wire.subarray(65, 129)), 'OpenSSL takes it').toBe(true);
    expect(reasonOf(wire)).toBe(REJECTION.signatureInvalid);
  });
});

/** What moves, and for whom: two transactions with the same effect are the same payment. */
const effectOf = ({ messageHash, sponsored, wallet, source }: VerifiedTransaction) => ({
  messageHash,
  sponsored,
  wallet,
  source,
});

describe('whatever is done to a valid payment', () => {
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

  const refusedOrTheSame = (before: Buffer, after: Buffer) => {
    const verdict = verify(after);
    if (verdict.ok) expect(effectOf(verdict.transaction)).toEqual(effectOf(accepted(before)));
    else expect(Object.values(REJECTION)).toContain(verdict.reason);
  };

  it('flipping any single bit refuses it, or leaves the same payment', () => {
    for (const wire of originals.slice(0, 3)) {
      for (let bit = 0; bit < wire.length * 8; bit++) {
        refusedOrTheSame(
          wire,
          changed(wire, (bytes) => bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)),
        );
      }
    }
  });

  it('inserting, removing and overwriting bytes refuses it, or leaves the same payment', () => {
    const edit = fc.record({
      at: fc.nat(1_000),
      remove: fc.nat(40),
      insert: fc.uint8Array({ maxLength: 40 }),
    });
    fc.assert(
      fc.property(original, fc.array(edit, { minLength: 1, maxLength: 4 }), (wire, edits) => {
        const after = edits.reduce((bytes, { at, remove, insert }) => {
          const start = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)]);
        }, wire);
        refusedOrTheSame(wire, after);
      }),
      { numRuns: 2_000 },
    );
  });

  it('any bytes at all give a verdict', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_300 }), (bytes) => {
        expect(verify(Buffer.from(bytes)).ok).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it('an instruction that is added, left out, doubled or moved is only accepted if it moves the same money', () => {
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
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pool), { maxLength: 7 }), fc.boolean(), (instructions, ours) => {
        let wire: Buffer;
        try {
          wire = ours ? bySponsor(...instructions) : bySelf(...instructions);
        } catch {
          return; // web3.js refuses to sign for a wallet that has no part in it
        }
        if (!verify(wire).ok) return;
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
      }),
      { numRuns: 1_500 },
    );
  });

  it('another valid signature of the same message is the same payment', () => {
    const wire = sponsored(parties, wallet);
    const garbage = changed(wire, (bytes) => bytes.fill(7, 1, 65));
    expect(accepted(garbage).messageHash).toBe(accepted(wire).messageHash);
  });
});
