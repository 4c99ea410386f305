/** Payments that each break exactly one rule, with the reason for which they must be rejected. */
import {
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferInstruction,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  type Keypair,
  type PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { REJECTION, type RejectionReason } from '../../src/solana/verify-transaction.ts';
import {
  type Build,
  build,
  guard,
  limit,
  MINT,
  memo,
  type Parties,
  price,
  tokenAccountOf,
  transfer,
} from './payment-transactions.ts';

/**
 * `either`: the rule applies regardless of who pays the network's fee; `sponsored`, `alone`: only if we do, only if the
 * caller does.
 */
type Payer = 'either' | 'sponsored' | 'alone';

export interface Breach {
  readonly title: string;
  readonly reason: RejectionReason;
  readonly wire: Buffer;
}

export interface Offender {
  readonly parties: Parties;
  readonly wallet: Keypair;
  /** A party unrelated to the payment. */
  readonly other: Keypair;
  readonly blockhash: string;
}

/** Everything that would be a valid payment of this wallet but for one error. */
export function breachesBy({ parties, wallet, other, blockhash }: Offender): readonly Breach[] {
  const me = wallet.publicKey;
  const usual = (...extra: readonly TransactionInstruction[]) => [
    limit(),
    price(),
    transfer(parties, me),
    memo(),
    ...extra,
  ];
  const from =
    (payer: PublicKey) =>
    (instructions: readonly TransactionInstruction[], over: Partial<Build> = {}): Buffer =>
      build({ instructions, payer, signers: [wallet], blockhash, ...over });
  const bySponsor = from(parties.feePayer);
  const bySelf = from(me);
  const nonceAdvance = SystemProgram.nonceAdvance({ noncePubkey: other.publicKey, authorizedPubkey: me });
  const pay = (change?: Parameters<typeof transfer>[2]) => transfer(parties, me, change);
  const plain = () => createTransferInstruction(tokenAccountOf(me), tokenAccountOf(parties.payTo), me, 990_000n);
  /** Makes the wallet a signer if the transfer does not. */
  const signed = { ...guard(3), keys: [{ pubkey: me, isSigner: true, isWritable: false }] } as TransactionInstruction;
  const signing = (pubkey: PublicKey) => [{ pubkey, isSigner: true, isWritable: false }];
  const tableOf = (payer: PublicKey): Buffer => {
    const table = new AddressLookupTableAccount({
      key: other.publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [tokenAccountOf(parties.payTo)],
      },
    });
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions: usual() });
    const transaction = new VersionedTransaction(message.compileToV0Message([table]));
    transaction.sign([wallet]);
    return Buffer.from(transaction.serialize());
  };
  /** Where a message begins: after the signature count and the signatures. */
  const messageOf = (wire: Buffer) => 1 + 64 * wire.readUInt8(0);

  const rows: readonly (readonly [string, RejectionReason, Payer, (by: typeof bySponsor) => Buffer])[] = [
    ['trailing bytes', REJECTION.couldNotBeDecoded, 'either', (by) => Buffer.concat([by(usual()), Buffer.alloc(1)])],
    ['cut short', REJECTION.couldNotBeDecoded, 'either', (by) => by(usual()).subarray(0, -1)],
    ['longer than a packet', REJECTION.couldNotBeDecoded, 'either', () => Buffer.alloc(1_233, 1)],
    [
      'a length not in its shortest form',
      REJECTION.couldNotBeDecoded,
      'either',
      (by) => {
        const wire = by(usual());
        return Buffer.concat([Buffer.from([0x80 | wire.readUInt8(0), 0x00]), wire.subarray(1)]);
      },
    ],
    [
      'an account twice',
      REJECTION.couldNotBeDecoded,
      'either',
      // After version and header: the count of accounts, then the accounts.
      (by) =>
        changed(by(usual()), (wire) =>
          wire.copy(wire, messageOf(wire) + 5 + 32 * 3, messageOf(wire) + 5, messageOf(wire) + 37),
        ),
    ],
    [
      'a later version',
      REJECTION.unsupportedVersion,
      'either',
      (by) => changed(by(usual()), (wire) => wire.writeUInt8(0x81, messageOf(wire))),
    ],
    ['lookup tables where we pay', REJECTION.lookupTables, 'sponsored', () => tableOf(parties.feePayer)],
    ['lookup tables where the caller pays', REJECTION.lookupTables, 'alone', () => tableOf(me)],
    ['a durable nonce', REJECTION.durableNonce, 'either', (by) => by([nonceAdvance, pay()])],
    ['a durable nonce at the end', REJECTION.durableNonce, 'either', (by) => by(usual(nonceAdvance))],
    [
      'another party as fee payer',
      REJECTION.feePayerMismatch,
      'alone',
      (by) => by(usual(), { payer: other.publicKey, signers: [other, wallet] }),
    ],
    [
      'a third signer',
      REJECTION.excessiveSigners,
      'sponsored',
      (by) => by(usual(memo('x', signing(other.publicKey))), { signers: [wallet, other] }),
    ],
    [
      'a second signer where one pays for itself',
      REJECTION.feePayerMismatch,
      'alone',
      (by) => by(usual(memo('x', signing(other.publicKey))), { signers: [wallet, other] }),
    ],
    [
      'the fee payer as the only signer',
      REJECTION.missingSigner,
      'sponsored',
      (by) => by([transfer(parties, parties.feePayer)], { signers: [] }),
    ],
    ['no signature', REJECTION.signatureMissing, 'either', (by) => by(usual(), { signers: [] })],
    [
      'a forged signature',
      REJECTION.signatureInvalid,
      'either',
      (by) =>
        changed(by(usual()), (wire) => wire.writeUInt8(wire.readUInt8(messageOf(wire) - 60) ^ 1, messageOf(wire) - 60)),
    ],
    [
      "another transaction's signature",
      REJECTION.signatureInvalid,
      'either',
      (by) => {
        const foreign = by(usual());
        return changed(by(usual()), (wire) =>
          foreign.copy(wire, messageOf(wire) - 64, messageOf(wire) - 64, messageOf(wire)),
        );
      },
    ],
    [
      'an authority that did not sign',
      REJECTION.authorityNotSigner,
      'either',
      (by) => {
        const instruction = pay({ authority: other.publicKey });
        for (const key of instruction.keys) key.isSigner = false;
        return by([instruction, guard(2), memo('x'), signed]);
      },
    ],
    [
      'a multisig authority',
      REJECTION.multisig,
      'either',
      (by) => by([pay({ authority: other.publicKey, multisig: [me] })]),
    ],
    ['two compute limits', REJECTION.computeLimitRepeated, 'either', (by) => by([limit(), ...usual()])],
    ['two compute prices', REJECTION.computePriceRepeated, 'either', (by) => by([price(), ...usual()])],
    ['too many compute units', REJECTION.computeLimitTooHigh, 'sponsored', (by) => by([limit(100_001), pay()])],
    [
      'too high a priority fee',
      REJECTION.computePriceTooHigh,
      'sponsored',
      (by) => by([limit(100_000), price(50_001), pay()]),
    ],
    [
      'too high a priority fee by the default limit',
      REJECTION.computePriceTooHigh,
      'sponsored',
      (by) => by([price(12_501), pay()]),
    ],
    ['no transfer', REJECTION.noTransfer, 'either', (by) => by([memo('x', []), guard(2, [me]), signed])],
    ['two transfers', REJECTION.severalTransfers, 'either', (by) => by(usual(pay()))],
    ['a plain Transfer that we should pay for', REJECTION.uncheckedTransfer, 'sponsored', (by) => by([plain()])],
    ['a plain Transfer in addition to the other', REJECTION.severalTransfers, 'alone', (by) => by(usual(plain()))],
    ['Token-2022', REJECTION.token2022, 'either', (by) => by([pay({ program: TOKEN_2022_PROGRAM_ID })])],
    ['two memos', REJECTION.memoCount, 'either', (by) => by(usual(memo()))],
    [
      'a memo signed by our fee payer',
      REJECTION.memoAccounts,
      'sponsored',
      (by) => by([pay(), memo('x', signing(parties.feePayer))]),
    ],
    ['a memo signed by the wallet', REJECTION.memoAccounts, 'either', (by) => by([pay(), memo('x', signing(me))])],
    ['a memo of 257 bytes', REJECTION.memoTooLong, 'either', (by) => by([pay(), memo('x'.repeat(257))])],
    ['a Lighthouse write', REJECTION.guardWrites, 'either', (by) => by(usual(guard(0, [me])))],
    ['a Lighthouse close', REJECTION.guardWrites, 'either', (by) => by(usual(guard(1, [me])))],
    ['a Lighthouse call into another program', REJECTION.guardKind, 'either', (by) => by(usual(guard(16, [me])))],
    ['a Lighthouse guard on the clock', REJECTION.guardKind, 'either', (by) => by(usual(guard(15)))],
    ['a Lighthouse instruction that is not known', REJECTION.guardKind, 'either', (by) => by(usual(guard(18, [me])))],
    ['a Lighthouse guard without an account', REJECTION.guardAccounts, 'either', (by) => by(usual(guard(5)))],
    [
      'a Lighthouse guard on the clock by its address',
      REJECTION.guardAccounts,
      'either',
      (by) => by(usual(guard(2, [SYSVAR_CLOCK_PUBKEY]))),
    ],
    [
      'a Lighthouse guard on another wallet in addition to the own one',
      REJECTION.guardAccounts,
      'either',
      (by) => by(usual(guard(4, [me, other.publicKey]))),
    ],
    [
      'more Lighthouse guards than four',
      REJECTION.guardCount,
      'either',
      (by) => by([...Array.from({ length: 5 }, () => guard(5, [me])), ...usual()]),
    ],
    [
      'a Lighthouse guard on our fee payer',
      REJECTION.feePayerInvolved,
      'either',
      (by) => by(usual(guard(5, [parties.feePayer]))),
    ],
    [
      'a token account for another party',
      REJECTION.createNotOurs,
      'alone',
      (by) =>
        by([
          createAssociatedTokenAccountIdempotentInstruction(me, tokenAccountOf(other.publicKey), other.publicKey, MINT),
          pay(),
        ]),
    ],
    [
      'a token account of ours at our cost',
      REJECTION.unknownInstruction,
      'sponsored',
      (by) =>
        by([
          createAssociatedTokenAccountIdempotentInstruction(me, tokenAccountOf(parties.payTo), parties.payTo, MINT),
          pay(),
        ]),
    ],
    [
      'an extra Approve',
      REJECTION.unknownInstruction,
      'either',
      (by) => by(usual(createApproveInstruction(tokenAccountOf(me), other.publicKey, me, 1n))),
    ],
    [
      'a transfer of SOL',
      REJECTION.unknownInstruction,
      'either',
      (by) => by(usual(SystemProgram.transfer({ fromPubkey: me, toPubkey: other.publicKey, lamports: 1 }))),
    ],
    [
      'creation of an account',
      REJECTION.unknownInstruction,
      'either',
      (by) => by(usual(SystemProgram.allocate({ accountPubkey: me, space: 1 }))),
    ],
    [
      'a heap request',
      REJECTION.unknownInstruction,
      'either',
      (by) => by(usual(ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 }))),
    ],
    ['another mint', REJECTION.mintMismatch, 'either', (by) => by([pay({ mint: other.publicKey })])],
    ['other decimals', REJECTION.decimalsMismatch, 'either', (by) => by([pay({ decimals: 9 })])],
    ['one unit too few', REJECTION.amountMismatch, 'either', (by) => by([pay({ amount: 989_999n })])],
    ['one unit too many', REJECTION.amountMismatch, 'either', (by) => by([pay({ amount: 990_001n })])],
    [
      'another recipient',
      REJECTION.recipientMismatch,
      'either',
      (by) => by([pay({ destination: tokenAccountOf(other.publicKey) })]),
    ],
    [
      "the recipient's wallet instead of its token account",
      REJECTION.recipientMismatch,
      'either',
      (by) => by([pay({ destination: parties.payTo })]),
    ],
    [
      'our own account as the source',
      REJECTION.sourceIsRecipient,
      'either',
      (by) => by([pay({ source: tokenAccountOf(parties.payTo) })]),
    ],
    [
      'our fee payer as the authority',
      REJECTION.feePayerTransfers,
      'sponsored',
      (by) => by([transfer(parties, parties.feePayer), memo('x'), signed]),
    ],
    [
      'our fee payer as the source',
      REJECTION.feePayerInvolved,
      'either',
      (by) => by([pay({ source: parties.feePayer })]),
    ],
  ];

  return rows.flatMap(([title, reason, payer, wire]) => [
    ...(payer === 'alone' ? [] : [{ title, reason, wire: wire(bySponsor) }]),
    ...(payer === 'sponsored' ? [] : [{ title: `${title}, at the caller’s own cost`, reason, wire: wire(bySelf) }]),
  ]);
}

function changed(wire: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(wire);
  change(copy);
  return copy;
}
