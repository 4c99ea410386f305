/**
 * The payment checks that need only its bytes and our terms (docs/design/payments.md#static-checks). Pure, total on any
 * bytes, and the same for every dialect.
 */
import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { PaymentRejection } from '../events/payment-rejections.ts';
import { USDC_DECIMALS } from './addresses.ts';
import { isTokenProgram, type PaymentInstruction, readInstruction } from './verify-transaction-instructions.ts';
import { isSignedBy } from './verify-transaction-signature.ts';
import { decodeTransaction, SIGNATURE_BYTES, type WireTransaction } from './verify-transaction-wire.ts';

/** What a payment must do, as keys (32 bytes each) and base units. Never read from what a client sends back. */
export interface TransferTerms {
  /** Pays the network fee of a sponsored payment, and must have no other role in it. */
  readonly feePayer: Buffer;
  readonly mint: Buffer;
  /** Owner of `destination`. */
  readonly payTo: Buffer;
  /** The associated token account of `payTo` for `mint`. */
  readonly destination: Buffer;
  readonly amount: bigint;
}

export const MAX_MEMO_BYTES = 256;
/** Maximum guards in one payment. Wallets add one or two. */
const MAX_GUARDS = 4;
/** Limits of what a sponsored payment may cost us beyond the fee for its signatures. */
const MAX_SPONSORED_UNITS = 100_000;
const MAX_PRIORITY_LAMPORTS = 5_000n;
/** Compute units of an instruction if a transaction sets no limit, and the maximum of a transaction. */
export const DEFAULT_UNITS_PER_INSTRUCTION = 200_000;
export const MOST_UNITS = 1_400_000;
const MICRO = 1_000_000n;

const UNREADABLE = 'invalid_exact_svm_payload_transaction_could_not_be_decoded';

/** Why a transaction is not a valid payment: x402's own code if there is one, otherwise ours. */
export const REJECTION = {
  couldNotBeDecoded: UNREADABLE,
  unsupportedVersion: 'unsupported_transaction_version',
  lookupTables: 'address_lookup_tables_not_allowed',
  durableNonce: 'durable_nonce_not_allowed',
  feePayerMismatch: 'invalid_exact_svm_fee_payer_mismatch',
  excessiveSigners: 'invalid_exact_svm_payload_excessive_signers',
  missingSigner: 'sponsored_payment_needs_two_signers',
  signatureMissing: 'signature_missing',
  signatureInvalid: 'invalid_exact_svm_payload_signature_invalid',
  authorityNotSigner: 'transfer_authority_is_not_a_signer',
  multisig: 'multisig_authority_not_supported',
  computeLimitRepeated: 'compute_limit_repeated',
  computePriceRepeated: 'compute_price_repeated',
  computeLimitTooHigh: 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high',
  computePriceTooHigh: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
  noTransfer: 'invalid_exact_svm_payload_no_transfer_instruction',
  severalTransfers: 'more_than_one_transfer',
  uncheckedTransfer: 'sponsored_payment_needs_transfer_checked',
  token2022: 'token_2022_not_supported',
  memoCount: 'invalid_exact_svm_payload_memo_count',
  memoMismatch: 'invalid_exact_svm_payload_memo_mismatch',
  memoAccounts: 'memo_must_have_no_accounts',
  memoTooLong: 'memo_too_long',
  guardWrites: 'lighthouse_write_not_allowed',
  guardKind: 'lighthouse_guard_not_allowed',
  guardAccounts: 'lighthouse_guard_on_other_account',
  guardCount: 'too_many_lighthouse_guards',
  createNotOurs: 'created_token_account_is_not_the_recipient',
  unknownInstruction: 'invalid_exact_svm_payload_unknown_optional_instruction',
  mintMismatch: 'invalid_exact_svm_payload_mint_mismatch',
  decimalsMismatch: 'decimals_mismatch',
  amountMismatch: 'invalid_exact_svm_payload_amount_mismatch',
  recipientMismatch: 'invalid_exact_svm_payload_recipient_mismatch',
  sourceIsRecipient: 'source_is_the_recipient',
  feePayerTransfers: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
  feePayerInvolved: 'fee_payer_in_instruction_accounts',
} as const satisfies Readonly<Record<string, PaymentRejection | typeof UNREADABLE>>;

export type RejectionReason = (typeof REJECTION)[keyof typeof REJECTION];

/** A transaction that pays what the terms require, if the chain accepts it. */
export interface VerifiedTransaction {
  /** SHA-256 of the message, hex: the key by which a payment is claimed. */
  readonly messageHash: string;
  /** Whether our fee payer pays the network fee, and has yet to sign. */
  readonly sponsored: boolean;
  /** Base58 address of the transfer's authority: the caller. */
  readonly wallet: string;
  /** Base58 address of the token account that is debited. */
  readonly source: string;
  /** Whether others than the wallet can make one of its guards fail. */
  readonly othersCanBreak: boolean;
  readonly blockhash: string;
  /** Null if there is none, or it is not UTF-8. */
  readonly memo: string | null;
  readonly message: Buffer;
  /** As presented; {@link withFeePayerSignature} completes a sponsored one. */
  readonly wire: Buffer;
}

export type TransactionVerdict =
  | { readonly ok: true; readonly transaction: VerifiedTransaction }
  | { readonly ok: false; readonly reason: RejectionReason };

const refused = (reason: RejectionReason): TransactionVerdict => ({ ok: false, reason });

const FAULT_REASONS = {
  could_not_be_decoded: REJECTION.couldNotBeDecoded,
  unsupported_version: REJECTION.unsupportedVersion,
  address_lookup_tables: REJECTION.lookupTables,
} as const;

/**
 * Verifies one transaction, using nothing but its bytes. The signature comes last and runs on another thread, since it
 * costs more than all other checks together.
 * @param memo the memo in the client's copy of the terms, if any; the transaction must then carry it too
 */
export async function verifyTransaction(
  wire: Buffer,
  terms: TransferTerms,
  memo: string | null,
): Promise<TransactionVerdict> {
  const transaction = decodeTransaction(wire);
  if ('fault' in transaction) return refused(FAULT_REASONS[transaction.fault]);
  const [payer] = transaction.accounts;
  if (!payer) return refused(REJECTION.couldNotBeDecoded);
  const sponsored = payer.equals(terms.feePayer);

  const instructions = transaction.instructions.map(readInstruction);
  if (instructions.some(({ kind }) => kind === 'advance-nonce')) return refused(REJECTION.durableNonce);
  if (transaction.requiredSignatures > 2) return refused(REJECTION.excessiveSigners);
  if (!sponsored && transaction.requiredSignatures > 1) return refused(REJECTION.feePayerMismatch);
  if (sponsored && transaction.requiredSignatures < 2) return refused(REJECTION.missingSigner);

  const parts = takeApart(instructions, sponsored, terms);
  if (typeof parts === 'string') return refused(parts);
  const { transfer } = parts;
  const fault =
    computeFault(parts, sponsored, instructions.length) ??
    memoFault(parts.memo, memo) ??
    transferFault(transfer, transaction, terms, sponsored) ??
    feePayerFault(transaction, terms.feePayer) ??
    guardFault(parts) ??
    (await signatureFault(transaction, transfer.authority, sponsored));
  if (fault) return refused(fault);

  return {
    ok: true,
    transaction: {
      messageHash: createHash('sha256').update(transaction.message).digest('hex'),
      sponsored,
      wallet: bs58.encode(transfer.authority),
      source: bs58.encode(transfer.source),
      othersCanBreak: parts.guards.some(({ othersCanBreak }) => othersCanBreak),
      blockhash: bs58.encode(transaction.blockhash),
      memo: parts.memo && textOf(parts.memo.text),
      message: transaction.message,
      wire,
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

type Of<Kind> = Extract<PaymentInstruction, { readonly kind: Kind }>;

interface Parts {
  readonly transfer: Of<'transfer'>;
  readonly memo: Of<'memo'> | null;
  readonly limit: Of<'compute-limit'> | null;
  readonly price: Of<'compute-price'> | null;
  readonly guards: readonly Of<'guard'>[];
}

/** Check 4: the required instructions are present, and no others. */
function takeApart(
  instructions: readonly PaymentInstruction[],
  sponsored: boolean,
  terms: TransferTerms,
): Parts | RejectionReason {
  let transfer: Of<'transfer'> | null = null;
  let memo: Of<'memo'> | null = null;
  let limit: Of<'compute-limit'> | null = null;
  let price: Of<'compute-price'> | null = null;
  const guards: Of<'guard'>[] = [];
  for (const instruction of instructions) {
    switch (instruction.kind) {
      case 'guard':
        guards.push(instruction);
        break;
      case 'guard-write':
        return REJECTION.guardWrites;
      case 'guard-refused':
        return REJECTION.guardKind;
      case 'compute-limit':
        if (limit) return REJECTION.computeLimitRepeated;
        limit = instruction;
        break;
      case 'compute-price':
        if (price) return REJECTION.computePriceRepeated;
        price = instruction;
        break;
      case 'transfer':
        if (transfer) return REJECTION.severalTransfers;
        transfer = instruction;
        break;
      case 'memo':
        if (memo) return REJECTION.memoCount;
        memo = instruction;
        break;
      case 'create-token-account':
        if (sponsored) return REJECTION.unknownInstruction;
        if (!createsOurAccount(instruction, terms)) return REJECTION.createNotOurs;
        break;
      case 'token-2022':
        return REJECTION.token2022;
      case 'advance-nonce':
        return REJECTION.durableNonce;
      case 'unknown':
        return REJECTION.unknownInstruction;
    }
  }
  return transfer ? { transfer, memo, limit, price, guards } : REJECTION.noTransfer;
}

const createsOurAccount = (
  { account, owner, mint, tokenProgram }: Of<'create-token-account'>,
  terms: TransferTerms,
): boolean =>
  account.equals(terms.destination) &&
  owner.equals(terms.payTo) &&
  mint.equals(terms.mint) &&
  isTokenProgram(tokenProgram);

/** Limits what a sponsored payment may cost us. A caller that pays its own fee may pay any amount. */
function computeFault({ limit, price }: Parts, sponsored: boolean, instructions: number): RejectionReason | null {
  if (!sponsored) return null;
  if (limit && limit.units > MAX_SPONSORED_UNITS) return REJECTION.computeLimitTooHigh;
  const units = limit?.units ?? Math.min(MOST_UNITS, DEFAULT_UNITS_PER_INSTRUCTION * instructions);
  const microLamports = (price?.microLamports ?? 0n) * BigInt(units);
  return microLamports > MAX_PRIORITY_LAMPORTS * MICRO ? REJECTION.computePriceTooHigh : null;
}

function memoFault(memo: Of<'memo'> | null, expected: string | null): RejectionReason | null {
  if (memo && memo.accounts > 0) return REJECTION.memoAccounts;
  if (memo && memo.text.length > MAX_MEMO_BYTES) return REJECTION.memoTooLong;
  if (expected === null) return null;
  if (!memo) return REJECTION.memoCount;
  return memo.text.equals(Buffer.from(expected, 'utf8')) ? null : REJECTION.memoMismatch;
}

/**
 * Check 5. The source may be any account but ours. The token program decides whether the authority owns it or is its
 * delegate; in both cases the authority's signature moves the money.
 */
function transferFault(
  transfer: Of<'transfer'>,
  { accounts, requiredSignatures }: WireTransaction,
  terms: TransferTerms,
  sponsored: boolean,
): RejectionReason | null {
  if (transfer.extraAccounts > 0) return REJECTION.multisig;
  if (transfer.authority.equals(terms.feePayer)) return REJECTION.feePayerTransfers;
  if (sponsored && !transfer.checked) return REJECTION.uncheckedTransfer;
  if (transfer.checked && !transfer.checked.mint.equals(terms.mint)) return REJECTION.mintMismatch;
  if (transfer.checked && transfer.checked.decimals !== USDC_DECIMALS) return REJECTION.decimalsMismatch;
  if (!transfer.destination.equals(terms.destination)) return REJECTION.recipientMismatch;
  if (transfer.source.equals(terms.destination)) return REJECTION.sourceIsRecipient;
  if (transfer.amount !== terms.amount) return REJECTION.amountMismatch;
  const signer = accounts.findIndex((account) => account.equals(transfer.authority));
  if (signer >= requiredSignatures) return REJECTION.authorityNotSigner;
  // If the payment is not sponsored, the fee payer must be the one who pays us.
  return !sponsored && signer !== 0 ? REJECTION.feePayerMismatch : null;
}

/** Check 6: our fee payer signs for the fee and for nothing else. */
const feePayerFault = ({ instructions }: WireTransaction, feePayer: Buffer): RejectionReason | null =>
  instructions.some(({ accounts }) => accounts.some((account) => account.equals(feePayer)))
    ? REJECTION.feePayerInvolved
    : null;

/**
 * A guard may name only the paying wallet and the paying token account. Others could make a guard on their own account
 * fail on purpose, and each sponsored payment that fails on chain costs us its fee.
 */
function guardFault({ guards, transfer: { authority, source } }: Parts): RejectionReason | null {
  if (guards.length > MAX_GUARDS) return REJECTION.guardCount;
  const isOwn = (account: Buffer) => account.equals(authority) || account.equals(source);
  const areOwn = guards.every(({ accounts }) => accounts.length > 0 && accounts.every(isOwn));
  return areOwn ? null : REJECTION.guardAccounts;
}

/** Check 3. The signers are our fee payer, if it pays, and the authority, so there is one signature to verify. */
async function signatureFault(
  { signatures, message }: WireTransaction,
  authority: Buffer,
  sponsored: boolean,
): Promise<RejectionReason | null> {
  const signature = signatures[sponsored ? 1 : 0];
  if (!signature || signature.every((byte) => byte === 0)) return REJECTION.signatureMissing;
  return (await isSignedBy(authority, message, signature)) ? null : REJECTION.signatureInvalid;
}

/** The transaction with our signature in the fee payer's slot. */
export function withFeePayerSignature({ wire }: VerifiedTransaction, signature: Uint8Array): Buffer {
  const signed = Buffer.from(wire);
  // One byte counts the signatures, since there are fewer than 128 of them; the fee payer's is the first.
  signed.set(signature.subarray(0, SIGNATURE_BYTES), 1);
  return signed;
}

/** Id of a fully signed transaction: its first signature, base58. */
export const transactionId = (wire: Buffer): string => bs58.encode(wire.subarray(1, 1 + SIGNATURE_BYTES));
